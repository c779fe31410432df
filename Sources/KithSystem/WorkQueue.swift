import Dispatch

/// Does work one piece after the other, in the order in which it was given: what a serial dispatch queue promises, and
/// nothing more. A simulation has its own, on virtual time.
///
/// Any thread may call it.
package protocol WorkQueue: AnyObject, Sendable {
    /// Does the work soon, and returns at once.
    func async(_ work: @escaping @Sendable () -> Void)

    /// Does the work after a time by the clock that only goes forward, and not much later.
    func async(afterMilliseconds milliseconds: Int, _ work: @escaping @Sendable () -> Void)

    /// Does the work once what waits is done, and returns then. Never called on the queue itself.
    func sync(_ work: () -> Void)

    /// A timer that calls back on the queue.
    func timer(_ work: @escaping @Sendable () -> Void) -> any WorkTimer

    /// Begins no more work until `resume` is called as often. What is being done goes on.
    func suspend()

    func resume()
}

extension WorkQueue {
    /// `sync` for work that has a result.
    package func sync<Value>(returning work: () -> Value) -> Value {
        var value: Value?
        sync { value = work() }
        guard let value else { preconditionFailure("a queue returned before its work was done") }
        return value
    }
}

/// Calls back once when its time is up. Used on its queue only.
package protocol WorkTimer: AnyObject {
    /// Calls back after so many milliseconds, or a little later, instead of any earlier wish.
    func schedule(milliseconds: Int, leewayMilliseconds: Int)

    /// Never calls back again, whatever is scheduled afterwards.
    func cancel()
}

/// A serial queue of Dispatch.
package final class SerialQueue: WorkQueue {
    /// For sources of events.
    package let dispatch: DispatchQueue

    package init(_ label: String) { dispatch = DispatchQueue(label: label) }

    package func async(_ work: @escaping @Sendable () -> Void) { dispatch.async(execute: work) }

    package func async(afterMilliseconds milliseconds: Int, _ work: @escaping @Sendable () -> Void) {
        dispatch.asyncAfter(deadline: .now() + .milliseconds(milliseconds), execute: work)
    }

    package func sync(_ work: () -> Void) { dispatch.sync(execute: work) }

    package func suspend() { dispatch.suspend() }

    package func resume() { dispatch.resume() }

    package func timer(_ work: @escaping @Sendable () -> Void) -> any WorkTimer { DispatchTimer(dispatch, work) }
}

private final class DispatchTimer: WorkTimer {
    private let source: any DispatchSourceTimer

    init(_ queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler(handler: work)
        source.resume()
    }

    func schedule(milliseconds: Int, leewayMilliseconds: Int) {
        source.schedule(
            deadline: .now() + .milliseconds(milliseconds), leeway: .milliseconds(leewayMilliseconds))
    }

    func cancel() { source.cancel() }
}
