import KithDocument
import KithMerge
import KithNode
import KithReplication
import KithStore
import KithSystem
import KithTestSupport
import KithTransport
import KithVirtualDisk

// Starting and ending nodes, and what stands on their disks before.

extension SimulationRun {
    /// Puts the nodes' directories on their disks.
    func setUp() throws {
        if plan.policy != "latest" {
            for database in 0..<plan.databases {
                try group.say(policy: policyJSON(plan.policy), of: ObservedDatabase.name(database), number: 1)
            }
        }
        if plan.shape != .full {
            for (from, to) in machinePairs where from < plan.nodes && to < plan.nodes {
                // Who has no link by the plan's shape is not even reached.
                if !plan.shape.dials(from: from, to: to, nodes: plan.nodes) { network.blockedDials.insert([from, to]) }
                if !plan.shape.joins(from, to, nodes: plan.nodes) {
                    network.multicastPartitions.cut(from: from, to: to, since: 0, until: .max)
                }
            }
        }
        let created = Set(steps.compactMap { $0.action.createdDatabase })
        let joining = Set(steps.compactMap { $0.action.joiningNode })
        for node in nodes {
            if node.index >= plan.nodes {
                node.isAbsent = true
                continue
            }
            node.isAbsent = joining.contains(node.index)
            try install(
                node,
                databases: joining.contains(node.index) ? [] : (0..<plan.databases).filter { !created.contains($0) })
        }
    }

    /// Makes a directory for a node, with empty databases.
    func install(_ node: SimulatedNode, databases: [Int]) throws {
        let process = node.machine.disk.start()
        // Who makes a disk anew is not hindered by what was wrong with the one before.
        node.machine.disk.sparesCalls = true
        defer { node.machine.disk.sparesCalls = false }
        try group.install(
            node.id, in: node.directory, on: process, machineID: node.machine.machineID, at: node.machineIDFile)
        guard !databases.isEmpty else { return }
        try process.makeDirectory(node.directory + "/databases")
        let source = RandomSource(world.generator("first databases", node.index))
        for number in databases {
            let file = DatabaseFile(
                try DatabaseName(ObservedDatabase.name(number)), in: node.directory + "/databases", on: process)
            _ = try Store(file, environment: StoreEnvironment(now: { 0 }, random: { source.next() }))
            model[Model.Place(node: node.index, database: number)] = ReplicaModel()
        }
        let names = databases.map(ObservedDatabase.name)
        try SpareFile.carried.write(names, in: node.directory, on: process)
    }

    func policyJSON(_ policy: String) -> [UInt8] {
        policy.hasPrefix("{") ? Array(policy.utf8) : Array("{\"default\":\"\(policy)\"}".utf8)
    }

    /// The pairs of machines, each direction for itself.
    var machinePairs: [(Int, Int)] {
        machines.indices.flatMap { one in machines.indices.filter { $0 != one }.map { (one, $0) } }
    }

    // MARK: Starting

    /// Starts the process of a node, unless it runs. Where it can't start, as on a full disk, it is tried again.
    func start(_ node: SimulatedNode) {
        guard !node.isRunning, !node.isAbsent, !node.isLeftBehind, !node.isHostile, world.violation == nil else {
            return
        }
        let machine = node.machine
        machine.setPower(true)
        guard machine.isOn else {
            world.add(.act { self.start(node) }, at: machine.sleepsUntil)
            return
        }
        markStart(node)
        if !identities.contains(node.id) { identities.append(node.id) }
        let incarnation = node.countProcess()
        let process = SimulatedProcess(on: machine)
        VirtualDiskLayer.seed(world.generator("sqlite", node.index * 10_000 + incarnation))
        process.skew = node.version.map { ($0.skew, node.id) }
        do throws(NodeError) {
            let started = try Node(configuration(of: node, process, incarnation))
            node.begin(process, started)
            watch(node, started)
            try started.start()
            line(node, "start", "process \(incarnation)")
        } catch {
            note(.startRefused)
            line(node, "no-start", error.code)
            node.end()
            process.end()
            world.after(SimulationLimits.startAgain) { self.start(node) }
        }
    }

