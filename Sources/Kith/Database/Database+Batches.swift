import KithNode
import KithStore
import Synchronization

extension Database {
    /// Runs a closure whose writes are one: all of them are on disk when this returns, or nothing was written.
    ///
    /// Nobody else writes meanwhile, peers neither, so the closure should not take long: what is slow is done before it.
    /// Readings go on and see the database as it was. On other nodes the documents of a batch need not arrive together.
    /// - Parameter work: runs on a queue of the database, once. When it throws nothing is written, and this throws the same.
    /// - Throws: what the closure throws; `KithError`: what the disk gives, `forbidden` on a node that only reads, `closed`.
    @discardableResult
    public func write<Value: Sendable>(_ work: @escaping @Sendable (WriteBatch) throws -> Value) async throws -> Value {
        let run = BatchRun(home, work)
        let executor = try home.executor()
        do throws(StoreError) {
            return try await executor.write { transaction throws(StoreError) in try run(transaction) }
        } catch { throw run.failure ?? KithError(error) }
    }

    /// The same, blocking.
    @discardableResult
    public func write<Value: Sendable>(_ work: @escaping @Sendable (WriteBatch) throws -> Value) throws -> Value {
        try Waiting.require(name)
        let run = BatchRun(home, work)
        let executor = try home.executor()
        let result: Result<Value, StoreError> = Waiting.result { done in
            executor.write({ transaction throws(StoreError) in try run(transaction) }, completion: done)
        }
        do throws(StoreError) { return try result.get() } catch { throw run.failure ?? KithError(error) }
    }

    /// Runs a closure that sees the database as of one moment, beside all writes.
    ///
    /// The write-ahead log can't be emptied beyond that moment meanwhile, so the closure should not take long. Up to three run at
    /// once; replication and readings of single documents do not wait for them. When the task is cancelled, a query that runs
    /// in the closure ends with `cancelled`.
    /// - Parameter work: runs on a queue of the database.
    /// - Throws: what the closure throws; `KithError`: what the disk gives, `closed`.
    public func read<Value: Sendable>(_ work: @escaping @Sendable (ReadSnapshot) throws -> Value) async throws -> Value
    {
        try await reading(isLong: true, work)
    }

    /// The same, blocking.
    public func read<Value: Sendable>(_ work: @escaping @Sendable (ReadSnapshot) throws -> Value) throws -> Value {
        try reading(isLong: true, work)
    }

    /// - Parameter isLong: whether it may take as long as it likes, and so leaves a connection to the rest.
    func reading<Value: Sendable>(
        isLong: Bool = false, _ work: @escaping @Sendable (ReadSnapshot) throws -> Value
    ) async throws -> Value {
        let cancelled = Flag()
        let run = ReadRun(isCancelled: { cancelled.isSet }, work)
        let executor = try home.executor()
        return try await withTaskCancellationHandler {
            do throws(StoreError) {
                return try await executor.read(isLong: isLong) { reader throws(StoreError) in try run(reader) }
            } catch { throw run.failure ?? KithError(error) }
        } onCancel: {
            cancelled.set()
        }
    }

    /// The same, blocking.
    func reading<Value: Sendable>(
        isLong: Bool = false, _ work: @escaping @Sendable (ReadSnapshot) throws -> Value
    ) throws -> Value {
        try Waiting.require(name)
        let run = ReadRun(work)
        let executor = try home.executor()
        let result: Result<Value, StoreError> = Waiting.result { done in
            executor.read(isLong: isLong, { reader throws(StoreError) in try run(reader) }, completion: done)
        }
        do throws(StoreError) { return try result.get() } catch { throw run.failure ?? KithError(error) }
    }
}

/// A closure of a program's as the store wants it, and what it threw.
private final class BatchRun<Value>: Sendable {
    private let home: any DatabaseHome
    private let work: @Sendable (WriteBatch) throws -> Value
    private let thrown = Mutex<(any Error)?>(nil)

    init(_ home: any DatabaseHome, _ work: @escaping @Sendable (WriteBatch) throws -> Value) {
        self.home = home
        self.work = work
    }

    var failure: (any Error)? { thrown.withLock { $0 } }

    func callAsFunction(_ transaction: WriteTransaction) throws(StoreError) -> Value {
        let lease = Lease(transaction)
        let batch = WriteBatch(lease, of: home)
        defer { lease.end() }
        let value: Value
        do { value = try Waiting.running { try work(batch) } } catch {
            thrown.withLock { $0 = error }
            throw batch.failure ?? StoreError(.cancelled, "write", "the closure threw")
        }
        if let failure = batch.failure { throw failure }
        return value
    }
}

private final class ReadRun<Value>: Sendable {
    private let isCancelled: (@Sendable () -> Bool)?
    private let work: @Sendable (ReadSnapshot) throws -> Value
    private let thrown = Mutex<(any Error)?>(nil)

    init(
        isCancelled: (@Sendable () -> Bool)? = nil, _ work: @escaping @Sendable (ReadSnapshot) throws -> Value
    ) {
        self.isCancelled = isCancelled
        self.work = work
    }

    var failure: (any Error)? { thrown.withLock { $0 } }

    func callAsFunction(_ reader: StoreReader) throws(StoreError) -> Value {
        let lease = Lease(reader)
        defer { lease.end() }
        do {
            return try reader.atOneMoment {
                try Waiting.running { try work(ReadSnapshot(lease, isCancelled: isCancelled)) }
            }
        } catch let error as StoreError {
            throw error
        } catch {
            thrown.withLock { $0 = error }
            throw StoreError(.cancelled, "read", "the closure threw")
        }
    }
}
