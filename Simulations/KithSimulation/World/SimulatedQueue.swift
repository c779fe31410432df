import KithSystem

/// A serial queue on virtual time. Work begins a little after it was given; where it waits for the disk, the next piece
/// begins when the disk is done.
final class SimulatedQueue: WorkQueue, @unchecked Sendable {
    // Sendable: a run has one thread.

    private let process: SimulatedProcess
    let label: String
    /// It is one of the node's own, and not of a connection.
    private let isOfNode: Bool
    /// In the order in which queues were made.
    let number: UInt64
    private var jobs: [@Sendable () -> Void] = []
    private var first = 0
    private var isPlanned = false
    /// A piece of work is being done.
    private var isActive = false
    private var suspensions = 0
    private var freeAt: UInt64 = 0

    init(_ label: String, of process: SimulatedProcess) {
        self.label = label
        isOfNode = label.hasPrefix("kith.")
        self.process = process
        number = process.world.numberQueue()
    }

    var isIdle: Bool { first == jobs.count }

    var machine: Int { process.machine.index }

    func async(_ work: @escaping @Sendable () -> Void) {
        guard process.isAlive else { return }
        jobs.append(work)
        plan()
    }

    func async(afterMilliseconds milliseconds: Int, _ work: @escaping @Sendable () -> Void) {
        let timer = SimulatedTimer(self, process, work)
        timer.keepsItself = timer
        timer.schedule(milliseconds: milliseconds, leewayMilliseconds: 0)
    }

    func sync(_ work: () -> Void) {
        // Where a thread would wait for itself, or for nobody, the run ends, as the program would.
        precondition(!isActive, "\(label) waits for itself")
        precondition(suspensions == 0 || !process.isAlive, "\(label) is waited for while it is suspended")
        // What a dead process still unwinds is done without order.
        while let job = next() { act(job) }
        act(work)
    }

    private func act(_ work: () -> Void) {
        if isOfNode { process.begun += 1 }
        isActive = true
        work()
        isActive = false
        takeTime()
    }

    func timer(_ work: @escaping @Sendable () -> Void) -> any WorkTimer { SimulatedTimer(self, process, work) }

    func suspend() { suspensions += 1 }

    func resume() {
        suspensions -= 1
        plan()
    }

    /// Does the work now where nothing is in its way, else in its turn: for what comes from outside at this moment.
    func perform(_ work: @escaping @Sendable () -> Void) {
        guard process.isAlive else { return }
        let world = process.world
        guard isIdle, !isActive, suspensions == 0, process.pausedUntil <= world.now, freeAt <= world.now else {
            return async(work)
        }
        world.handled += 1
        act(work)
    }

    private func plan() {
        guard !isPlanned, suspensions == 0, !isIdle, process.isAlive else { return }
        isPlanned = true
        let world = process.world
        world.add(.work(self), at: max(world.now + world.latency(), freeAt))
    }

    /// The time of the next piece of work has come.
    func begin() {
        if process.isAlive, process.isPaused { return process.park(self) }
        isPlanned = false
        guard process.isAlive else {
            // What it would have done may hold all that the process had.
            jobs = []
            first = 0
            return
        }
        guard suspensions == 0 else { return }
        let world = process.world
        guard freeAt <= world.now else { return plan() }
        guard let job = next() else { return }
        world.handled += 1
        act(job)
        plan()
    }

    private func next() -> (@Sendable () -> Void)? {
        guard first < jobs.count else { return nil }
        let job = jobs[first]
        first += 1
        if first == jobs.count {
            jobs.removeAll(keepingCapacity: true)
            first = 0
        } else if first > 64, first * 2 > jobs.count {
            jobs.removeFirst(first)
            first = 0
        }
        return job
    }

    /// The queue is taken for as long as its calls of the disk took.
    private func takeTime() {
        let elapsed = process.machine.takeDiskTime()
        if elapsed > 0 { freeAt = process.world.now + elapsed }
    }
}

/// A timer by the clock of its machine that only goes forward: it stands while the machine sleeps.
final class SimulatedTimer: WorkTimer, @unchecked Sendable {
    // Sendable: a run has one thread.

    private let queue: SimulatedQueue
    private let process: SimulatedProcess
    private let work: @Sendable () -> Void
    /// When it is to call back, by the machine's clock in microseconds; nil for never.
    private var due: UInt64? {
        didSet {
            // What the simulation itself waits for is no matter of the node.
            if queue.label != "discovery" { process.timers += (due == nil ? 0 : 1) - (oldValue == nil ? 0 : 1) }
        }
    }
    /// The world's time for which an event is planned.
    private var plannedAt: UInt64?
    /// One that nobody else keeps lives until it is due.
    var keepsItself: SimulatedTimer?
    /// As with Dispatch, for good.
    private var isCancelled = false

    init(_ queue: SimulatedQueue, _ process: SimulatedProcess, _ work: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.process = process
        self.work = work
    }

    var machine: Int { process.machine.index }
    var label: String { "\(queue.label) \(queue.number)" }
    var queueNumber: UInt64 { queue.number }

    func schedule(milliseconds: Int, leewayMilliseconds: Int) {
        guard !isCancelled else { return }
        let clock = process.machine.clock
        due = clock.monotonicMicroseconds + UInt64(max(0, milliseconds)) * 1_000
        plan()
    }

    func cancel() {
        isCancelled = true
        due = nil
        keepsItself = nil
    }

    private func plan() {
        guard let due, process.isAlive else { return }
        let time = process.machine.clock.time(ofMonotonic: due)
        // An event that comes no later finds out by itself what is due.
        if let plannedAt, plannedAt <= time, plannedAt >= process.world.now { return }
        plannedAt = time
        process.world.add(.timer(self), at: time)
    }

    func isDue() {
        let world = process.world
        if plannedAt == world.now { plannedAt = nil }
        guard let due, process.isAlive else { return }
        guard process.machine.clock.monotonicMicroseconds >= due else { return plan() }
        self.due = nil
        keepsItself = nil
        queue.perform(work)
    }
}
