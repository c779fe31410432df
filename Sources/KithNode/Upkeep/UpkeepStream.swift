import Dispatch
import KithHTTPCore
import Synchronization

extension ControlStream {
    /// A stream of what long work tells. The work runs on a thread of its own, so it may block; a client that goes away
    /// cancels it, and it is waited for then.
    static func upkeep(_ work: @escaping @Sendable (UpkeepSink) async throws(ControlError) -> Void) -> ControlStream {
        ControlStream { writer in
            let cancelled = Flag()
            let (events, continuation) = AsyncStream.makeStream(of: UpkeepEvent.self)
            let sink = UpkeepSink(emit: { continuation.yield($0) }, isCancelled: { cancelled.isSet })
            let running = Task.detached { () -> ControlError? in
                defer { continuation.finish() }
                do throws(ControlError) { try await work(sink) } catch { return error }
                return nil
            }
            await withTaskCancellationHandler {
                do {
                    for await event in events { try await writer.write(event.line) }
                } catch {
                    cancelled.set()
                }
            } onCancel: {
                cancelled.set()
            }
            if let error = await running.value { throw error }
        }
    }

    /// Runs blocking work on a thread that may block.
    static func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: work()) }
        }
    }
}

/// A word of one bit between threads.
package final class Flag: Sendable {
    private let value = Atomic(false)

    package init() {}

    package var isSet: Bool { value.load(ordering: .relaxed) }

    package func set() { value.store(true, ordering: .relaxed) }
}