    private func configuration(of node: SimulatedNode, _ process: SimulatedProcess, _ incarnation: Int)
        -> NodeConfiguration
    {
        let random = world.generator("process", node.index * 10_000 + incarnation)
        let (network, multicast) = (network, multicast)
        process.madeQueue = { [weak self] label in
            if label.hasPrefix("kith.writer.") { self?.lookForDatabases(of: node) }
        }
        let clock = node.machine.clock
        guard let directory = try? NodeDirectory(option: node.directory) else {
            preconditionFailure("the path of a virtual disk is no directory")
        }
        // Lines of many nodes cost more than all else that they do: of these the first ones say all.
        let level = node.index >= SimulationLimits.checkedNodes ? Log.Level.error : .debug
        let log = Log(level: level, format: .text, clock: { (clock.wallMilliseconds, clock.monotonicMilliseconds) }) {
            [weak self] bytes in
            self?.heard(bytes, from: node)
            return true
        }
        var configuration = NodeConfiguration(directory: directory, log: log)
        configuration.servesControl = false
        configuration.machineIDFile = node.machineIDFile
        configuration.machine = process.asMachine(random)
        configuration.transport = { (known) throws(TransportError) in SimulatedTransport(process, network, known) }
        configuration.discovery = { _ in SimulatedDiscovery(process, multicast) }
        configuration.network = SimulatedNetworkView(process: process)
        return configuration
    }

    // MARK: Ending

    /// Ends the process of a node at once.
    /// - Parameter losesPower: whether its machine goes with it, so that peers hear nothing and the disk may lose what was not
    ///   synchronised.
    func kill(_ node: SimulatedNode, losesPower: Bool) {
        guard let process = node.process else {
            if losesPower { losePower(node) }
            return
        }
        line(node, "end", losesPower ? "power" : "killed")
        exit(node, process, losesPower: losesPower)
        if losesPower { losePower(node) }
    }

    /// What the kernel of a process does at its end: whatever of its connections is open still, is reset.
    private func exit(_ node: SimulatedNode, _ process: SimulatedProcess, losesPower: Bool) {
        for connection in network.connections(of: node.machine.index) {
            for end in 0...1 where connection.ends[end].channel?.process === process {
                connection.abort(end, tellsPeer: !losesPower)
            }
        }
        for discovery in node.machine.discoveries {
            if losesPower { discovery.vanish() } else { discovery.end() }
        }
        node.machine.discoveries = []
        node.machine.listeners = [:]
        node.end()
    }

    private func losePower(_ node: SimulatedNode) {
        node.machine.setPower(false)
        node.machine.disk.cutPower(powerCuts.pick(Survival.allCases), &powerCuts)
        guard node.isPretending else { return }
        // What the disk only said to have synchronised may be gone, also in parts. What is left is there to stay.
        becomeDamaged(node)
        node.isPretending = node.machine.trouble.pretends
    }

    /// Asks a node to end, and starts it again after a time.
    func stop(_ node: SimulatedNode, then: @escaping @Sendable () -> Void) {
        guard let running = node.node, let process = node.process else { return then() }
        line(node, "stop", "")
        for number in node.databases.keys.sorted() { node.databases[number]?.keepsReader = false }
        running.stop { [weak self] in
            guard let self, node.process === process else { return then() }
            self.line(node, "stopped", "")
            self.exit(node, process, losesPower: false)
            then()
        }
    }
}

extension Action {
    fileprivate var createdDatabase: Int? {
        if case .operation(let operation) = self, operation.kind == .create { operation.database } else { nil }
    }

    fileprivate var joiningNode: Int? {
        if case .fault(let fault) = self, fault.kind == .join { fault.node } else { nil }
    }
}
