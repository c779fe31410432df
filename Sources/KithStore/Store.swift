import KithDocument
import KithSystem

/// A database, open for writing: the one writer of its file.
///
/// Any thread may use it, one at a time; whoever has concurrent callers queues them and hands over what has gathered as
/// one group. Reading goes through `StoreReader`s, each with a connection of its own.
///
/// What is returned as written is on disk (`StoreOptions.Durability.full`). What fails leaves file and memory as they
/// were. After a failure of the disk the next write opens the file anew, as after a restart: what SQLite holds in memory
/// of a file that failed is not built upon.
package final class Store {
    package let file: DatabaseFile
    /// What was found amiss at opening and mended; nil nearly always.
    package let findings: OpeningFindings
    private let environment: StoreEnvironment
    private let options: StoreOptions
    private let migrations: Migrations
    private(set) var transaction: WriteTransaction
    private let log: LogKeeper
    /// Whether the last commit has written anything. One that changed nothing is no proof that the disk takes what is written.
    package private(set) var hasWritten = false
    /// Which file was opened.
    package let place: FilePlace
    private var connection: Connection { transaction.connection }

    /// Opens a database, or makes it.
    /// - Throws: `StoreError`: `locked` with the holder's process id, `newer_file`, `foreign_file`, `damaged`,
    ///   `network_file_system`, `not_found` and what the disk gives. What is refused is left as it was.
    /// - Complexity: O(1), besides a write-ahead log that a crash left behind; O(size of the file) where the log was lost,
    ///   and where the format changes, or what indexes are made with.
    package convenience init(
        _ file: DatabaseFile, environment: StoreEnvironment, options: StoreOptions = StoreOptions()
    ) throws(StoreError) {
        try self.init(file, environment: environment, options: options, migrations: .current)
    }

    /// The same with other changes of the format than the present ones, for tests of them.
    package init(
        _ file: DatabaseFile, environment: StoreEnvironment, options: StoreOptions, migrations: Migrations
    ) throws(StoreError) {
        try file.fileSystem.requireLocal(file.directory)
        let lock = try FileLock(file)
        let isNew: Bool
        (isNew, findings) = try file.examine(lock, creates: options.creates, databaseID: environment.random)
        #if KITH_MUTANTS
        if findings.isUnclean, !Mutant.isActive(.trustsLogs) { try file.confirmLog() }
        #else
        if findings.isUnclean { try file.confirmLog() }
        #endif
        // What was said of a closed database must be gone before there is a log.
        if isNew || lock.lastClaim == .closed { try lock.claimNothing() }
        let opened: WriteTransaction
        do throws(StoreError) {
            let connection = try file.openForWriting(options, migrations)
            if findings.lostLog != nil { try file.requireIntegrity(connection) }
            try IndexCatalog.renew(connection)
            opened = try WriteTransaction(connection, environment: environment, options: options)
            connection.setCheckpointOnClose(true)
        } catch {
            throw file.atOpening(error)
        }
        transaction = opened
        place = FilePlace(file)
        log = LogKeeper(file, lock, claims: options.durability == .full)
        self.file = file
        self.environment = environment
        self.options = options
        self.migrations = migrations
        if findings.lostLog != nil { try lock.claimNothing() }
    }

    deinit { log.closing(connection) }

    /// Where the database stands, from memory.
    package var summary: StoreSummary { transaction.state.summary }

    /// Documents that were purged since it was opened.
    package var purgeCount: UInt64 { transaction.memory.purges }

    /// Whether there were documents that expire.
    package var hasExpiring: Bool { transaction.memory.hasExpiryIndex }

    /// Why the log could not be copied into the file after the last commit; nil while it can. Commits go on meanwhile,
    /// and the log grows.
    package var logFailure: StoreError? { log.failure }

    /// A reader with a connection of its own, for any thread, one at a time.
    package func makeReader() throws(StoreError) -> StoreReader { try file.makeReader(now: environment.now) }

    /// A reader on the writing connection, for whoever has the store to himself.
    package func ownReader() -> StoreReader { StoreReader(connection, now: environment.now) }

    /// Runs one piece of work as a transaction.
    package func write<Value>(
        _ work: @escaping (WriteTransaction) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try commit([work])[0].get()
    }

    /// Runs pieces of work as one transaction with one synchronisation of the disk. Each stands or falls alone; if the
    /// transaction as a whole fails, all fail.
    /// - Returns: one result for each piece, in order. A success is durable.
    package func commit<Value>(
        _ works: [(WriteTransaction) throws(StoreError) -> Value]
    ) -> [Result<Value, StoreError>] {
        #if KITH_MUTANTS
        if Mutant.isActive(.acknowledgesEarly), connection.isInTransaction { try? connection.run(.commit) }
        #endif
        hasWritten = false
        do {
            try makeReady()
        } catch {
            return works.map { _ in .failure(error) }
        }
        let before = transaction.memory
        let commits = connection.logCommits
        do {
            try connection.run(.beginWriting)
            var results: [Result<Value, StoreError>] = []
            results.reserveCapacity(works.count)
            for work in works { results.append(try one(work, isAlone: works.count == 1)) }
            try transaction.saveState()
            #if KITH_MUTANTS
            if Mutant.isActive(.acknowledgesEarly) { return results }
            #endif
            try connection.run(.commit)
            hasWritten = connection.logCommits > commits
            log.committed(connection)
            return results
        } catch {
            transaction.memory = before
            connection.queries.forget()
            if connection.isInTransaction { try? connection.run(.rollback) }
            return works.map { _ in .failure(error) }
        }
    }

    /// One piece of work. Its own failure is a result; what it throws has ended the transaction.
    private func one<Value>(
        _ work: (WriteTransaction) throws(StoreError) -> Value, isAlone: Bool
    ) throws(StoreError) -> Result<Value, StoreError> {
        if isAlone { return .success(try work(transaction)) }
        let before = transaction.memory
        try connection.run(.savepoint)
        do {
            let value = try work(transaction)
            try connection.run(.release)
            return .success(value)
        } catch {
            guard connection.isInTransaction else { throw error }
            connection.queries.forget()
            try connection.run(.rollbackToSavepoint)
            try connection.run(.release)
            transaction.memory = before
            return .failure(error)
        }
    }

    /// Looks whether the file is still the one that was opened, and opens it anew after a failure of the disk.
    private func makeReady() throws(StoreError) {
        try place.requireSame()
        guard connection.isBroken else { return }
        let fresh = try file.openForWriting(options, migrations)
        let purges = purgeCount
        transaction = try WriteTransaction(fresh, environment: environment, options: options)
        transaction.memory.purges = purges
        fresh.setCheckpointOnClose(true)
    }

    /// Runs the body while the database is locked, so that nobody opens it; a replacement that was cut off is finished
    /// first.
    package static func withLock<Value>(
        _ file: DatabaseFile, _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let lock = try FileLock(file)
        defer { withExtendedLifetime(lock) {} }
        try FileReplacement.recover(file, lock)
        return try body()
    }

    /// Why a database that nobody has open is refused before SQLite looks at it: its file is not there, empty or cut short,
    /// or its log is another's. Nil where it is not, or where it is locked. A replacement that was cut off is finished first.
    package static func refusal(of file: DatabaseFile) -> StoreError? {
        do throws(StoreError) {
            _ = try file.examine(try FileLock(file), creates: false) { 0 }
            return nil
        } catch { return error.code == .locked ? nil : error }
    }

    /// Commits a page that says nothing: whether the disk takes commits. On disk when this returns.
    /// - Throws: `StoreError` as any write.
    package func probe() throws(StoreError) {
        try write { transaction throws(StoreError) in try transaction.writeProbe() }
    }

    /// The file's size in bytes and that of its write-ahead log.
    package var sizes: (file: Int, log: Int) { file.sizes }

    /// Empties the write-ahead log into the file, as far as no reader is in the way: for idle times and before closing.
    package func truncateLog() throws(StoreError) { try log.truncate(connection) }

    /// Refuses a directory on a network file system.
    /// - Throws: `StoreError` `network_file_system`.
    package static func requireLocal(
        _ directory: String, on fileSystem: any FileSystem = LocalFileSystem()
    ) throws(StoreError) {
        try fileSystem.requireLocal(directory)
    }

    /// The databases in a directory, ascending by name; those too of which only the log is left.
    package static func names(
        in directory: String, on fileSystem: any FileSystem = LocalFileSystem()
    ) throws(StoreError) -> [DatabaseName] {
        let files = try fileSystem.names(in: directory)
        var names = Set(FileReplacement.undecided(among: files))
        for entry in files {
            for end in [DatabaseFile.suffix, DatabaseFile.suffix + "-wal"] where entry.hasSuffix(end) {
                if let name = try? DatabaseName(String(entry.dropLast(end.count))) { names.insert(name) }
            }
        }
        return names.sorted()
    }

    /// Removes a database that nobody has open, for good, with the copies that were kept of it when the format changed.
    /// - Parameters:
    ///   - moment: the file and its log stay, where it is given: called `damaged-` and this, behind the name and a
    ///     dot, as after a repair.
    ///   - note: is called once nobody can open it any more, and before anything is removed.
    /// - Throws: `StoreError` `locked` while it is open, and what the disk gives.
    package static func remove(
        _ file: DatabaseFile, keepingAt moment: String? = nil, note: () -> Void = {}
    ) throws(StoreError) {
        let lock = try FileLock(file)
        defer { withExtendedLifetime(lock) {} }
        try FileReplacement.recover(file, lock)
        note()
        if let moment { try FileReplacement.putAside(file, as: "\(KeptFile.Reason.damaged.rawValue)-\(moment)") }
        // The file first: a log without its file is no database any more.
        for path in [file.path, file.logPath, file.sharedMemoryPath] + Migrations.copies(of: file)
        where !file.fileSystem.discard(path) {
            throw StoreError(
                .readOnly, path, "can't remove \(file.shortPath): look at the permissions of its directory")
        }
        lock.write(.none)
        try file.fileSystem.requireDurable(directory: file.directory)
    }
}
