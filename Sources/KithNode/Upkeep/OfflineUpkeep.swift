import KithDocument
import KithStore
import KithSystem
import KithTransport

/// Checks, repairs, copies, restores and queries in the directory of a node that does not run: also of one that can't start. The
/// directory's lock is held meanwhile, so that no node starts in between.
package final class OfflineUpkeep {
    private let databases: String
    private let files: any FileSystem
    private let carried: DatabaseNames
    private let lock: DirectoryLock
    private let damage: DamageBook
    let sink: UpkeepSink

    /// - Throws: `NodeError`: there is no such directory, or no node's; a running node has it (`directory_in_use`).
    package init(
        _ directory: NodeDirectory, _ sink: UpkeepSink, on files: any FileSystem = LocalFileSystem()
    ) throws(NodeError) {
        databases = directory.path + "/databases"
        self.files = files
        guard files.exists(directory.path) else {
            throw NodeError(
                code: "not_found",
                message: "there is no directory \(Shown.path(directory.path)); name the node's with --data DIR")
        }
        // Databases without an identity would be taken for a node that has lost it.
        guard IdentityStore(directory: directory.path, on: files).state() != .absent else {
            throw NodeError(
                code: "identity",
                message: "\(Shown.name(directory.path)) holds no node: name the right directory with --data DIR; a new "
                    + "machine is made a node first, with kith init or kith join, and gets its copies then")
        }
        lock = try DirectoryLock(directory: directory.path, on: files)
        damage = try DamageBook(nodeDirectory: directory.path, on: files)
        carried = try DatabaseNames(.carried, in: directory.path, on: files)
        try DirectoryLock.makeDirectory(databases, on: files)
        self.sink = sink
    }

    /// The databases there and those that should be, ascending by name.
    package func names() throws(NodeError) -> [String] {
        let there = try asNode { () throws(StoreError) in try Store.names(in: databases, on: files) }
        return Set(there + carried.all).sorted().map(\.string)
    }

    /// Checks a database; the last event is `checked`.
    package func verify(_ name: String) throws(NodeError) {
        let summary = try check(try here(name))
        sink.emit(.checked(database: name, summary))
    }

    /// Makes a new file of what is sound; what is left out comes from peers once the node runs. The last event is
    /// `repaired`.
    package func repair(_ name: String) throws(NodeError) {
        let file = try here(name)
        var repaired = UpkeepEvent.Repaired(database: name)
        let check = try check(file)
        repaired.documents = check.documents
        repaired.wasDamaged = check.findings > 0
        if repaired.wasDamaged {
            let report = try asNode { () throws(StoreError) in try Upkeep.salvage(file, sink) }
            damage.note(file.name, nil)
            for note in report.notes { sink.emit(.note(note)) }
            for document in report.damaged { sink.emit(.leftOut(document, isLost: false)) }
            repaired.documents = report.documents
            repaired.damaged = report.damaged.count
            repaired.waiting = report.damaged.count
            repaired.unnamed = report.unnamed
            repaired.kept = report.keptPath
        }
        sink.emit(.repaired(repaired))
    }

    private func check(_ file: DatabaseFile) throws(NodeError) -> Verification.Summary {
        try asNode { () throws(StoreError) in
            let refusal = Store.refusal(of: file)
            return try Store.withLock(file) { () throws(StoreError) in
                try Upkeep.verify(file, refusal: refusal, damage, sink)
            }
        }
    }

    /// Gives back the space that is no longer used. The last event is `compacted`.
    package func compact(_ name: String) throws(NodeError) {
        let file = try here(name)
        let before = file.sizes
        try asNode { () throws(StoreError) in
            let store = try Store(file, environment: Upkeep.environment, options: StoreOptions(creates: false))
            while try store.write({ transaction throws(StoreError) in try transaction.maintain(dropsExpired: false) }) {
            }
            try store.truncateLog()
        }
        try asNode { () throws(StoreError) in
            defer { Compaction.discard(file) }
            try Compaction.write(file, isCancelled: sink.isCancelled)
            try Compaction.install(file)
        }
        let after = file.sizes
        sink.emit(.compacted(database: name, before: before.file + before.log, after: after.file + after.log))
    }

    /// Writes a copy of the database to a file that is not there yet, whole and on disk when this returns.
    /// - Parameter shown: what errors call the file.
    package func backup(_ name: String, to path: String, called shown: String) throws(NodeError) {
        let file = try here(name)
        try asNode { () throws(StoreError) in
            try Store.withLock(file) { () throws(StoreError) in
                try Backup.write(file, to: path, called: shown, isCancelled: sink.isCancelled)
            }
        }
    }

    /// Whether a database of that name is here.
    package func isHere(_ name: String) throws(NodeError) -> Bool { try file(name).sizes.file > 0 }

    /// Puts a copy in the place of the database, or where none is.
    /// - Parameter next: the parts of the copy one after the other, nil at the end.
    package func restore(
        _ name: String, from next: () throws(NodeError) -> [UInt8]?
    ) throws(NodeError) -> ControlRestored {
        let file = try file(name)
        defer { Restoring.discard(file) }
        let output = try asNode { () throws(StoreError) in try Restoring.receive(file) }
        while let part = try next() { try asNode { () throws(StoreError) in try output.write(part) } }
        return try asNode { () throws(StoreError) in
            let summary = try Restoring.ready(file, environment: Upkeep.environment)
            let kept = try Restoring.install(file, at: Upkeep.moment)
            damage.note(file.name, nil)
            return ControlRestored(
                database: name, documents: summary.documents, sequence: summary.position.sequence, kept: kept)
        }
    }

    /// Looks whether a file is a whole copy of a database; with what it holds.
    /// - Parameter shown: what errors call the file.
    package static func check(
        _ path: String, called shown: String
    ) throws(NodeError) -> (documents: UInt64, sequence: UInt64) {
        do throws(StoreError) {
            let summary = try Backup.check(path, called: shown)
            return (summary.documents, summary.position.sequence)
        } catch { throw NodeError(code: error.code.rawValue, message: error.message) }
    }

    private func file(_ name: String) throws(NodeError) -> DatabaseFile {
        try asNode { () throws(StoreError) in DatabaseFile(try DatabaseName(name), in: databases, on: files) }
    }

    func here(_ name: String) throws(NodeError) -> DatabaseFile {
        let file = try file(name)
        if file.sizes.file > 0 { return file }
        // A file that is empty or gone is told as a node tells it.
        if let refusal = Store.refusal(of: file), refusal.code != .notFound {
            throw NodeError(code: refusal.code.rawValue, message: refusal.message)
        }
        guard !carried.contains(file.name) else {
            throw NodeError(code: file.missing.code.rawValue, message: file.missing.message)
        }
        throw NodeError(
            code: "not_found", message: "there is no database \(Shown.name(name)) in \(Shown.path(databases))")
    }

    func asNode<Value>(_ body: () throws(StoreError) -> Value) throws(NodeError) -> Value {
        do throws(StoreError) { return try body() } catch {
            throw NodeError(code: error.code.rawValue, message: error.message)
        }
    }
}
