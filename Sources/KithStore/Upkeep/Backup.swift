import KithSystem

/// Copies of a database as single files.
package enum Backup {
    /// Writes a copy of the database as it is at one moment, while others read and write it. It has the documents with
    /// their tombstones, the sequences and timelines, and no free space; whole and on disk when this returns.
    ///
    /// It is one reading, as long as the copying takes: the write-ahead log is not emptied meanwhile.
    /// - Parameters:
    ///   - path: where it goes; a file that is there is replaced. Mode 0600.
    ///   - name: what errors call it; nil for its path.
    ///   - isCancelled: asked now and then; true ends it and leaves no file.
    /// - Throws: `StoreError`: `storage_full`, `damaged`, `cancelled` and what the disk gives. No file is left then.
    package static func write(
        _ file: DatabaseFile, to path: String, called name: String? = nil, isCancelled: @escaping () -> Bool = { false }
    ) throws(StoreError) {
        guard file.fileSystem.size(of: file.path) > 0 else { throw file.notThere }
        do throws(StoreError) {
            guard file.fileSystem.makePrivate(path) else {
                let short = StoreError.shortened(name ?? path, to: Limits.pathCharacters)
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
            try file.fileSystem.requireDurable(file: path)
        } catch {
            file.fileSystem.discard(path)
            file.fileSystem.discard(path + "-journal")
            throw error.isInterruption ? .cancelled(file.name.string) : error
        }
    }

    /// The same in the place of a file that may be there, which stays as it is until the copy is whole and on disk.
    /// - Parameter number: names the copy while it is made, beside where it goes; no two at a time may be equal.
    /// - Throws: as `write`; `StoreError` `invalid` for the file of a database that is in use.
    package static func replace(
        _ path: String, with file: DatabaseFile, number: UInt64, isCancelled: @escaping () -> Bool = { false }
    ) throws(StoreError) {
        // SQLite would go on with that file's log and pages over the copy.
        guard !file.fileSystem.exists(path + "-wal") else {
            let short = StoreError.shortened(path, to: Limits.pathCharacters)
            throw StoreError(.invalid, path, "\(short) has a log beside it: it is a database, so name another file")
        }
        let part = "\(path).part-\(number)"
        try write(file, to: part, called: path, isCancelled: isCancelled)
        do throws(StoreError) { try file.fileSystem.requireRenamed(part, to: path) } catch {
            file.fileSystem.discard(part)
            let short = StoreError.shortened(path, to: Limits.pathCharacters)
            throw StoreError(error.code, path, "can't make \(short): is it a directory, or closed to this user?")
        }
        try file.fileSystem.requireDurable(directory: directory(of: path))
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Looks whether a file is a whole database of Kith's: that its pages and rows hang together.
    /// - Parameter name: what errors call the file; nil for its path.
    /// - Returns: where the copy stands.
    /// - Throws: `StoreError`: `foreign_file`, `newer_file`, `damaged`, with that name.
    package static func check(
        _ path: String, called name: String? = nil, on fileSystem: any FileSystem = LocalFileSystem()
    ) throws(StoreError) -> StoreSummary {
        let name = name ?? path
        let short = StoreError.shortened(name, to: Limits.pathCharacters)
        do throws(StoreError) {
            let connection = try Connection(path: path, subject: short, access: .read, on: fileSystem)
            guard try !DatabaseFile.check(connection, path: name) else {
                throw StoreError(.damaged, name, "\(short) is empty: it is no copy of a database")
            }
            if let fault = try Self.fault(connection) {
                throw StoreError(.damaged, name, "\(short) is damaged: \(fault); take another copy")
            }
            return try StoreState.read(connection).summary
        } catch {
            throw error.of(copy: name)
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
    static func prepare(_ file: DatabaseFile) -> String {
        FileReplacement.discardPart(of: file)
        return FileReplacement.part(of: file)
    }

    /// The same place, open for what somebody sends.
    /// - Throws: `StoreError` with what the disk gives, here and at each write, and the directory's name.
    package static func receive(_ file: DatabaseFile) throws(StoreError) -> OutputFile {
        try OutputFile(prepare(file), called: "the copy in \(file.shortDirectory)", on: file.fileSystem)
    }

    /// Removes what was written.
    package static func discard(_ file: DatabaseFile) { FileReplacement.discardPart(of: file) }

    /// Makes the copy that was written ready: looks whether it is whole, and begins a new timeline in it, with a sequence
    /// of its own. So checkpoints are believed as far as the copy goes and no further, and no stamp is written a second
    /// time in the name of a writer that the copy knows.
    /// - Throws: as `Backup.check`. What was written has no name that people know: it is `the copy`.
    package static func ready(_ file: DatabaseFile, environment: StoreEnvironment) throws(StoreError) -> StoreSummary {
        let part = FileReplacement.part(of: file)
        _ = try Backup.check(part, called: name, on: file.fileSystem)
        do throws(StoreError) { return try begin(part, file, environment) } catch { throw error.of(copy: name) }
    }

    /// What errors call the file that was written: it is not the name that people gave.
    private static let name = "the copy"

    private static func begin(
        _ part: String, _ file: DatabaseFile, _ environment: StoreEnvironment
    ) throws(StoreError) -> StoreSummary {
        let connection = try Connection(path: part, subject: file.name.string, access: .write, on: file.fileSystem)
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
        // What the clock of another machine, or of another time, has said is nothing to drop documents by.
        try Setting.write(.expiry, nil, connection)
        try connection.run("COMMIT")
        return state.summary
    }

    /// Puts the file that is ready in its place. The database must be closed.
    /// - Parameter moment: the old file is called `replaced-` and this from then on, behind its name and a dot. Of those kept
    ///   before none stays.
    /// - Returns: where the old file is; nil where there was none.
    /// - Throws: `StoreError` `locked` while somebody has it open, and what the disk gives. There is the old database or
    ///   the new one then.
    package static func install(
        _ file: DatabaseFile, at moment: String
    ) throws(StoreError) -> String? {
        let lock = try FileLock(file)
        return try install(file, lock, at: moment)
    }

    /// Makes a database of a copy, where there is none of that name: nobody opens it, or makes another, meanwhile.
    /// - Parameter write: writes the copy.
    /// - Throws: `StoreError`: `conflict` where there is one; as `ready` and `install`. There is none then.
    package static func make(
        _ file: DatabaseFile, at moment: String, environment: StoreEnvironment,
        _ write: (OutputFile) throws(StoreError) -> Void
    ) throws(StoreError) -> StoreSummary {
        let lock = try FileLock(file)
        guard !file.fileSystem.exists(file.path) else {
            throw StoreError(
                .conflict, file.name.string,
                "there is a database \(file.name) already: delete it first, or choose a name")
        }
        defer { discard(file) }
        try write(try receive(file))
        let summary = try ready(file, environment: environment)
        _ = try install(file, lock, at: moment)
        return summary
    }

    private static func install(
        _ file: DatabaseFile, _ lock: FileLock, at moment: String
    ) throws(StoreError) -> String? {
        let kept = try FileReplacement.commit(file, lock, keeping: "\(KeptFile.Reason.replaced.rawValue)-\(moment)")
        // It is done: an old file that can't be removed is only in the way.
        if kept != nil { _ = try? KeptFile.trim(file, .replaced, newest: kept) }
        return kept
    }
}

extension StoreError {
    /// What SQLite says of a file that was to be a copy, in words for who gave it.
    fileprivate func of(copy name: String) -> StoreError {
        let short = Self.shortened(name, to: Limits.subjectCharacters)
        switch code {
        case .foreignFile: return StoreError(code, name, "\(short) is a SQLite file of another program, and no copy")
        case .damaged where sqliteCode != 0:
            return StoreError(
                code, name, "\(short) is no database, or damaged (SQLite \(sqliteCode)): take another copy",
                sqliteCode: sqliteCode)
        default: return self
        }
    }
}
