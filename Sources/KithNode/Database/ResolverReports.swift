import KithMerge
import Synchronization

/// The last that went wrong with a resolver of a database.
final class ResolverReports: Sendable {
    private let failure = Mutex<ResolverFailure?>(nil)

    var last: ResolverFailure? { failure.withLock { $0 } }

    func note(_ failure: ResolverFailure) { self.failure.withLock { $0 = failure } }
}
