import KithReplication
import KithStore
import KithSystem
import Synchronization

// What the disk does, and what follows from that.

extension DatabaseExecutor {
    /// Why the disk does not take commits, or give what was read; nil while it does.
    package var diskFailure: StoreError? { storage.withLock { $0.gate.failure } }

    /// What was found damaged in the database since it was opened. Where it is the file itself, nothing is written to it
    /// any more.
    package var damage: StoreError? { storage.withLock { $0.damage } }

    /// How long the oldest reading under way has been going on, in milliseconds; nil when there is none.
    package var oldestReaderMilliseconds: UInt64? { readers.oldestMilliseconds }

    /// Why nothing is written to the database; nil while it may be.
    var writeStop: StoreError? { storage.withLock { $0.damage.flatMap { $0.isOfDamagedFile ? $0 : nil } } }

    /// Why nothing is pulled into the database; nil while it may be.
    var pullStop: StoreError? { writeStop ?? diskFailure }

    /// Calls the observer when the disk begins to fail, and with nil when it does what it should again, on a queue of the
    /// database.
    package func observeStorage(_ observer: @escaping @Sendable (StoreError?) -> Void) {
        storage.withLock { $0.observer = observer }
    }

    func noteSuccess(logFailure: StoreError?) {
        if let logFailure { return note(logFailure) }
        // The room is asked for only while it matters.
        let free = diskFailure == nil ? nil : file.fileSystem.space(of: file.directory)?.free
        change { $0.gate.succeeded(free: free, now: clock.monotonicMilliseconds) }
    }

    /// Takes note of a failure, where it is one of the disk or the file.
    func note(_ error: StoreError) {
        change { state in
            state.gate.failed(error, now: clock.monotonicMilliseconds)
            guard error.code == .damaged else { return }
            // The file's damage counts more than a row's.
            if state.damage == nil || error.isOfDamagedFile { state.damage = error.forEverybody(name) }
        }
    }

    /// A check of the whole database has found nothing: what seemed damaged is not.
    package func noteSound() { change { $0.damage = nil } }

    private func change(_ body: (inout StorageState) -> Void) {
        let (before, after, observer) = storage.withLock { state in
            let before = state.trouble
            body(&state)
            return (before, state.trouble, state.observer)
        }
        if before?.code != after?.code { observer?(after) }
    }

    /// When the disk is next looked at, where it fails; nil while it does not. Milliseconds of the machine's monotonic clock.
    var retryAt: UInt64? {
        storage.withLock { $0.damage?.isOfDamagedFile == true || $0.gate.failure == nil ? nil : $0.gate.probeDueAt }
    }

    /// Tries what is due by the clock: a commit that says nothing. Returns at once.
    package func tend() {
        let now = clock.monotonicMilliseconds
        let isDue = storage.withLock { state in
            guard state.damage?.isOfDamagedFile != true, state.gate.isProbeDue(now: now) else { return false }
            // Where the database is busy, what is asked once more meanwhile is not tried twice.
            state.gate.passed(now: now)
            return true
        }
        if isDue { probe() }
    }

    /// Looks at all pages of a file that was not closed the last time, beside everything else.
    func checkAfterCrash() {
        readers.run { [self] reader in
            do throws(StoreError) {
                _ = try reader.get().checkPages(until: pageCheck)
            } catch {
                note(error)
            }
        }
    }
}

/// What is known of the disk under a database.
struct StorageState: Sendable {
    var gate: StorageGate
    var damage: StoreError?
    var observer: (@Sendable (StoreError?) -> Void)?

    /// What counts most: the file's damage, then the disk, then a row's damage.
    var trouble: StoreError? {
        if let damage, damage.isOfDamagedFile { return damage }
        return gate.failure ?? damage
    }
}

extension StoreError {
    /// The error as it goes into the status, the log and to peers, where no document is named.
    func forEverybody(_ database: DatabaseName) -> StoreError {
        guard code == .damaged, !isOfDamagedFile else { return self }
        return StoreError(
            code, database.string, "a document of \(database) is damaged: kith verify \(database) names it",
            sqliteCode: sqliteCode)
    }
}
