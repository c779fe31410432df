import KithSystem
import KithTestSupport

/// Virtual time and what happens in it: one event after the other, on one thread, in an order that the seed decides.
///
/// Everything of a run hangs on it: machines, the network, the processes with their queues. An event at one time comes
/// before or after another at that time by a tie that is drawn, so that no code may count on an order that nothing promises.
final class World: @unchecked Sendable {
    // Sendable: a run has one thread, and all of it is used on that alone.

    /// What is due at some time.
    enum Happening {
        /// A queue begins its next piece of work.
        case work(SimulatedQueue)
        case timer(SimulatedTimer)
        /// The first of what is under way from an end of a connection arrives.
        /// Of what was sent by that end; `timing` is that of the end when it was sent.
        case arrival(SimulatedConnection, end: Int, timing: Int)
        case act(() -> Void)
    }

    /// Microseconds since the run began.
    private(set) var now: UInt64 = 0
    /// Inputs that nodes have handled: pieces of work, timers, arrivals.
    var handled: UInt64 = 0
    /// The first rule that was found broken; it ends the run.
    private(set) var violation: Violation?
    private var events = EventQueue<Happening>()
    private let ties: UInt64
    private var acts: UInt64 = 0
    /// Draws how long a queue takes to begin.
    private var latencies: SeededGenerator
    private let root: SeededGenerator

    init(seed: UInt64) {
        root = SeededGenerator(seed: seed)
        var ties = root.forked("ties")
        self.ties = ties.next()
        latencies = root.forked("latencies")
    }

    /// A generator of its own for a part of the world.
    func generator(_ name: StaticString, _ number: Int = 0) -> SeededGenerator {
        var forked = root.forked(name)
        for _ in 0..<2 { _ = forked.next() }
        return SeededGenerator(seed: forked.next() ^ (UInt64(number) &* 0x9E37_79B9_7F4A_7C15))
    }

    func add(_ happening: Happening, at time: UInt64) {
        let time = max(time, now)
        events.add(happening, at: time, tie: tie(of: happening, at: time))
    }

    /// Drawn from what happens and when, so that an event more does not move the ties of all that come after it.
    private func tie(of happening: Happening, at time: UInt64) -> UInt64 {
        let name: UInt64
        switch happening {
        case .work(let queue): name = queue.number << 2
        case .timer(let timer): name = timer.queueNumber << 2 | 1
        case .arrival(let connection, let end, _): name = UInt64(connection.number) << 3 | UInt64(end) << 2 | 2
        case .act:
            acts += 1
            name = acts << 2 | 3
        }
        var generator = SeededGenerator(seed: ties ^ time &* 0x2545_F491_4F6C_DD1D ^ name &* 0xD6E8_FEB8_6659_FD93)
        return generator.next()
    }

    /// Does something after so many microseconds.
    func after(_ microseconds: UInt64, _ act: @escaping () -> Void) { add(.act(act), at: now + microseconds) }

    /// Mostly a few microseconds, and now and then a thread that had to wait for a processor.
    func latency() -> UInt64 {
        let draw = latencies.next()
        return draw & 0xff == 0 ? (draw >> 8) % 4_000 : (draw >> 8) % 30
    }

    /// A hash of all that happened, in its order: two runs of one plan have the same.
    var hash: UInt64 { rolling.value }
    private var rolling = RollingHash()

    /// Something is sent.
    func noteSent(_ bytes: [UInt8], by machine: Int, on connection: Int) {
        rolling.mix(UInt64(truncatingIfNeeded: machine))
        rolling.mix(UInt64(truncatingIfNeeded: connection))
        rolling.mix(bytes)
    }

    private var queues: UInt64 = 0

    /// A number for a new queue.
    func numberQueue() -> UInt64 {
        queues += 1
        return queues
    }

    /// Told of each event, with the machine that it is on, -1 for none.
    var told: ((Int, StaticString, String) -> Void)?

    private func tell(_ happening: Happening, _ told: (Int, StaticString, String) -> Void) {
        switch happening {
        case .work(let queue): told(queue.machine, "work", "\(queue.label) \(queue.number)")
        case .timer(let timer): told(timer.machine, "timer", timer.label)
        case .arrival(let connection, let end, _):
            told(connection.ends[1 - end].machine?.index ?? -1, "arrival", "c\(connection.number)")
        case .act: told(-1, "act", "")
        }
    }

    /// A rule is broken. The first one is kept.
    func fail(_ violation: Violation) { self.violation = self.violation ?? violation }

    /// The time of the next event; nil when there is none.
    var nextTime: UInt64? { events.nextTime }

    /// Lets the next event happen.
    /// - Returns: false when there was none.
    func step() throws(Violation) -> Bool {
        guard let (time, happening) = events.next() else { return false }
        now = time
        rolling.mix(time)
        if let told { tell(happening, told) }
        switch happening {
        case .work(let queue):
            rolling.mix(queue.number)
            queue.begin()
        case .timer(let timer):
            rolling.mix(timer.queueNumber)
            timer.isDue()
        case .arrival(let connection, let end, let timing):
            rolling.mix(UInt64(connection.number) << 1 | UInt64(end))
            connection.arrive(from: end, timing)
        case .act(let act): act()
        }
        if let violation { throw violation }
        return true
    }

    /// Forgets all that was to come: it may hold everything.
    func discard() { events = EventQueue() }

    /// Nothing happens until then.
    func skip(to time: UInt64) { now = max(now, time) }
}
