/// Virtual time in milliseconds: what is to happen, in the order of its time, and of its asking where times are equal.
/// Links have deadlines of their own, which whoever runs it names each time.
package final class VirtualTime {
    private struct Event {
        let time: UInt64
        let action: () -> Void
    }

    /// The earliest deadline there is, and what happens then.
    package typealias Deadline = (time: UInt64, action: () -> Void)

    package private(set) var now: UInt64 = 1_000
    /// The next is the last.
    private var queue: [Event] = []
    private var idleDeadlines = 0

    package init() {}

    /// Has something happen at a time, or now where that is over.
    package func schedule(at time: UInt64, _ action: @escaping () -> Void) {
        let event = Event(time: max(time, now), action: action)
        var (low, high) = (0, queue.count)
        while low < high {
            let middle = (low + high) / 2
            if queue[middle].time > event.time { low = middle + 1 } else { high = middle }
        }
        queue.insert(event, at: low)
    }

    /// Lets one thing happen: an event, or a deadline that is earlier.
    /// - Returns: false when nothing is to come before the time.
    private func step(until limit: UInt64, _ deadline: Deadline?) -> Bool {
        var next = queue.last?.time ?? .max
        var due: Deadline?
        if let deadline, deadline.time < next {
            next = max(deadline.time, now)
            due = deadline
        }
        guard next <= limit else { return false }
        idleDeadlines = due != nil && next <= now ? idleDeadlines + 1 : 0
        precondition(idleDeadlines < 1_000, "a deadline comes again and again")
        now = max(now, next)
        if let due { due.action() } else { queue.removeLast().action() }
        return true
    }

    /// Runs until the condition holds, for so many milliseconds at most.
    /// - Parameter deadline: asked before each step.
    /// - Returns: whether it came to hold within the time.
    package func run(
        _ milliseconds: UInt64, deadline: () -> Deadline?, until condition: () -> Bool
    ) -> Bool {
        let limit = now + milliseconds
        while true {
            if condition() { return true }
            guard step(until: limit, deadline()) else { break }
        }
        now = limit
        return condition()
    }
}
