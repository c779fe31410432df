import Dispatch
import Synchronization

/// A program's own taker of events: called on a queue of its own, one event at a time, in order. One that is slow loses
/// events, of which the log tells, and holds up nobody.
package final class LogHandler: Sendable {
    private let queue = DispatchQueue(label: "kith.log.handler")
    private let waiting = Atomic(0)
    private let take: @Sendable (LogEvent, Int64) -> Void

    /// - Parameter take: the event, and its time in milliseconds since 1970.
    package init(_ take: @escaping @Sendable (LogEvent, Int64) -> Void) { self.take = take }

    /// - Returns: false where too many wait already.
    package func write(_ event: LogEvent, time: Int64) -> Bool {
        guard waiting.load(ordering: .relaxed) < LogLimits.waitingEvents else { return false }
        waiting.add(1, ordering: .relaxed)
        queue.async { [self] in
            take(event, time)
            waiting.subtract(1, ordering: .relaxed)
        }
        return true
    }

    /// Returns when what was told before was taken.
    package func flush() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
