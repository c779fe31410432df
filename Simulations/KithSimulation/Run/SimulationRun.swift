import KithDocument
import KithMerge
import KithNode
import KithReplication
import KithStore
import KithTestSupport
import KithVirtualDisk

/// One run of a plan: nodes, network, model and the loop that takes the earliest event, carries it out, and checks.
///
/// Everything is in one thread and on virtual time. The extensions are the parts: `+Items` (operations and faults of the
/// plan), `+Links` (what a node's shell does with links), `+Stores`, `+Checks`, `+Phases`.
final class SimulationRun {
    enum Event {
        case item(Int)
        case network(VirtualNetwork.Event)
        /// A node's store does what is next, and tells what it did.
        case execute(node: Int, incarnation: Int, database: Int, lane: Int)
        case answer(node: Int, incarnation: Int, database: Int, lane: Int)
        case linkDeadline(node: Int, incarnation: Int, connection: UInt64)
        case dialTimeout(node: Int, incarnation: Int, connection: UInt64)
        /// A link that waits for the place of another has waited its time.
        case contention(node: Int, incarnation: Int, connection: UInt64)
        /// A link is told something that its node found out.
        case input(node: Int, incarnation: Int, connection: UInt64, LinkInput)
        case mesh(node: Int, incarnation: Int)
        case wallClock(node: Int, incarnation: Int)
        case start(node: Int)
        case resume(node: Int)
        case check
    }

    let plan: Plan
    let steps: [PlanStep]
    let sabotage: Sabotage?
    var now: UInt64 = 0
    var queue = EventQueue<Event>()
    var network: VirtualNetwork
    var nodes: [SimulatedNode]
    var model: Model
    var trace: Trace
    var events = 0
    var isDraining = false
    /// Whether operations and faults are over.
    var isHealed = false
    var counts = Counts()
    var carriedOut = Tally()
    private var ties: SeededGenerator
    var pauses: SeededGenerator
    private var powerCuts: SeededGenerator
    /// Documents that changed since the dear checks.
    var unchecked: [(place: Model.Place, document: DocumentID)] = []
    var checking: SeededGenerator

    /// What a run did, for its last line.
    struct Counts {
        var acknowledged = 0
        var links = 0
        var merges = 0
        var revisionsPulled = 0
    }

    init(plan: Plan, sabotage: Sabotage?, printing print: ((String) -> Void)?) {
        self.plan = plan
        steps = plan.steps
        self.sabotage = sabotage
        let root = SeededGenerator(seed: plan.seed).forked("run")
        // Of the process: what lies on the disks is the same where it runs one plan at a time.
        VirtualDiskLayer.seed(root.forked("sqlite"))
        network = VirtualNetwork(nodes: plan.nodes, random: root.forked("network"))
        var seeds = root.forked("nodes")
        nodes = (0..<plan.nodes).map { SimulatedNode(index: $0, random: SeededGenerator(seed: seeds.next())) }
        model = Model(
            nodes: plan.nodes, databases: plan.databases, policy: PolicyModel(plan.policy))
        trace = Trace(print: print)
        ties = root.forked("ties")
        pauses = root.forked("stores")
        powerCuts = root.forked("power")
        checking = root.forked("checks")
    }

    func add(_ event: Event, at time: UInt64) { queue.add(event, at: time, tie: ties.next()) }

    func add(_ event: Event, after microseconds: Int) { add(event, at: now + UInt64(microseconds)) }

    /// Carries out events until none is left up to `time`, or until `condition` holds.
    /// - Returns: whether the condition held.
    @discardableResult
    func advance(to time: UInt64, until condition: (() throws -> Bool)? = nil) throws -> Bool {
        while let next = queue.nextTime, next <= time, let (at, event) = queue.next() {
            now = at
            events += 1
            if events > SimulationLimits.events {
                throw Violation(.convergence, "\(events) events and no end: something sends without need")
            }
            try carryOut(event)
            try drainNetwork()
            if let condition, try condition() { return true }
        }
        now = time
        return false
    }

    private func carryOut(_ event: Event) throws {
        switch event {
        case .item(let index): try carryOut(steps[index].action, item: index)
        case .network(let event):
            network.handle(
                event, now: now, isListening: { self.nodes[$0].isRunning }, isPowered: { self.nodes[$0].isPowered })
        case .start(let node): try start(node)
        case .resume(let node): try resume(node)
        case .check: try check()
        case .execute(let node, let incarnation, _, _), .answer(let node, let incarnation, _, _),
            .linkDeadline(let node, let incarnation, _), .dialTimeout(let node, let incarnation, _),
            .input(let node, let incarnation, _, _), .mesh(let node, let incarnation),
            .wallClock(let node, let incarnation), .contention(let node, let incarnation, _):
            guard nodes[node].incarnation == incarnation else { return }
            if nodes[node].pausedUntil > now {
                add(event, at: nodes[node].pausedUntil)
                return
            }
            try carryOut(event, on: nodes[node])
        }
    }

