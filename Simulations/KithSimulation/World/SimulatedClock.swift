import KithSystem

/// The clocks of a simulated machine: they drift, the wall clock jumps, and the one that only goes forward stands while the
/// machine sleeps.
final class SimulatedClock: MachineClock, @unchecked Sendable {
    // Sendable: a run has one thread.

    /// The wall clock at the beginning of a run, in milliseconds since 1970.
    static let epoch: Int64 = 1_790_000_000_000

    private unowned let world: World
    /// A moment at which the clocks stood at `monotonic` and `wall`, in microseconds.
    private var base: UInt64 = 0
    private var monotonic: UInt64
    private var wall: Int64
    private var slept: UInt64 = 0
    /// Parts per million by which the clocks go too fast.
    private var drift: Int64 = 0
    private var sleepsUntil: UInt64 = 0

    init(_ world: World, startedBefore microseconds: UInt64) {
        self.world = world
        base = world.now
        monotonic = microseconds
        wall = Self.epoch * 1_000 + Int64(world.now)
    }

    private func passed(_ time: UInt64) -> UInt64 {
        let passed = Int64(time - base)
        return UInt64(passed + passed * drift / 1_000_000)
    }

    private func rebase() {
        let passed = passed(world.now)
        if !isAsleep { monotonic += passed } else { slept += passed }
        wall += Int64(passed)
        base = world.now
    }

    private var isAsleep: Bool { sleepsUntil > base }

    var monotonicMicroseconds: UInt64 {
        wakeIfDue()
        return isAsleep ? monotonic : monotonic + passed(world.now)
    }

    /// When the world's time will be at which the clock shows this; while the machine sleeps, as if it woke now.
    func time(ofMonotonic value: UInt64) -> UInt64 {
        let now = monotonicMicroseconds
        guard value > now else { return world.now }
        let wait = Int64(value - now)
        let start = max(world.now, sleepsUntil)
        // Rounded up: an event that came too early would only plan another.
        return start + UInt64(wait - wait * drift / 1_000_000 + (drift == 0 ? 0 : 1))
    }

    private func wakeIfDue() {
        guard sleepsUntil > 0, world.now >= sleepsUntil else { return }
        // What passed until the waking is sleep.
        let asleep = UInt64(sleepsUntil > base ? sleepsUntil - base : 0)
        slept += asleep
        wall += Int64(asleep)
        base = max(base, sleepsUntil)
        sleepsUntil = 0
    }

    /// The machine sleeps until then.
    func sleep(until time: UInt64) {
        wakeIfDue()
        rebase()
        sleepsUntil = max(sleepsUntil, time)
    }

    /// Whoever slept wakes.
    func wake() {
        wakeIfDue()
        guard sleepsUntil > world.now else { return }
        slept += world.now - base
        wall += Int64(world.now - base)
        base = world.now
        sleepsUntil = 0
    }

    /// Somebody sets the wall clock.
    func setWall(offBy milliseconds: Int64) {
        wakeIfDue()
        rebase()
        wall = Self.epoch * 1_000 + Int64(world.now) + milliseconds * 1_000
    }

    func setDrift(partsPerMillion: Int64) {
        wakeIfDue()
        rebase()
        drift = partsPerMillion
    }

    var monotonicMilliseconds: UInt64 { monotonicMicroseconds / 1_000 }

    var bootMilliseconds: UInt64 {
        wakeIfDue()
        return (monotonic + slept + passed(world.now)) / 1_000
    }

    var wallMilliseconds: Int64 {
        wakeIfDue()
        return (wall + Int64(passed(world.now))) / 1_000
    }
}
