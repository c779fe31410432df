import KithCrypto
import KithStore
import Synchronization

/// The databases of a node: those in its directory, opened, and the names of those it does not carry.
///
/// Any thread may call it.
package final class DatabaseCatalog: Sendable {
    struct State {
        var open: [DatabaseName: DatabaseExecutor] = [:]
        /// Databases whose copy was dropped here: what peers carry under these names is not made again.
        var dropped: Set<DatabaseName> = []
        /// Databases with which something is done that nothing else may come between; see `reserve`.
        var reserved: [DatabaseName: Reservation] = [:]
    }

    let directory: String
    private let droppedFile: String
    let environment: @Sendable () -> StoreEnvironment
    let state = Mutex(State())
    /// Making and dropping are done one at a time, without holding up those who look something up.
    let changing = Mutex(())

    /// Opens all databases in `DIRECTORY/databases`.
    /// - Throws: `NodeError` with the database that can't be opened, and why.
    package init(nodeDirectory: String, environment: @escaping @Sendable () -> StoreEnvironment) throws(NodeError) {
        directory = nodeDirectory + "/databases"
        droppedFile = nodeDirectory + "/dropped"
        self.environment = environment
        try DirectoryLock.makeDirectory(directory)
        let dropped = try SmallFile.lines(of: droppedFile).compactMap { try? DatabaseName($0) }
        state.withLock { $0.dropped = Set(dropped) }
        do throws(StoreError) {
            for name in try Store.names(in: directory) { try open(name) }
        } catch {
            throw NodeError(code: error.code.rawValue, message: error.message)
        }
    }

    /// All of them, ascending by name.
    package var databases: [DatabaseExecutor] {
        state.withLock { state in state.open.keys.sorted().compactMap { state.open[$0] } }
    }

    package subscript(name: String) -> DatabaseExecutor? {
        guard let name = try? DatabaseName(name) else { return nil }
        return state.withLock { $0.open[name] }
    }

    /// Whether what peers carry under this name is to be carried here too.
    package func wants(_ name: DatabaseName) -> Bool {
        state.withLock {
            $0.open[name] == nil && $0.reserved[name] == nil && !$0.dropped.contains(name)
                && $0.open.count < NodeLimits.databases
        }
    }

    /// Makes a database; one that was dropped here is carried again.
    /// - Returns: the database, and whether it is new.
    package func create(_ name: DatabaseName) throws(StoreError) -> (database: DatabaseExecutor, isNew: Bool) {
        try changing.withLock { _ throws(StoreError) in
            if let database = state.withLock({ $0.open[name] }) { return (database, false) }
            try requireUnreserved(name)
            guard state.withLock({ $0.open.count }) < NodeLimits.databases else {
                throw StoreError(.invalid, name.string, "a node carries at most \(NodeLimits.databases) databases")
            }
            try setDropped(name, false)
            return (try open(name), true)
        }
    }

    /// Closes a database and removes this node's copy. It is not carried any more.
    /// - Returns: false when there is none of that name.
    package func drop(_ name: DatabaseName) throws(StoreError) -> Bool {
        try changing.withLock { _ throws(StoreError) in
            try requireUnreserved(name)
            guard let database = state.withLock({ $0.open[name] }) else { return false }
            try setDropped(name, true)
            state.withLock { $0.open[name] = nil }
            database.close()
            try Store.remove(database.file)
            return true
        }
    }

    /// Closes all. Blocks until what waits is written.
    package func close() { for database in databases { database.close() } }

    @discardableResult
    func open(_ name: DatabaseName) throws(StoreError) -> DatabaseExecutor {
        let database = try DatabaseExecutor(DatabaseFile(name, in: directory), environment: environment())
        state.withLock { $0.open[name] = database }
        return database
    }

    func setDropped(_ name: DatabaseName, _ isDropped: Bool) throws(StoreError) {
        let names = state.withLock { state -> [String]? in
            guard state.dropped.contains(name) != isDropped else { return nil }
            if isDropped { state.dropped.insert(name) } else { state.dropped.remove(name) }
            return state.dropped.sorted().map(\.string)
        }
        guard let names else { return }
        do throws(NodeError) { try SmallFile.write(names, to: droppedFile) } catch {
            throw StoreError(.cannotOpen, droppedFile, error.message)
        }
    }
}