    private func carryOut(_ event: Event, on node: SimulatedNode) throws {
        switch event {
        case .execute(_, _, let database, let lane): try execute(node, database, lane)
        case .answer(_, _, let database, let lane): try answer(node, database, lane)
        case .linkDeadline(_, _, let connection): try deadline(node, connection)
        case .dialTimeout(_, _, let connection): try dialTimedOut(node, connection)
        case .contention(_, _, let connection): try contentionIsOver(node, connection)
        case .input(_, _, let connection, let input): try tell(node, connection, input)
        case .mesh: try lookAround(node)
        case .wallClock: try tellWallClock(node)
        case .item, .network, .start, .resume, .check: break
        }
    }

    /// Lets processes hear what the network has for them, until it has nothing more.
    func drainNetwork() throws {
        if isDraining { return }
        isDraining = true
        defer { isDraining = false }
        while true {
            for (time, event) in network.takeUpcoming() { add(.network(event), at: time) }
            let deliveries = network.takeDeliveries()
            if deliveries.isEmpty { return }
            for delivery in deliveries { try deliver(delivery) }
        }
    }

    private func deliver(_ delivery: VirtualNetwork.Delivery) throws {
        let node = nodes[network.node(of: delivery)]
        guard node.isRunning else { return }
        if node.pausedUntil > now {
            node.pausedDeliveries.append(delivery)
            return
        }
        try hear(node, delivery)
    }

    func resume(_ index: Int) throws {
        let node = nodes[index]
        guard node.isRunning, node.pausedUntil <= now else { return }
        let deliveries = node.pausedDeliveries
        node.pausedDeliveries = []
        trace.line(now, node: index, "resume", "\(deliveries.count)")
        for delivery in deliveries { try hear(node, delivery) }
    }

    // Clocks.

    /// A node's clock for time spans: it starts anywhere.
    func instant(_ node: SimulatedNode) -> Instant {
        Instant(milliseconds: now / 1_000 + UInt64(node.index) * 1_000_003)
    }

    func time(of instant: Instant, _ node: SimulatedNode) -> UInt64 {
        let current = self.instant(node)
        if instant <= current { return now }
        return (now / 1_000 + instant.milliseconds(since: current)) * 1_000
    }

    func wallClock(_ node: SimulatedNode) -> Int64 {
        SimulationLimits.wallClockStart + Int64(now / 1_000) + node.skewMilliseconds
    }

    // Processes.

    /// Starts the process of a node on what its disk holds.
    func start(_ index: Int) throws {
        let node = nodes[index]
        guard !node.isRunning else { return }
        node.begin()
        node.filling = Array(repeating: nil, count: plan.databases)
        trace.line(now, node: index, "start", "")
        do throws(StoreError) {
            for number in 0..<plan.databases { node.databases.append(try open(number, of: node)) }
        } catch {
            throw Violation(.noErrorFromInside, "node \(index) can't open its store: \(error)")
        }
        for database in node.databases { try checkReopened(node, database) }
        add(.mesh(node: index, incarnation: node.incarnation), after: pauses.below(100_000))
        add(.wallClock(node: index, incarnation: node.incarnation), after: 5_000_000)
    }

    /// Ends the process of a node.
    /// - Parameter tellsPeers: whether the kernel closes the connections; false when the power goes.
    func stop(_ index: Int, tellsPeers: Bool) throws {
        let node = nodes[index]
        guard node.isRunning else { return }
        for link in node.links { network.abort(link.connection, end: link.end, tellsPeer: tellsPeers, now: now) }
        node.end()
        node.isPowered = tellsPeers
        if !tellsPeers { node.disk.cutPower(powerCuts.pick(Survival.allCases), &powerCuts) }
    }

    /// The policy of the plan as the stores are told it.
    var storedPolicy: StoredPolicy {
        guard plan.policy.hasPrefix("{") else { return StoredPolicy(number: 1, name: plan.policy, statement: []) }
        let json = Array(plan.policy.utf8)
        return StoredPolicy(number: 1, name: MergePolicies.name(ofPolicy: json), statement: json)
    }

    private func open(_ number: Int, of node: SimulatedNode) throws(StoreError) -> SimulatedDatabase {
        let source = RandomSource(node.random(of: "store").forkedForDatabase(number))
        let environment = StoreEnvironment(
            now: { [unowned self] in wallClock(node) }, random: { source.next() })
        let file = DatabaseFile(
            try DatabaseName(SimulatedDatabase.name(number)), in: node.disk.directory, on: node.process)
        let options = StoreOptions(durability: sabotage == .forgetsToSynchronise ? .relaxed : .full)
        let store = try Store(file, environment: environment, options: options)
        let policy = storedPolicy
        _ = try store.write { (transaction) throws(StoreError) in try transaction.setPolicy(policy) }
        return try SimulatedDatabase(number: number, store: store, sabotage: sabotage)
    }
}

extension SeededGenerator {
    fileprivate func forkedForDatabase(_ number: Int) -> SeededGenerator {
        var generator = self
        for _ in 0...number { _ = generator.next() }
        return SeededGenerator(seed: generator.next())
    }
}
