import KithSystem

/// Keeps the write-ahead log of an open database small, and says beside the file what the log holds.
///
/// The log is copied into the file when it has grown to `Limits.walPages`; the next write then begins it anew, unless a
/// reader still reads in it. So it ends up larger only while readers are at work without a pause, and above
/// `Limits.walBytes` the writer waits a moment for them.
final class LogKeeper {
    private let lock: FileLock
    private let claims: Bool
    private let content: (any OpenFile)?
    /// Above so many pages the log is cut to nothing, waiting for readers.
    private var truncateAt = LogKeeper.mostPages
    private var claim = LogClaim.none
    private(set) var failure: StoreError?

    private static let mostPages = Limits.walBytes / 4096

    /// - Parameter claims: whether commits are synchronised, so that something can be said of the log.
    init(_ file: DatabaseFile, _ lock: FileLock, claims: Bool) {
        self.lock = lock
        self.claims = claims
        // SQLite takes no locks on the log itself, so having it open, and closing it, is nothing to it.
        content = try? file.fileSystem.open(file.logPath, .read)
    }

    /// A commit has returned. Never fails: it is durable whatever becomes of the log.
    func committed(_ connection: Connection) {
        say(connection.logFrames)
        guard connection.logFrames >= Limits.walPages else {
            truncateAt = Self.mostPages
            return
        }
        do throws(StoreError) {
            if connection.logFrames >= truncateAt {
                let isDone = try cut(connection, waitingMilliseconds: Limits.logWaitMilliseconds)
                truncateAt = isDone ? Self.mostPages : connection.logFrames + Limits.logRetryPages
            } else {
                try connection.copyLog()
            }
            failure = nil
        } catch {
            failure = error
        }
    }

    /// Empties the log into the file, as far as no reader is in the way.
    func truncate(_ connection: Connection) throws(StoreError) {
        _ = try cut(connection, waitingMilliseconds: Limits.busyMilliseconds)
    }

    /// The database is about to be closed: says that it was closed, if the log is empty. Otherwise the log stays, as
    /// what was said of it does.
    func closing(_ connection: Connection) {
        // That the log was cut must be durable before it is said: a power cut may bring its pages back, and beside a
        // database that was closed they would be taken for another file's.
        guard !connection.isBroken, (try? cut(connection, waitingMilliseconds: Limits.busyMilliseconds)) == true,
            (try? content?.synchronize()) != nil
        else { return connection.setCheckpointOnClose(false) }
        lock.write(claims ? .closed : .none)
        _ = lock.synchronize()
    }

    /// - Returns: whether the log is empty.
    private func cut(_ connection: Connection, waitingMilliseconds: Int32) throws(StoreError) -> Bool {
        guard try connection.restartLog(waitingMilliseconds: waitingMilliseconds) else { return false }
        // Before it is cut: an emptied log must not be missed.
        if claim != .empty, claims {
            lock.write(.empty)
            guard lock.synchronize() else { return false }
            claim = .empty
        }
        return try connection.truncateLog(waitingMilliseconds: waitingMilliseconds)
    }

    private func say(_ pages: Int) {
        guard claims, pages > 0, let content, let salts = LogContent.salts(of: content) else { return }
        let now = LogClaim.log(salts: salts, pages: pages)
        guard now != claim else { return }
        claim = now
        lock.write(now)
    }
}

/// The file and the log that were opened, so that another one in their place is noticed: what is written to a file that
/// has no name any more is lost when it is closed.
package struct FilePlace: Sendable {
    private let file: DatabaseFile
    private let opened: FileIdentity?
    private let openedLog: FileIdentity?

    init(_ file: DatabaseFile) {
        self.file = file
        opened = file.fileSystem.identity(of: file.path)
        openedLog = file.fileSystem.identity(of: file.logPath)
    }

    /// - Throws: `StoreError` `file_moved`.
    package func requireSame() throws(StoreError) {
        try require(opened, at: file.path, "")
        try require(openedLog, at: file.logPath, "the log of ")
    }

    private func require(_ opened: FileIdentity?, at path: String, _ what: String) throws(StoreError) {
        let now = file.fileSystem.identity(of: path)
        guard let opened, now != opened else { return }
        let happened = now == nil ? "is gone" : "is another file now"
        throw StoreError(
            .moved, file.path,
            "\(what)\(file.shortPath) \(happened), under the node that has it open; nothing is written any more: see "
                + "kith help database-moved")
    }
}
