import KithDocument
import KithNode
import KithStore
import KithSystem

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A database: documents by id, in one file.
///
///     let database = try Database("notes", in: folder)
///     try await database.save(Document(id: "hello", ["text": "hi"]))
///     let note = try await database.document("hello")
///
/// Any thread and any task may use it, and one object is enough for a program: a file is open once in a process. Writes
/// wait in line and share synchronisations of the disk; readings go on beside them. What is returned as written is on disk
/// (`DatabaseOptions.Durability`).
///
/// Every operation is there twice: asynchronous, and blocking for code that is not.
public final class Database: Sendable {
    let home: any DatabaseHome

    /// Opens a database, or makes it.
    /// - Parameters:
    ///   - name: `a` to `z` first, then `a` to `z`, digits and `_ $ ( ) + -`, up to 238 bytes: the same on all nodes.
    ///   - folder: a folder of its own for Kith, on a disk of this machine; made, for this user alone, where it is not there.
    ///     A node that is started in it later has the database too.
    ///   - options: when writes count as done, and what is told.
    /// - Throws: `KithError`: `inUse` where the database is open already, with the process that has it, or where a node runs
    ///   in the folder; `invalid` for a name that is none; `damaged`, `newerFile`, `storageFull`, `disk`.
    /// - Complexity: O(1), besides what a crash left to do. Blocks for it.
    public convenience init(
        _ name: String, in folder: URL, options: DatabaseOptions = DatabaseOptions()
    ) throws(KithError) {
        try self.init(name, in: DatabaseFolder(folder.path), options)
    }

    /// The same for a folder on another disk, as tests have it.
    package convenience init(
        _ name: String, in folder: DatabaseFolder, _ options: DatabaseOptions
    ) throws(KithError) {
        let database = try Self.store { () throws(StoreError) in
            try folder.open(try DatabaseName(name), options: options.store)
        }
        options.log?.log.follow(database)
        do throws(NodeError) {
            self.init(DatabaseAlone(database, damage: try folder.damageBook()))
        } catch {
            database.close()
            throw KithError(error, of: folder.path)
        }
    }

    init(_ home: any DatabaseHome) { self.home = home }

    /// The name that it was opened by.
    public var name: String { home.name.string }

    /// Finishes what is under way and lets the file go; what is asked afterwards fails with `closed`. Blocks. A database of a
    /// node is closed with the node, and this does nothing to it. A database that nobody has any more is closed by itself.
    public func close() { home.close() }

    /// Where the database stands after the last commit.
    /// - Throws: `KithError`: `closed`, and why the database can't be used.
    public func summary() throws(KithError) -> DatabaseSummary { DatabaseSummary(try home.executor()) }

    static func store<Value>(_ body: () throws(StoreError) -> Value) throws(KithError) -> Value {
        do throws(StoreError) { return try body() } catch { throw KithError(error) }
    }
}

/// Where a database stands.
public struct DatabaseSummary: Hashable, Sendable {
    /// Documents that live.
    public let documents: Int
    /// Deletions, which stay so that they reach everybody.
    public let deleted: Int
    /// Documents with more than one live revision.
    public let conflicts: Int
    /// Documents that were purged here.
    public let purged: Int
    /// The number of the last change on this node.
    public let sequence: UInt64
    /// Two nodes with equal digests have equal documents. 64 hex digits.
    public let digest: String
    /// The file with its log, in bytes.
    public let bytes: Int
    /// Where the file is.
    public let path: String

    init(_ database: DatabaseExecutor) {
        let summary = database.summary
        documents = Int(summary.documents - summary.deleted)
        deleted = Int(summary.deleted)
        conflicts = Int(summary.conflicts)
        purged = Int(summary.purged)
        sequence = summary.position.sequence
        digest = summary.digest.description
        let sizes = database.file.sizes
        bytes = sizes.file + sizes.log
        path = database.file.path
    }
}
