import Dispatch
import KithDocument
import KithMerge
import KithReplication
import KithStore
import KithSystem
import Synchronization

/// One open database on its queues: a writer that takes what waits as one commit, and readers beside it.
///
/// Any thread may call it. Completions run on the database's queues and must not block.
package final class DatabaseExecutor: @unchecked Sendable {
    // Sendable: `store` is used on `writer` only; everything else is constant, locked, or a queue.

    package typealias Observer = @Sendable (ReplicaSummary) -> Void

    package let file: DatabaseFile
    private let writer: any WorkQueue
    package let machine: Machine
    var clock: any MachineClock { machine.clock }
    /// Nil once closed.
    private var store: Store?
    let readers: ReaderPool
    private let pending = Mutex<[any PendingWrite]>([])
    private let observers = Mutex<[UInt64: Observer]>([:])
    private let published: Mutex<StoreSummary>
    let watchers: CommitWatchers
    /// Documents that were purged while the file was opened before; used on `writer` only.
    private var formerPurges: UInt64 = 0
    private let wants = Mutex(WantRegistry())
    private let rolledBackAt = Atomic<Int64>(0)
    private let counted = Mutex(ReplicationTraffic())
    /// What queries have used and how they were run.
    let queries = Mutex(QueryUse())
    let storage: Mutex<StorageState>
    /// The check of a file that was not closed; ended by closing.
    let pageCheck = PageCheck()
    /// What the opening found amiss and went on from.
    package let findings: OpeningFindings
    /// For opening again; used on `writer` only.
    private let environment: StoreEnvironment
    private let options: StoreOptions
    private var isClosed = false
    /// What went wrong with code that merges.
    let resolverReports: ResolverReports
    private let over = Atomic(false)

    /// Opens the database, or makes it.
    /// - Throws: `StoreError` as `Store.init` does.
    package init(_ file: DatabaseFile, on machine: Machine, options: StoreOptions = StoreOptions()) throws(StoreError) {
        let environment = StoreEnvironment(
            now: { machine.clock.wallMilliseconds }, random: machine.random,
            monotonic: { machine.clock.monotonicMilliseconds })
        let reports = ResolverReports()
        var options = options
        options.resolvers = options.resolvers.reporting { reports.note($0) }
        resolverReports = reports
        let store = try Store(file, environment: environment, options: options)
        self.machine = machine
        self.file = file
        self.store = store
        self.environment = environment
        var reopening = options
        reopening.creates = false
        self.options = reopening
        writer = machine.queue("kith.writer.\(file.name)")
        readers = ReaderPool(file, store.place, on: machine)
        published = Mutex(store.summary)
        watchers = CommitWatchers(DatabaseMoment(sequence: store.summary.position.sequence, purges: 0))
        storage = Mutex(StorageState(gate: StorageGate(now: machine.clock.monotonicMilliseconds)))
        findings = store.findings
        if findings.isUnclean { checkAfterCrash() }
    }

    package var name: DatabaseName { file.name }

    /// Whether it was closed: nothing can be asked of it any more.
    package var isOver: Bool { over.load(ordering: .relaxed) }

    /// Where the database stood after the last commit.
    package var summary: StoreSummary { published.withLock { $0 } }

    /// When a peer last showed that the database was put back while it ran, or that a copy of the process runs elsewhere, in
    /// milliseconds since 1970; nil when that never was since opening.
    package var rollbackDetectedAt: Int64? {
        let time = rolledBackAt.load(ordering: .relaxed)
        return time == 0 ? nil : time
    }

    /// What came from peers since it was opened.
    package var traffic: ReplicationTraffic { counted.withLock { $0 } }

    // MARK: Writing

    /// Runs work in a transaction with whatever else waits. The completion runs after the commit: a success is on disk.
    package func write<Value: Sendable>(
        _ work: @escaping @Sendable (WriteTransaction) throws(StoreError) -> Value,
        completion: @escaping @Sendable (Result<Value, StoreError>) -> Void
    ) {
        let write = Write(work, completion)
        let isFirst = pending.withLock { pending in
            pending.append(write)
            return pending.count == 1
        }
        if isFirst { writer.async { self.commitPending() } }
    }

    /// Runs the work for each item, in as few commits as there can be; each stands or falls alone.
    /// - Returns: one result for each item, in order.
    package func write<Item: Sendable, Value: Sendable>(
        each items: [Item], _ work: @escaping @Sendable (Item, WriteTransaction) throws(StoreError) -> Value
    ) async -> [Result<Value, StoreError>] {
        if items.isEmpty { return [] }
        return await withCheckedContinuation { continuation in
            let gathered = Gathered<Value>(items.count)
            var writes: [any PendingWrite] = []
            writes.reserveCapacity(items.count)
            for (index, item) in items.enumerated() {
                let write = Write<Value> { transaction throws(StoreError) in
                    try work(item, transaction)
                } _: { result in
                    if let all = gathered.put(result, at: index) { continuation.resume(returning: all) }
                }
                writes.append(write)
            }
            let wasEmpty = pending.withLock { pending in
                defer { pending += writes }
                return pending.isEmpty
            }
            if wasEmpty { writer.async { self.commitPending() } }
        }
    }

    /// The same for a caller that can wait.
    package func write<Value: Sendable>(
        _ work: @escaping @Sendable (WriteTransaction) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result = await withCheckedContinuation { continuation in
            write(work) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    private func commitPending() {
        let group = pending.withLock { pending in
            let group = Array(pending.prefix(NodeLimits.commitGroup))
            pending.removeFirst(group.count)
            return group
        }
        if group.isEmpty { return }
        let store: Store
        do throws(StoreError) { store = try openStore() } catch {
            note(error)
            for write in group { write.finish(error) }
            if !pending.withLock(\.isEmpty) { writer.async { self.commitPending() } }
            return
        }
        if let stop = writeStop {
            for write in group { write.finish(stop) }
            if !pending.withLock(\.isEmpty) { writer.async { self.commitPending() } }
            return
        }
        var works: [(WriteTransaction) throws(StoreError) -> Void] = []
        for write in group { works.append(write.run) }
        let results = store.commit(works)
        publish(store)
        noteOutcome(results, of: store)
        for (write, result) in zip(group, results) {
            switch result {
            case .success: write.finish(nil)
            case .failure(let error): write.finish(error)
            }
        }
        if !pending.withLock(\.isEmpty) { writer.async { self.commitPending() } }
    }

    /// A failure of the disk holds until a commit has written something.
    private func noteOutcome(_ results: [Result<Void, StoreError>], of store: Store) {
        for case .failure(let error) in results { note(error) }
        if store.hasWritten { noteSuccess(logFailure: store.logFailure) }
    }

    /// Tries a commit that says nothing, unless there can be no room for it.
    func probe() {
        writer.async { [self] in
            guard let store = try? openStore() else { return }
            let now = clock.monotonicMilliseconds
            let free = diskFailure == nil ? nil : file.fileSystem.space(of: file.directory)?.free
            let mayProbe = storage.withLock { state in
                if !state.gate.mayProbe(free: free) { state.gate.passed(now: now) }
                return state.gate.mayProbe(free: free)
            }
            guard mayProbe else { return }
            do throws(StoreError) {
                try store.probe()
                publish(store)
                noteSuccess(logFailure: store.logFailure)
            } catch {
                note(error)
            }
        }
    }

    private func publish(_ store: Store) {
        let summary = store.summary
        watchers.note(
            DatabaseMoment(sequence: summary.position.sequence, purges: formerPurges + store.purgeCount))
        let isNews = published.withLock { published in
            defer { published = summary }
            return published != summary
        }
        if isNews {
            #if KITH_MUTANTS
            if Mutant.isActive(.tellsByHash) {
                return observers.withLock { Array($0.values) }.forEach { $0(ReplicaSummary(summary)) }
            }
            #endif
            for observer in observers.withLock({ $0.sorted { $0.key < $1.key } }) {
                observer.value(ReplicaSummary(summary))
            }
        }
    }

    // MARK: Reading

    /// Runs a reading on one of the readers.
    /// - Parameter isLong: for what may take as long as it likes: there is always a reader for the rest.
    package func read<Value: Sendable>(
        isLong: Bool = false, _ work: @escaping @Sendable (StoreReader) throws(StoreError) -> Value,
        completion: @escaping @Sendable (Result<Value, StoreError>) -> Void
    ) {
        onReader(isLong: isLong) { reader in
            do throws(StoreError) {
                let reader = try reader.get()
                defer { self.noteQueries(of: reader) }
                completion(.success(try work(reader)))
            } catch {
                self.note(error)
                completion(.failure(error))
            }
        }
    }

    /// Hands the work a reader. Where none can be opened any more, because the file was taken away or the disk fails, the
    /// writer's connection still has what was opened.
    private func onReader(
        isLong: Bool = false, _ work: @escaping @Sendable (Result<StoreReader, StoreError>) -> Void
    ) {
        readers.run(isLong: isLong) { [self] reader in
            guard case .failure(let error) = reader, error.isOfDisk else { return work(reader) }
            note(error)
            writer.async { [self] in
                guard let store else { return work(.failure(error)) }
                work(.success(store.ownReader()))
            }
        }
    }

    /// The same for a caller that can wait.
    package func read<Value: Sendable>(
        isLong: Bool = false, _ work: @escaping @Sendable (StoreReader) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result = await withCheckedContinuation { continuation in
            read(isLong: isLong, work) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    // MARK: Replicating

    /// Carries out what a link asks of the database.
    package func perform(_ request: StoreRequest, completion: @escaping @Sendable (StoreResult) -> Void) {
        // A puller that could not store is told before it has fetched anything.
        if request.isOfPulling, let stop = pullStop { return completion(.failed(ReplicaError(stop))) }
        guard case .apply(let batch) = request else {
            return onReader { reader in
                do throws(StoreError) {
                    let replica = ReaderReplica(try reader.get()) { self.note($0) }
                    completion(KithReplication.perform(request, on: replica))
                } catch {
                    self.note(error)
                    completion(.failed(ReplicaError(error)))
                }
            }
        }
        // Verifying costs a pass over the bodies and needs no database: it is done beside the writer.
        let filter: DocumentFilter?
        do throws(StoreError) { filter = try DocumentFilter.of(batch.filter) } catch {
            return completion(.failed(ReplicaError(error)))
        }
        let received = ReceivedBatch(
            source: batch.source, deliveries: batch.deliveries, checkpoint: batch.checkpoint, givesWay: batch.givesWay,
            filter: filter, leaving: batch.leaving)
        let revisions = batch.deliveries.reduce(0) { $0 + $1.items.count }
        write { transaction throws(StoreError) in
            let outcome = try transaction.apply(received)
            if outcome.stored > 0 { self.counted.withLock { $0.lastSource = batch.source } }
            return outcome
        } completion: { result in
            switch result {
            case .success(let outcome):
                self.counted.withLock {
                    $0.received += revisions
                    $0.stored += outcome.stored
                }
                if outcome.isRollbackDetected {
                    self.rolledBackAt.store(self.clock.wallMilliseconds, ordering: .relaxed)
                }
                completion(.applied(ReplicaOutcome(outcome)))
            case .failure(let error): completion(.failed(ReplicaError(error)))
            }
        }
    }

    /// Who asks which peer for which document, shared by the links of this database.
    package func withWants<Value>(_ body: (inout WantRegistry) -> sending Value) -> sending Value {
        wants.withLock { body(&$0) }
    }

    /// Calls the observer after each commit that changed the database, on the writer's queue, until it is removed.
    package func observe(_ id: UInt64, _ observer: @escaping Observer) { observers.withLock { $0[id] = observer } }

    package func stopObserving(_ id: UInt64) { observers.withLock { $0[id] = nil } }

    /// Does what is due in bounded steps: merging after a change of policy, dropping what expired and what was kept long
    /// enough. To be called about once an hour.
    /// - Parameter isClockOff: whether the wall clock is known to be wrong: nothing expires by it.
    package func maintain(isClockOff: Bool = false) {
        let used = takeUsedIndexes()
        write { transaction throws(StoreError) in
            if !used.isEmpty { try transaction.noteIndexUse(used) }
            return try transaction.maintain(dropsExpired: !isClockOff)
        } completion: { result in
            if case .success(true) = result { self.maintain(isClockOff: isClockOff) }
        }
    }

    /// Puts the copy that `Compaction.write` has made in the place of the file. Writes and readings wait meanwhile, as long
    /// as it takes to bring the copy up to date. Blocks.
    /// - Throws: `StoreError`; the database goes on as it was then.
    package func takeCompactCopy() throws(StoreError) {
        // It holds a reader for as long as the file is large, and the making of the copy has read every page.
        pageCheck.cancel()
        let result = readers.withoutReaders {
            writer.sync(returning: { Result { () throws(StoreError) in try exchangeForCopy() } })
        }
        try result.get()
    }

    private func exchangeForCopy() throws(StoreError) {
        guard store != nil else { throw StoreError(closed: name) }
        try store?.completeCopy()
        try store?.truncateLog()
        formerPurges += store?.purgeCount ?? 0
        // Nobody else holds it, so this closes the file.
        store = nil
        // Should the opening fail, the next write tries again.
        defer { _ = try? openStore() }
        try Compaction.install(file)
    }

    /// Writes down which indexes were used, before the database is closed.
    private func keepIndexUse() {
        let used = takeUsedIndexes()
        guard !used.isEmpty, writeStop == nil else { return }
        try? store?.write { transaction throws(StoreError) in try transaction.noteIndexUse(used) }
    }

    /// The store; opened again where an exchange of its file could not do that.
    private func openStore() throws(StoreError) -> Store {
        if let store { return store }
        if isClosed { throw StoreError(closed: name) }
        let opened: Store
        do throws(StoreError) { opened = try Store(file, environment: environment, options: options) } catch {
            throw error.code == .notFound ? file.missing : error
        }
        readers.setPlace(opened.place)
        store = opened
        return opened
    }

    /// Finishes what waits, empties the log into the file and lets the file go. Blocks; what is asked of the database
    /// afterwards fails.
    package func close() {
        over.store(true, ordering: .relaxed)
        pageCheck.cancel()
        readers.close()
        writer.sync {
            while !pending.withLock(\.isEmpty) { commitPending() }
            if let store, store.hasExpiring {
                try? store.write { (transaction) throws(StoreError) in try transaction.noteRunningTime() }
            }
            keepIndexUse()
            try? store?.truncateLog()
            store = nil
            isClosed = true
        }
        watchers.end()
    }
}

extension StoreRequest {
    /// Whether it leads to something being stored here.
    fileprivate var isOfPulling: Bool {
        switch self {
        case .open, .apply: true
        default: false
        }
    }
}

/// A write that waits for its turn.
private protocol PendingWrite: AnyObject, Sendable {
    func run(in transaction: WriteTransaction) throws(StoreError)
    /// Once, after the commit or its failure.
    func finish(_ error: StoreError?)
}

/// The results of several writes until all are there.
private final class Gathered<Value: Sendable>: Sendable {
    private let results: Mutex<(all: [Result<Value, StoreError>?], missing: Int)>

    init(_ count: Int) { results = Mutex((Array(repeating: nil, count: count), count)) }

    /// - Returns: all of them, if this was the last that was missing.
    func put(_ result: Result<Value, StoreError>, at index: Int) -> [Result<Value, StoreError>]? {
        results.withLock { results in
            results.all[index] = result
            results.missing -= 1
            return results.missing == 0 ? results.all.compactMap(\.self) : nil
        }
    }
}

private final class Write<Value: Sendable>: PendingWrite, @unchecked Sendable {
    // Sendable: `value` is touched on the writer's queue only.
    private let work: @Sendable (WriteTransaction) throws(StoreError) -> Value
    private let completion: @Sendable (Result<Value, StoreError>) -> Void
    private var value: Value?

    init(
        _ work: @escaping @Sendable (WriteTransaction) throws(StoreError) -> Value,
        _ completion: @escaping @Sendable (Result<Value, StoreError>) -> Void
    ) {
        self.work = work
        self.completion = completion
    }

    func run(in transaction: WriteTransaction) throws(StoreError) { value = try work(transaction) }

    func finish(_ error: StoreError?) {
        if let error { return completion(.failure(error)) }
        guard let value else { preconditionFailure("a write succeeded without having run") }
        completion(.success(value))
    }
}

extension StoreError {
    init(closed name: DatabaseName) {
        self.init(.closed, name.string, "database \(name) was closed: open it again")
    }
}
