import KithStore
import KithSystem
import KithTransport
import Synchronization

/// The databases in a node's directory while no node runs there: what a program does that opens them by itself. It may
/// become a node's directory later, and the databases the node's.
package struct DatabaseFolder: Sendable {
    /// The node's directory: the databases lie in `databases` in it.
    package let path: String
    private let machine: Machine
    private var files: any FileSystem { machine.files }
    private var databases: String { path + "/databases" }

    /// Held while the small files of a directory are read and written: several databases of one may be opened at once.
    private static let noting = Mutex(())

    package init(_ path: String, on machine: Machine = .local) {
        self.path = path
        self.machine = machine
    }

    /// Where a database lies, whether it is there or not.
    package func file(of name: DatabaseName) -> DatabaseFile { DatabaseFile(name, in: databases, on: files) }

    /// Opens a database, or makes it, and remembers that it is there.
    /// - Throws: `StoreError` as `Store.init`; `locked` also while a node runs in the directory; `file_missing` for one that
    ///   was here and of which there is no file.
    package func open(_ name: DatabaseName, options: StoreOptions) throws(StoreError) -> DatabaseExecutor {
        try requireNoNode(name)
        try asStore { () throws(NodeError) in try DirectoryLock.makeDirectory(databases, on: files) }
        let file = file(of: name)
        let isThere = try names().contains(name)
        if !isThere, isMissed(name) { throw file.missing }
        if !isThere, options.creates { try markAlone() }
        let database = try DatabaseExecutor(file, on: machine, options: options)
        note(name, isHere: true)
        database.maintain()
        return database
    }

    /// The databases that are there, ascending by name.
    package func names() throws(StoreError) -> [DatabaseName] {
        files.exists(databases) ? try Store.names(in: databases, on: files) : []
    }

    /// Removes a database that nobody has open, for good; what repairs and restores have put aside stays.
    /// - Returns: false where there is none.
    /// - Throws: `StoreError`: `locked` while it is open, or a node runs in the directory; `foreign_file` for a file that is
    ///   no database of Kith.
    package func remove(_ name: DatabaseName) throws(StoreError) -> Bool {
        guard try names().contains(name) || isMissed(name) else { return false }
        try requireNoNode(name)
        let file = file(of: name)
        try file.requireOurs()
        try asStore { () throws(NodeError) in try DirectoryLock.makeDirectory(databases, on: files) }
        // One that is open stays as it is, and is missed as before.
        try Store.remove(file, note: { note(name, isHere: false) })
        return true
    }

    /// Puts a copy of a database in as a database of that name, with a timeline of its own. On disk when this returns.
    /// - Parameter source: a file as `Backup.write` makes it.
    /// - Throws: `StoreError`: `conflict` where there is one of that name; `not_found` and `damaged` for the source.
    package func copy(from source: String, as name: DatabaseName) throws(StoreError) -> StoreSummary {
        try requireNoNode(name)
        let file = file(of: name)
        try requireWhole(source)
        try asStore { () throws(NodeError) in try DirectoryLock.makeDirectory(databases, on: files) }
        try markAlone()
        let summary = try Restoring.make(file, at: Upkeep.moment, environment: Upkeep.environment) {
            output throws(StoreError) in try CopySource.read(source, into: output)
        }
        note(name, isHere: true)
        return summary
    }

    /// A file beside which a log stands is not all of a database.
    private func requireWhole(_ source: String) throws(StoreError) {
        let disk = LocalFileSystem()
        guard disk.exists(source) else {
            throw StoreError(.notFound, source, "there is no file \(Shown.path(source))")
        }
        guard disk.stamp(of: source + "-wal").map({ $0.size == 0 }) ?? true else {
            throw StoreError(
                .invalid, source,
                "\(Shown.path(source)) has a log beside it, and no copy has: make one while the database is open, with copy(to:)"
            )
        }
    }

    // MARK: What stands beside the databases

    /// What checks have found wrong with them.
    package func damageBook() throws(NodeError) -> DamageBook { try DamageBook(nodeDirectory: path, on: files) }

    private func requireNoNode(_ name: DatabaseName) throws(StoreError) {
        do throws(NodeError) { try DirectoryLock.requireFree(path, on: files) } catch {
            throw StoreError(error.code == "directory_in_use" ? .locked : .cannotOpen, name.string, error.message)
        }
    }

    /// Says that the databases are of no group, before there is the first: without a word they would be taken for those of a
    /// node that has lost its identity.
    private func markAlone() throws(StoreError) {
        do throws(TransportError) { try IdentityStore(directory: path, on: files).beginAlone() } catch {
            throw StoreError(.cannotOpen, path, error.message)
        }
    }

    private func isMissed(_ name: DatabaseName) -> Bool {
        Self.noting.withLock { _ in
            DatabaseNames.look(.carried, in: path, on: files).contains(name)
                && !DatabaseNames.look(.dropped, in: path, on: files).contains(name)
        }
    }

    /// Notes whether a database should be here. Where the disk is too full for it, the next opening does it.
    private func note(_ name: DatabaseName, isHere: Bool) {
        Self.noting.withLock { _ in
            try? DatabaseNames(.dropped, in: path, on: files).set(name, !isHere)
            try? DatabaseNames(.carried, in: path, on: files).set(name, isHere)
        }
    }

    private func asStore<Value>(_ body: () throws(NodeError) -> Value) throws(StoreError) -> Value {
        do throws(NodeError) { return try body() } catch { throw StoreError(.cannotOpen, path, error.message) }
    }
}

/// A copy of a database as somebody gives it, on the disk of this machine.
private enum CopySource {
    static func read(_ path: String, into output: OutputFile) throws(StoreError) {
        let file: any OpenFile
        do throws(SystemError) { file = try LocalFileSystem().open(path, .read) } catch {
            throw StoreError(.cannotOpen, path, "can't read \(Shown.path(path)): \(error.reason)")
        }
        var offset = 0
        while true {
            let part: [UInt8]
            do throws(SystemError) { part = try file.read(NodeLimits.copyPartBytes, at: offset) } catch {
                throw StoreError(.inputOutput, path, "can't read \(Shown.path(path)): \(error.reason)")
            }
            if part.isEmpty { return }
            try output.write(part)
            offset += part.count
        }
    }
}
