import CSQLite
import KithSystem

/// What an opening found amiss and went on from.
package struct OpeningFindings: Hashable, Sendable {
    /// The process that had the database open before did not close it.
    package let isUnclean: Bool
    /// Commits that were durable are missing: how that shows, in words that follow the name of the log.
    package let lostLog: String?
}

extension DatabaseFile {
    var notThere: StoreError {
        StoreError(.notFound, name.string, "there is no database \(shortName) in \(shortDirectory)")
    }

    /// Why a database can't be used that was here and of which there is no file.
    package var missing: StoreError {
        StoreError(
            .missing, path,
            "\(shortPath) is gone: put it back, restore a copy with kith restore, or give it up with kith db delete")
    }

    /// What is told of an error while opening: SQLite has several words for a file that makes no sense.
    func atOpening(_ error: StoreError) -> StoreError {
        guard error.code == .internalError else { return error }
        return StoreError(
            .damaged, path, "\(shortPath) is damaged (SQLite \(error.sqliteCode)): see kith help database-damaged",
            sqliteCode: error.sqliteCode)
    }

    /// What an opening does before SQLite has a look: finishes a replacement that was cut off, and refuses what SQLite
    /// would take for something else than it is.
    /// - Returns: whether the database was made, and what was found amiss and is no reason to refuse it.
    func examine(
        _ lock: FileLock, creates: Bool, databaseID: () -> UInt64
    ) throws(StoreError) -> (isNew: Bool, findings: OpeningFindings) {
        try FileReplacement.recover(self, lock)
        let isNew = try requireFile(creates: creates, databaseID: databaseID)
        return (isNew, try examineLog(lock.lastClaim, isNew: isNew))
    }

    /// Sees to it that there is a file, and makes it where there is none.
    /// - Returns: whether it was made.
    func requireFile(creates: Bool, databaseID: () -> UInt64) throws(StoreError) -> Bool {
        if fileSystem.exists(path) {
            guard fileSystem.size(of: path) > 0 else {
                throw StoreError(
                    .damaged, path,
                    "\(shortPath) is empty: put a copy back with kith restore, or give it up with kith db delete")
            }
            try requireWhole()
            return false
        }
        // SQLite would make an empty file and throw the log away.
        guard fileSystem.size(of: logPath) == 0 else {
            throw StoreError(
                .damaged, path,
                "\(shortPath) is gone and its log is there: put the file back, restore a copy with kith restore, or give it up "
                    + "with kith db delete")
        }
        guard creates else { throw notThere }
        fileSystem.discard(logPath)
        try create(databaseID: databaseID())
        return true
    }

    /// Refuses a file that does not end with a page: SQLite would read the rest of the last page as zeros. While there is a
    /// log a full disk may have left it so, and the page is in the log.
    func requireWhole() throws(StoreError) {
        guard fileSystem.size(of: logPath) == 0 else { return }
        let head = fileSystem.head(of: path, 18)
        // In the file's head; 1 stands for 65,536.
        let pageBytes = head.count < 18 ? 0 : Int(head[16]) << 8 | Int(head[17])
        let size = fileSystem.size(of: path)
        guard pageBytes >= 1, size >= 512, size % (pageBytes == 1 ? 65_536 : pageBytes) == 0 else {
            throw StoreError(
                .damaged, path, "\(shortPath) is cut short, or no database: see kith help database-damaged",
                sqliteCode: SQLITE_CORRUPT)
        }
    }

    /// Looks at the log before SQLite does, which takes whatever it finds.
    func examineLog(_ claim: LogClaim, isNew: Bool) throws(StoreError) -> OpeningFindings {
        if isNew { return OpeningFindings(isUnclean: false, lostLog: nil) }
        let enough: Int =
            switch claim {
            case .log(_, let pages): pages
            case .closed: 1
            case .none, .empty: 0
            }
        let isUnclean = fileSystem.exists(logPath) && claim != .closed
        switch claim.judge(LogContent.read(try? fileSystem.open(logPath, .read), enough: enough)) {
        case .fine: return OpeningFindings(isUnclean: isUnclean, lostLog: nil)
        case .lost(let how): return OpeningFindings(isUnclean: isUnclean, lostLog: how)
        case .foreign:
            throw StoreError(
                .damaged, logPath,
                "\(shortPath)-wal is not the log of that file: move it away; if both were put there together, remove "
                    + "\(shortName).lock instead")
        }
    }

    /// Writes the log that a process left behind once more, as it is read, and synchronises it.
    ///
    /// What can be read of it need not be on disk: after a synchronisation that failed Linux takes what it could not write for
    /// written. Commits of this process stand behind it, and a power cut would take them with it though they were
    /// synchronised.
    /// - Complexity: O(size of the log).
    func confirmLog() throws(StoreError) {
        try fileSystem.require("write", logPath) { () throws(SystemError) in
            let log = try fileSystem.open(logPath, .write)
            var offset = 0
            while true {
                let part = try log.read(Limits.filePartBytes, at: offset)
                if part.isEmpty { break }
                try log.write(part, at: offset)
                offset += part.count
            }
            try log.synchronize()
        }
    }

    /// Checks the whole file, after its log was lost: what had been copied of the log fits together, or does not.
    /// - Complexity: O(size of the file).
    func requireIntegrity(_ connection: Connection) throws(StoreError) {
        let answer = try connection.text("PRAGMA integrity_check(1)") ?? ""
        guard answer == "ok" else {
            throw StoreError(
                .damaged, path, "\(shortPath) is damaged, for its log was lost: see kith help database-damaged",
                sqliteCode: SQLITE_CORRUPT)
        }
    }
}
