import Glibc
import KithDocument
import KithStore

/// Checks, repairs, copies and restores in the directory of a node that does not run: also of one that can't start. The
/// directory's lock is held meanwhile, so that no node starts in between.
package final class OfflineUpkeep {
    private let databases: String
    private let lock: DirectoryLock
    private let damage: DamageBook
    private let sink: UpkeepSink

    /// - Throws: `NodeError`: there is no such directory; a running node has it (`directory_in_use`).
    package init(_ directory: NodeDirectory, _ sink: UpkeepSink) throws(NodeError) {
        databases = directory.path + "/databases"
        guard access(directory.path, F_OK) == 0 else {
            throw NodeError(
                code: "not_found",
                message: "there is no directory \(Shown.path(directory.path)); name the node's with --data DIR")
        }
        lock = try DirectoryLock(directory: directory.path)
        damage = try DamageBook(nodeDirectory: directory.path)
        try DirectoryLock.makeDirectory(databases)
        self.sink = sink
    }

    /// The databases there, ascending by name.
    package func names() throws(NodeError) -> [String] {
        try asNode { () throws(StoreError) in try Store.names(in: databases).map(\.string) }
    }

    /// Checks a database; the last event is `checked`.
    package func verify(_ name: String) throws(NodeError) {
        let file = try here(name)
        let summary = try asNode { () throws(StoreError) in
            try Store.withLock(file) { () throws(StoreError) in try Upkeep.verify(file, damage, sink) }
        }
        sink.emit(.checked(database: name, summary))
    }

    /// Makes a new file of what is sound; what is left out comes from peers once the node runs. The last event is
    /// `repaired`.
    package func repair(_ name: String) throws(NodeError) {
        let file = try here(name)
        var repaired = UpkeepEvent.Repaired(database: name)
        let check = try asNode { () throws(StoreError) in
            try Store.withLock(file) { () throws(StoreError) in try Upkeep.verify(file, damage, sink) }
        }
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

    /// Gives back the space that is no longer used. The last event is `compacted`.
    package func compact(_ name: String) throws(NodeError) {
        let file = try here(name)
        let before = file.sizes
        try asNode { () throws(StoreError) in
            let store = try Store(file, environment: Upkeep.environment, options: StoreOptions(creates: false))
            while try store.write({ transaction throws(StoreError) in try transaction.maintain() }) {}
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
    package func backup(_ name: String, to path: String) throws(NodeError) {
        let file = try here(name)
        try asNode { () throws(StoreError) in
            try Store.withLock(file) { () throws(StoreError) in
                try Backup.write(file, to: path, isCancelled: sink.isCancelled)
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
        let output = try asNode { () throws(StoreError) in try OutputFile(Restoring.prepare(file)) }
        while let part = try next() { try asNode { () throws(StoreError) in try output.write(part) } }
        return try asNode { () throws(StoreError) in
            let summary = try Restoring.ready(file, environment: Upkeep.environment)
            let kept = try Restoring.install(file, keepingOldAs: "replaced-\(Upkeep.moment)")
            damage.note(file.name, nil)
            return ControlRestored(
                database: name, documents: summary.documents, sequence: summary.position.sequence, kept: kept)
        }
    }

    /// Looks whether a file is a whole copy of a database; with what it holds.
    package static func check(_ path: String) throws(NodeError) -> (documents: UInt64, sequence: UInt64) {
        do throws(StoreError) {
            let summary = try Backup.check(path)
            return (summary.documents, summary.position.sequence)
        } catch { throw NodeError(code: error.code.rawValue, message: error.message) }
    }

    private func file(_ name: String) throws(NodeError) -> DatabaseFile {
        try asNode { () throws(StoreError) in DatabaseFile(try DatabaseName(name), in: databases) }
    }

    private func here(_ name: String) throws(NodeError) -> DatabaseFile {
        let file = try file(name)
        guard file.sizes.file > 0 else {
            throw NodeError(
                code: "not_found", message: "there is no database \(Shown.name(name)) in \(Shown.path(databases))")
        }
        return file
    }

    private func asNode<Value>(_ body: () throws(StoreError) -> Value) throws(NodeError) -> Value {
        do throws(StoreError) { return try body() } catch {
            throw NodeError(code: error.code.rawValue, message: error.message)
        }
    }
}
