import KithStore

#if KITH_MUTANTS
import KithSystem
#endif

/// Whether the disk under a database takes commits, from what became of those that were tried. While it does not, nothing
/// is pulled from peers; writes made here are tried each for itself. A value: whoever holds it tells it the time.
package struct StorageGate: Sendable {
    /// Why the last commit failed, or a reading; nil while the disk does what it should.
    package private(set) var failure: StoreError?
    /// When a commit or a probe was last tried.
    private var triedAt: UInt64

    /// - Parameter now: milliseconds of a clock that only goes forward, as everywhere here.
    package init(now: UInt64) { triedAt = now }

    /// A commit succeeded.
    /// - Parameter free: bytes free on the disk, as far as they are known. After a full disk a single small commit is no
    ///   proof of room: it is over when there is room for what peers send at once.
    package mutating func succeeded(free: UInt64?, now: UInt64) {
        triedAt = now
        if failure?.code == .storageFull, let free, free < NodeLimits.resumeBytes { return }
        failure = nil
    }

    /// Something failed. What is no fault of the disk is passed over.
    package mutating func failed(_ error: StoreError, now: UInt64) {
        guard error.isOfDisk else { return }
        triedAt = now
        failure = error
    }

    /// Whether it is time to try a commit that says nothing: soon after a failure, and now and then where nobody writes,
    /// so that what is told of the disk is not old.
    package func isProbeDue(now: UInt64) -> Bool {
        #if KITH_MUTANTS
        if Mutant.isActive(.staysFull), failure?.code == .storageFull { return false }
        #endif
        return now >= probeDueAt
    }

    /// When that is.
    package var probeDueAt: UInt64 {
        triedAt + (failure == nil ? NodeLimits.idleProbeMilliseconds : NodeLimits.storageRetryMilliseconds)
    }

    /// Whether a probe can succeed with so many bytes free.
    package func mayProbe(free: UInt64?) -> Bool {
        guard failure?.code == .storageFull, let free else { return true }
        return free >= NodeLimits.resumeBytes
    }

    /// A probe was begun, or put off.
    package mutating func passed(now: UInt64) { triedAt = now }
}
