import KithDocument

/// A database, open for writing: the one writer of its file.
///
/// Any thread may use it, one at a time; whoever has concurrent callers queues them and hands over what has gathered as
/// one group. Reading goes through `StoreReader`s, each with a connection of its own.
///
/// What is returned as written is on disk (`StoreOptions.Durability.full`). What fails leaves file and memory as they
/// were.
package final class Store {
    package let file: DatabaseFile
    private let lock: FileLock
    let transaction: WriteTransaction
    private var connection: Connection { transaction.connection }

    /// Opens a database, or makes it.
    /// - Throws: `StoreError`: `locked` with the holder's process id, `newer_file`, `foreign_file`, `damaged`,
    ///   `network_file_system`, `not_found` and what the disk gives.
    /// - Complexity: O(1), besides a write-ahead log that a crash left behind.
    package init(
        _ file: DatabaseFile, environment: StoreEnvironment, options: StoreOptions = StoreOptions()
    ) throws(StoreError) {
        try FileSystem.requireLocal(file.directory)
        self.file = file
        lock = try FileLock(file)
        try FileReplacement.recover(file)
        if !options.creates, FileSystem.size(of: file.path) == 0 {
            throw StoreError(
                .notFound, file.name.string, "there is no database \(file.shortName) in \(file.shortDirectory)")
        }
        let connection = try file.openForWriting(options, databaseID: environment.random)
        transaction = try WriteTransaction(connection, environment: environment, options: options)
    }

    /// Where the database stands, from memory.
    package var summary: StoreSummary { transaction.state.summary }

    /// A reader with a connection of its own, for any thread, one at a time.
    package func makeReader() throws(StoreError) -> StoreReader { StoreReader(try file.openForReading()) }

    /// A reader on the writing connection, for whoever has the store to himself.
    package func ownReader() -> StoreReader { StoreReader(connection) }

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
        let before = transaction.memory
        do {
            try connection.run(.beginWriting)
            var results: [Result<Value, StoreError>] = []
            results.reserveCapacity(works.count)
            for work in works { results.append(try one(work, isAlone: works.count == 1)) }
            try transaction.saveState()
            try connection.run(.commit)
            return results
        } catch {
            transaction.memory = before
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
            try connection.run(.rollbackToSavepoint)
            try connection.run(.release)
            transaction.memory = before
            return .failure(error)
        }
    }

    /// The file's size in bytes and that of its write-ahead log.
    package var sizes: (file: Int, log: Int) { (FileSystem.size(of: file.path), FileSystem.size(of: file.logPath)) }

    /// Empties the write-ahead log into the file, as far as no reader is in the way: for idle times and before closing.
    package func truncateLog() throws(StoreError) { try connection.truncateLog() }

    /// The databases in a directory, ascending by name.
    package static func names(in directory: String) throws(StoreError) -> [DatabaseName] {
        let files = try FileSystem.names(in: directory)
        var names = FileReplacement.undecided(among: files)
        for file in files where file.hasSuffix(DatabaseFile.suffix) {
            if let name = try? DatabaseName(String(file.dropLast(DatabaseFile.suffix.count))) { names.append(name) }
        }
        return Set(names).sorted()
    }

    /// Runs the body while the database is locked, so that nobody opens it; a replacement that was cut off is finished
    /// first.
    package static func withLock<Value>(
        _ file: DatabaseFile, _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let lock = try FileLock(file)
        defer { withExtendedLifetime(lock) {} }
        try FileReplacement.recover(file)
        return try body()
    }

    /// Removes a database that nobody has open, for good.
    /// - Throws: `StoreError` `locked` while it is open, and what the disk gives.
    package static func remove(_ file: DatabaseFile) throws(StoreError) {
        let lock = try FileLock(file)
        defer { withExtendedLifetime(lock) {} }
        try FileReplacement.recover(file)
        // The file first: a log without its file is no database any more.
        for path in [file.path, file.logPath, file.sharedMemoryPath] where !FileSystem.remove(path) {
            throw StoreError(
                .readOnly, path, "can't remove \(file.shortPath): look at the permissions of its directory")
        }
        FileSystem.synchronize(directory: file.directory)
    }
}
