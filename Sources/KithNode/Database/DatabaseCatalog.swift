import KithCrypto
import KithStore
import Synchronization

/// The databases of a node: those in its directory that could be opened, those that could not, with the reason, and the
/// names of those it does not carry.
///
/// Any thread may call it.
package final class DatabaseCatalog: Sendable {
    /// A database that is here and can't be used.
    package struct Unusable: Sendable {
        package let file: DatabaseFile
        package let error: StoreError
        /// The files as they stood then: damage is looked at again when they have changed.
        let stamp: DatabaseFile.Stamp
    }

    struct State {
        var open: [DatabaseName: DatabaseExecutor] = [:]
        var unusable: [DatabaseName: Unusable] = [:]
        /// Databases whose copy was dropped here: what peers carry under these names is not made again.
        var dropped: Set<DatabaseName> = []
        /// Databases with which something is done that nothing else may come between; see `reserve`.
        var reserved: [DatabaseName: Reservation] = [:]

        var count: Int { open.count + unusable.count }
    }

    let directory: String
    private let droppedFile: String
    let environment: @Sendable () -> StoreEnvironment
    let state = Mutex(State())
    /// Making and dropping are done one at a time, without holding up those who look something up.
    let changing = Mutex(())

    /// Opens all databases in `DIRECTORY/databases`. What can't be opened does not hold up the rest: `unusable` has it.
    /// - Throws: `NodeError` when the directory itself can't be read or made, or is on a network file system.
    package init(nodeDirectory: String, environment: @escaping @Sendable () -> StoreEnvironment) throws(NodeError) {
        directory = nodeDirectory + "/databases"
        droppedFile = SpareFile.dropped.path(in: nodeDirectory)
        self.environment = environment
        try DirectoryLock.makeDirectory(directory)
        let dropped = try SpareFile.dropped.read(in: nodeDirectory).lines.compactMap { try? DatabaseName($0) }
        state.withLock { $0.dropped = Set(dropped) }
        let names: [DatabaseName]
        do throws(StoreError) {
            try Store.requireLocal(directory)
            names = try Store.names(in: directory)
        } catch {
            throw NodeError(code: error.code.rawValue, message: error.message)
        }
        for name in names { _ = try? open(name) }
    }

    /// All that are open, ascending by name.
    package var databases: [DatabaseExecutor] {
        state.withLock { state in state.open.keys.sorted().compactMap { state.open[$0] } }
    }

    /// All that are here and can't be used, ascending by name.
    package var unusable: [Unusable] {
        state.withLock { state in state.unusable.keys.sorted().compactMap { state.unusable[$0] } }
    }

    package subscript(name: String) -> DatabaseExecutor? {
        guard let name = try? DatabaseName(name) else { return nil }
        return state.withLock { $0.open[name] }
    }

    /// Whether what peers carry under this name is to be carried here too and is not here.
    package func wants(_ name: DatabaseName) -> Bool {
        state.withLock { state in
            state.open[name] == nil && state.unusable[name] == nil && state.reserved[name] == nil
                && !state.dropped.contains(name) && state.count < NodeLimits.databases
        }
    }

    /// Makes a database; one that was dropped here is carried again.
    /// - Returns: the database, and whether it is new.
    package func create(_ name: DatabaseName) throws(StoreError) -> (database: DatabaseExecutor, isNew: Bool) {
        try changing.withLock { _ throws(StoreError) in
            if let database = state.withLock({ $0.open[name] }) { return (database, false) }
            try requireUnreserved(name)
            if let unusable = state.withLock({ $0.unusable[name] }) { throw unusable.error }
            guard state.withLock({ $0.count }) < NodeLimits.databases else {
                throw StoreError(.invalid, name.string, "a node carries at most \(NodeLimits.databases) databases")
            }
            try setDropped(name, false)
            do throws(StoreError) { return (try open(name), true) } catch {
                // Nothing was made, so there is nothing here that can't be used.
                if !isThere(name) { state.withLock { $0.unusable[name] = nil } }
                throw error
            }
        }
    }

    /// Closes a database and removes this node's copy. It is not carried any more.
    /// - Returns: false when there is none of that name.
    /// - Throws: `StoreError`, `foreign_file` for a file that is not Kith's: that stays.
    package func drop(_ name: DatabaseName) throws(StoreError) -> Bool {
        try changing.withLock { _ throws(StoreError) in
            try requireUnreserved(name)
            let (database, unusable) = state.withLock { ($0.open[name], $0.unusable[name]) }
            guard let file = database?.file ?? unusable?.file else { return false }
            if database == nil { try file.requireOurs() }
            // On a full disk there is no room to note it: the files make some.
            let isNoted = noteDropped(name)
            state.withLock { state in
                state.open[name] = nil
                state.unusable[name] = nil
            }
            database?.close()
            try Store.remove(file)
            if !isNoted { try setDropped(name, true) }
            return true
        }
    }

    private func noteDropped(_ name: DatabaseName) -> Bool {
        do throws(StoreError) { try setDropped(name, true) } catch { return false }
        return true
    }

    /// Tries again to open what could not be opened, where that may pass by itself or the files have changed. Blocks.
    /// - Returns: those that are open now.
    package func retryUnusable() -> [DatabaseExecutor] {
        unusable.compactMap { entry in
            guard entry.error.isTransient || entry.stamp != entry.file.stamp else { return nil }
            let name = entry.file.name
            // Reserved and not under `changing`: to open a large file may take minutes, and others are made meanwhile.
            do throws(StoreError) { try reserve(name, for: "opened") } catch { return nil }
            defer { release(name) }
            guard state.withLock({ $0.unusable[name] != nil }) else { return nil }
            guard isThere(name) else {
                state.withLock { $0.unusable[name] = nil }
                return nil
            }
            return try? open(name)
        }
    }

    /// Closes all. Blocks until what waits is written.
    package func close() { for database in databases { database.close() } }

    private func isThere(_ name: DatabaseName) -> Bool {
        (try? Store.names(in: directory))?.contains(name) ?? true
    }

    @discardableResult
    func open(_ name: DatabaseName) throws(StoreError) -> DatabaseExecutor {
        let file = DatabaseFile(name, in: directory)
        // Taken first: whatever changes while it is being opened makes it worth another try.
        let stamp = file.stamp
        do throws(StoreError) {
            let database = try DatabaseExecutor(file, environment: environment())
            state.withLock { state in
                state.open[name] = database
                state.unusable[name] = nil
            }
            return database
        } catch {
            state.withLock { $0.unusable[name] = Unusable(file: file, error: error, stamp: stamp) }
            throw error
        }
    }

    func setDropped(_ name: DatabaseName, _ isDropped: Bool) throws(StoreError) {
        var dropped = state.withLock { $0.dropped }
        guard dropped.contains(name) != isDropped else { return }
        if isDropped { dropped.insert(name) } else { dropped.remove(name) }
        do throws(NodeError) { try SmallFile.write(dropped.sorted().map(\.string), to: droppedFile) } catch {
            let isFull = StorageSpace(of: directory)?.free == 0
            throw StoreError(isFull ? .storageFull : .cannotOpen, droppedFile, error.message)
        }
        state.withLock { [dropped] in $0.dropped = dropped }
    }
}
