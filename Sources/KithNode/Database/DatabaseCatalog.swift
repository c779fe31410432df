import KithCrypto
import KithMerge
import KithStore
import KithSystem
import Synchronization

/// The databases of a node: those in its directory that could be opened, those that could not, with the reason, those that
/// were here and are gone, and the names of those it does not carry.
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
        /// Databases with which something is done that nothing else may come between; see `reserve`.
        var reserved: [DatabaseName: Reservation] = [:]

        var count: Int { open.count + unusable.count }
    }

    let directory: String
    /// What the directory is on.
    var files: any FileSystem { machine.files }
    /// Databases that were opened here and not dropped since, in the file `carried`: of which there is no file, that one is
    /// missing, and no other is made in its place.
    private let carried: DatabaseNames
    /// Databases whose copy was dropped here, in the file `dropped`: what peers carry under these names is not made again.
    private let dropped: DatabaseNames
    private let resolvers: ResolverSet
    let machine: Machine
    let state = Mutex(State())
    /// Making and dropping are done one at a time, without holding up those who look something up.
    let changing = Mutex(())

    /// Opens all databases in `DIRECTORY/databases`. What can't be opened does not hold up the rest: `unusable` has it.
    /// - Throws: `NodeError` when the directory itself can't be read or made, or is on a network file system.
    package init(
        nodeDirectory: String, on machine: Machine, resolvers: ResolverSet = ResolverSet()
    ) throws(NodeError) {
        self.resolvers = resolvers
        directory = nodeDirectory + "/databases"
        self.machine = machine
        carried = try DatabaseNames(.carried, in: nodeDirectory, on: machine.files)
        dropped = try DatabaseNames(.dropped, in: nodeDirectory, on: machine.files)
        try DirectoryLock.makeDirectory(directory, on: files)
        let names: [DatabaseName]
        do throws(StoreError) {
            try Store.requireLocal(directory, on: files)
            names = try Store.names(in: directory, on: files)
        } catch {
            throw NodeError(code: error.code.rawValue, message: error.message)
        }
        for name in names { _ = try? open(name) }
        for name in carried.all where !names.contains(name) { noteGone(name) }
    }

    /// There is no file of a database: it is missing if it was carried, and else there never was one.
    func noteGone(_ name: DatabaseName) {
        // Between the removal and its note the process may have ended.
        let isMissed = carried.contains(name) && !dropped.contains(name)
        let file = file(of: name)
        let missing = Unusable(file: file, error: file.missing, stamp: file.stamp)
        state.withLock { $0.unusable[name] = isMissed ? missing : nil }
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
                && !dropped.contains(name) && state.count < NodeLimits.databases
        }
    }

    /// Makes a database; one that was dropped here is carried again. Blocks.
    /// - Returns: the database, and whether it is new.
    package func create(_ name: DatabaseName) throws(StoreError) -> (database: DatabaseExecutor, isNew: Bool) {
        try changing.withLock { _ throws(StoreError) in
            if let database = state.withLock({ $0.open[name] }) { return (database, false) }
            return (try make(name), true)
        }
    }

    /// Makes a database that a peer has, if it is still to be carried and not here. Blocks.
    /// - Returns: nil where it is not to be made.
    package func carry(_ name: DatabaseName) throws(StoreError) -> DatabaseExecutor? {
        try changing.withLock { _ throws(StoreError) in wants(name) ? try make(name) : nil }
    }

    /// While `changing` is held.
    private func make(_ name: DatabaseName) throws(StoreError) -> DatabaseExecutor {
        try requireUnreserved(name)
        if let unusable = state.withLock({ $0.unusable[name] }) { throw unusable.error }
        guard state.withLock({ $0.count }) < NodeLimits.databases else {
            throw StoreError(.invalid, name.string, "a node carries at most \(NodeLimits.databases) databases")
        }
        do throws(StoreError) { return try open(name, creates: true) } catch {
            // Nothing was made, so there is nothing here that can't be used.
            if !isThere(name) { state.withLock { $0.unusable[name] = nil } }
            throw error
        }
    }

    /// Closes a database and removes this node's copy. It is not carried any more. What repairs and restores have put aside
    /// stays; the file of one that was carried is put aside too where it does not show that it is Kith's. After a crash that
    /// came before the removal the database is there as before. Blocks.
    /// - Returns: false when there is none of that name.
    /// - Throws: `StoreError`, `foreign_file` for a file that never was a database here: that stays.
    package func drop(_ name: DatabaseName) throws(StoreError) -> Bool {
        try changing.withLock { _ throws(StoreError) in
            try reserve(name, for: "dropped")
            defer { release(name) }
            let (database, unusable) = state.withLock { ($0.open[name], $0.unusable[name]) }
            guard let file = database?.file ?? unusable?.file else { return false }
            if database == nil, !carried.contains(name) { try file.requireOurs() }
            // Before anything is touched: what is not noted comes back from a peer. On a full disk there is no room to note it,
            // and the files make some.
            var isNoted = true
            do throws(StoreError) { try noteDropped(name) } catch {
                guard error.code == .storageFull else { throw error }
                isNoted = false
            }
            state.withLock { state in
                state.open[name] = nil
                state.unusable[name] = nil
            }
            database?.close()
            // It may be ours with a damaged head, or what somebody has put in its place.
            try Store.remove(file, keepingAt: file.owner == .foreign ? Upkeep.moment : nil)
            if !isNoted { try noteDropped(name) }
            // A name that stays in both is not missed.
            try? carried.set(name, false)
            return true
        }
    }

    /// Tries again to open what could not be opened, where that may pass by itself or the files have changed. Blocks.
    /// - Returns: those that are open now.
    package func retryUnusable() -> [DatabaseExecutor] {
        unusable.compactMap { entry in
            guard entry.error.isTransient || entry.stamp != entry.file.stamp else { return nil }
            let name = entry.file.name
            if entry.error.code == .missing, !isThere(name) { return nil }
            // Reserved and not under `changing`: to open a large file may take minutes, and others are made meanwhile.
            do throws(StoreError) { try reserve(name, for: "opened") } catch { return nil }
            defer { release(name) }
            guard state.withLock({ $0.unusable[name] != nil }) else { return nil }
            guard isThere(name) else {
                noteGone(name)
                return nil
            }
            return try? open(name)
        }
    }

    /// Closes all. Blocks until what waits is written.
    package func close() { for database in databases { database.close() } }

    private func isThere(_ name: DatabaseName) -> Bool {
        (try? Store.names(in: directory, on: files))?.contains(name) ?? true
    }

    /// - Parameter creates: whether one may be made. What was here before and is gone is not made anew: it would look like
    ///   a database that nobody has written to yet.
    @discardableResult
    func open(_ name: DatabaseName, creates: Bool = false) throws(StoreError) -> DatabaseExecutor {
        let file = file(of: name)
        // Taken first: whatever changes while it is being opened makes it worth another try.
        let stamp = file.stamp
        do throws(StoreError) {
            let database = try DatabaseExecutor(
                file, on: machine, options: StoreOptions(creates: creates, resolvers: resolvers))
            state.withLock { state in
                state.open[name] = database
                state.unusable[name] = nil
            }
            // Where the disk is too full for it, the next start does it.
            try? dropped.set(name, false)
            try? carried.set(name, true)
            return database
        } catch {
            if error.code == .notFound {
                noteGone(name)
                throw error
            }
            state.withLock { $0.unusable[name] = Unusable(file: file, error: error, stamp: stamp) }
            throw error
        }
    }

    private func noteDropped(_ name: DatabaseName) throws(StoreError) {
        do throws(NodeError) { try dropped.set(name, true) } catch {
            let isFull = files.space(of: directory)?.free == 0
            throw StoreError(isFull ? .storageFull : .cannotOpen, name.string, error.message)
        }
    }
}
