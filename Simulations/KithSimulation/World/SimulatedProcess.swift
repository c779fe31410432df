import KithDocument
import KithSystem
import KithTestSupport
import KithVirtualDisk

/// One process on a machine: its queues, and whether it lives and runs. Work of a process that is dead is never done, as
/// that of one that was killed.
final class SimulatedProcess: @unchecked Sendable {
    // Sendable: a run has one thread.

    let world: World
    let machine: SimulatedMachine
    /// Its files.
    let files: DiskProcess
    private(set) var isAlive = true
    /// It does nothing before this time: it was stopped by a signal, or the machine sleeps.
    private(set) var pausedUntil: UInt64 = 0

    init(on machine: SimulatedMachine) {
        self.machine = machine
        world = machine.world
        files = machine.disk.start()
    }

    /// The version of the protocol that its node plays, and which node that is; nil for its own.
    var skew: (skew: VersionSkew, node: NodeID)?

    /// Pieces of work that its node's queues began.
    var begun = 0

    /// Timers of its node that are set.
    var timers = 0

    /// Told of each queue that the process makes.
    var madeQueue: ((String) -> Void)?

    func makeQueue(_ label: String) -> SimulatedQueue {
        madeQueue?(label)
        return SimulatedQueue(label, of: self)
    }

    /// What a node on it asks of its machine.
    func asMachine(_ random: SeededGenerator) -> Machine {
        let source = RandomSource(random)
        return Machine(
            clock: machine.clock, files: files, random: { source.next() }, queue: { self.makeQueue($0) })
    }

    var isPaused: Bool { pausedUntil > world.now }

    /// Queues whose turn came while it was stopped.
    private var parked: [SimulatedQueue] = []

    /// It goes on now, and does what it missed.
    func resume() {
        pausedUntil = min(pausedUntil, world.now)
        let waiting = parked
        parked = []
        for queue in waiting { world.add(.work(queue), at: world.now + world.latency()) }
    }

    func pause(until time: UInt64) {
        pausedUntil = max(pausedUntil, time)
        world.add(.act { if !self.isPaused { self.resume() } }, at: time)
    }

    func park(_ queue: SimulatedQueue) { parked.append(queue) }

    /// The end, at once.
    func end() {
        isAlive = false
        parked = []
        files.kill()
    }
}
