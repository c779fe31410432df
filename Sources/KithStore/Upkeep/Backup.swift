/// Copies of a database as single files.
package enum Backup {
    /// Writes a copy of the database as it is at one moment, while others read and write it. It has the documents with
    /// their tombstones, the sequences and timelines, and no free space; whole and on disk when this returns.
    ///
    /// It is one reading, as long as the copying takes: the write-ahead log is not emptied meanwhile.
    /// - Parameters:
    ///   - path: where it goes; a file that is there is replaced. Mode 0600.
    ///   - isCancelled: asked now and then; true ends it and leaves no file.
    /// - Throws: `StoreError`: `storage_full`, `damaged`, `cancelled` and what the disk gives. No file is left then.
    package static func write(
        _ file: DatabaseFile, to path: String, isCancelled: @escaping () -> Bool = { false }
    ) throws(StoreError) {
        guard FileSystem.size(of: file.path) > 0 else {
            throw StoreError(
                .notFound, file.name.string, "there is no database \(file.shortName) in \(file.shortDirectory)")
        }
        do throws(StoreError) {
            guard FileSystem.makePrivate(path) else {
                let short = StoreError.shortened(path, to: Limits.pathCharacters)
                throw StoreError(.cannotOpen, path, "can't write \(short): look at its directory and its permissions")
            }
            // A reader's connection, so that closing it leaves the log to the writer; it writes to the copy alone.
            let connection = try file.openForReading()
            try connection.run("PRAGMA query_only=0")
            _ = try file.check(connection)
            connection.watch(isCancelled)
            if isCancelled() { throw StoreError.cancelled(file.name.string) }
            let copy = try connection.prepare("VACUUM INTO ?1")
            copy.bind(1, text: path)
            while try copy.step() {}
            try FileSystem.synchronize(file: path)
        } catch {
            _ = FileSystem.remove(path)
            _ = FileSystem.remove(path + "-journal")
            throw error.isInterruption ? .cancelled(file.name.string) : error
        }
    }

    /// Looks whether a file is a whole database of Kith's: that its pages and rows hang together. With `hashes` every
    /// revision too.
    /// - Returns: where the copy stands.
    /// - Throws: `StoreError`: `foreign_file`, `newer_file`, `damaged`, with the path.
    package static func check(_ path: String) throws(StoreError) -> StoreSummary {
        let short = StoreError.shortened(path, to: Limits.pathCharacters)
        do throws(StoreError) {
            let connection = try Connection(path: path, subject: short, access: .read)
            guard try !DatabaseFile.check(connection, path: path) else {
                throw StoreError(.damaged, path, "\(short) is empty: it is no copy of a database")
            }
            if let fault = try Self.fault(connection) {
                throw StoreError(.damaged, path, "\(short) is damaged: \(fault)")
            }
            return try StoreState.read(connection).summary
        } catch {
            guard error.code == .damaged, error.sqliteCode != 0 else { throw error }
            throw StoreError(
                .damaged, path, "\(short) is no database, or damaged (SQLite \(error.sqliteCode)): take another copy",
                sqliteCode: error.sqliteCode)
        }
    }

    /// What SQLite finds wrong; nil when nothing.
    static func fault(_ connection: Connection) throws(StoreError) -> String? {
        let row = try connection.prepare("PRAGMA quick_check(1)")
        guard try row.step() else { return nil }
        let text = row.string(0).split(separator: "\n").last.map(String.init) ?? "ok"
        return text == "ok" ? nil : text
    }
}

/// Puts a copy of a database in the place of the database, or where none is.
package enum Restoring {
    /// Where the copy has to be written before `install`, on the file system of the database; whatever is left there by
    /// others is removed.
    package static func prepare(_ file: DatabaseFile) -> String {
        FileReplacement.discardPart(of: file)
        return FileReplacement.part(of: file)
    }

    /// Removes what was written.
    package static func discard(_ file: DatabaseFile) { FileReplacement.discardPart(of: file) }

    /// Makes the copy that was written ready: looks whether it is whole, and begins a new timeline in it, with a sequence
    /// of its own. So checkpoints are believed as far as the copy goes and no further, and no stamp is written a second
    /// time in the name of a writer that the copy knows.
    /// - Throws: as `Backup.check`.
    package static func ready(_ file: DatabaseFile, environment: StoreEnvironment) throws(StoreError) -> StoreSummary {
        let part = FileReplacement.part(of: file)
        _ = try Backup.check(part)
        let connection = try Connection(path: part, subject: file.name.string, access: .write)
        try connection.run("PRAGMA journal_mode=DELETE; BEGIN IMMEDIATE")
        var state = try StoreState.read(connection)
        let end = try connection.statement(.endTimeline)
        end.bind(1, state.sequence)
        _ = try end.step()
        end.reset()
        state.sequence += 1
        var known = true
        while known {
            state.timeline = environment.random()
            let row = try connection.statement(.timelineById)
            row.bind(1, state.timeline)
            known = try row.step() || state.timeline == 0
            row.reset()
        }
        let begin = try connection.statement(.insertTimeline)
        begin.bind(1, state.sequence)
        begin.bind(2, state.timeline)
        _ = try begin.step()
        begin.reset()
        try state.write(connection)
        try connection.run("COMMIT")
        return state.summary
    }

    /// Puts the file that is ready in its place. The database must be closed.
    /// - Parameter ending: what the old file is called from then on, behind its name and a dot. Of those kept before with
    ///   the same first word (up to the first hyphen) none stays.
    /// - Returns: where the old file is; nil where there was none.
    /// - Throws: `StoreError` `locked` while somebody has it open, and what the disk gives. There is the old database or
    ///   the new one then.
    package static func install(
        _ file: DatabaseFile, keepingOldAs ending: String
    ) throws(StoreError) -> String? {
        let lock = try FileLock(file)
        defer { withExtendedLifetime(lock) {} }
        let kept = try FileReplacement.commit(file, lock, keeping: ending)
        let prefix = file.asideName(String(ending.prefix { $0 != "-" }) + "-")
        for name in try FileSystem.names(in: file.directory) where name.hasPrefix(prefix) {
            let path = file.directory + "/" + name
            if let kept, path == kept || path == kept + "-wal" { continue }
            _ = FileSystem.remove(path)
        }
        return kept
    }
}
