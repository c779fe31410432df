import KithNode
import KithTransport
import KithVirtualDisk

// The course of a run: faults and work with safety checks; then everything is healed and what must happen in the end is
// waited for; then all stores are closed, opened and read from scratch.

extension SimulationRun {
    func run(endsUnhealed: Bool = false) throws {
        trace.line(now, node: -1, "phase", "faults")
        try setUp()
        for node in nodes { start(node) }
        takeEarlierImages()
        for step in steps {
            world.add(.act { [unowned self] in checked { try carryOut(step) } }, at: UInt64(step.time) * 1_000)
        }
        world.after(SimulationLimits.checkInterval) { [unowned self] in checkFromTimeToTime() }
        try advance(to: UInt64(plan.end) * 1_000)
        if endsUnhealed { return }
        let healing = now
        try heal()
        try checkDisks(healedAt: healing)
        try awaitLinks()
        try checkDiscovery()
        try awaitConvergence(within: SimulationLimits.convergenceTime, .convergence)
        try checkMembership()
        try checkFreshWrite()
        try endHostile()
        try checkCompaction()
        try checkIdle()
        try checkCheapReconnection()
        try checkMap()
        try reopenAll()
    }

    private func carryOut(_ step: PlanStep) throws {
        mark(step)
        switch step.action {
        case .operation(let operation): carryOut(operation)
        case .fault(let fault): try carryOut(fault)
        }
    }

    // MARK: Healing

    /// The nodes that are healed, and must be equal then.
    var core: [SimulatedNode] {
        nodes.filter { node in
            !node.isAbsent && !node.isOutsider && (plan.core.isEmpty || plan.core.contains(node.index))
        }
    }

    /// Everything that is broken is whole again, and every node of the core runs.
    private func heal() throws {
        trace.line(now, node: -1, "phase", "heal")
        isHealed = true
        if nodes.contains(where: { $0.process?.isPaused == true }) { note(.healedWhilePaused) }
        network.heal()
        openShape()
        for machine in machines { machine.mend() }
        multicast.heal()
        for node in nodes where !node.isAbsent { for copy in twins(of: node) { try makeNodeOfItsOwn(copy) } }
        for node in nodes where node.isOutsider && !node.isHostile { kill(node, losesPower: false) }
        goneSince = now
        let healed = core
        // Who is not healed keeps what it has to itself.
        for node in nodes where !node.isAbsent && !node.isHostile && !healed.contains(where: { $0 === node }) {
            kill(node, losesPower: false)
            node.isLeftBehind = true
            for database in 0..<plan.databases {
                model.lose(
                    Model.Place(node: node.index, database: database),
                    besides: healed.map { Model.Place(node: $0.index, database: database) })
            }
        }
        for node in core {
            settleDisk(of: node)
            if node.isDamaged {
                kill(node, losesPower: false)
                try makeAnew(node)
            }
            node.process?.resume()
            mendVersion(node)
            start(node)
        }
        // What a paused process missed comes at once.
        try advance(to: now + 1_000_000)
        for node in core where node.isMoved { try keep(node) }
        for node in core where node.index > 0 && node.node?.isReader == true && !mayStayReader(node) {
            setRole(.writer, of: node)
        }
    }

    /// Whether nothing is missing while a node is a reader: what clients wrote to it before it was one is asked of it by nobody
    /// until it is a writer again, nor does it pass on what others wrote, a hostile member to it alone.
    private func mayStayReader(_ node: SimulatedNode) -> Bool {
        guard shape == .full, identities.count <= NodeLimits.fullMeshNodes,
            !nodes.contains(where: { $0.hostile?.kind.givesEachItsOwn == true })
        else { return false }
        // A version before the present one has no word for being equal but for what is left out, and a writer can't find out.
        if case .older? = node.version?.skew { return false }
        let writers = core.filter { $0.node?.isReader == false }
        return (0..<plan.databases).allSatisfy { number in
            let place = Model.Place(node: node.index, database: number)
            return model[place].documents.allSatisfy { id in
                guard let state = model[place][id] else { return true }
                let others = writers.map { model[Model.Place(node: $0.index, database: number)] }.filter {
                    $0[id] != nil
                }
                var knowledge = WriteSet()
                for other in others { if let its = other[id] { knowledge.formUnion(its.knowledge) } }
                return !others.isEmpty && state.knowledge.firstMissing(in: knowledge, ignoring: WriteSet()) == nil
            }
        }
    }

    /// Where the shape has no way between two nodes of the core any more, since one in the middle is no member or carries a
    /// database no longer that both carry, it holds no longer.
    private func openShape() {
        let carriers = (0..<plan.databases).map { number in
            core.filter { !model[Model.Place(node: $0.index, database: number)].isAway }
        }
        let joins = { [shape, plan] (one: SimulatedNode, other: SimulatedNode) in
            shape.joins(one.index, other.index, nodes: plan.nodes)
        }
        guard !([core] + carriers).allSatisfy({ areJoined($0, by: joins) }) else { return }
        shape = .full
        network.blockedDials = []
        network.multicastPartitions.heal()
    }

    /// Phase 3: what is on the disks, read from scratch.
    private func reopenAll() throws {
        trace.line(now, node: -1, "phase", "reopen")
        isReopening = true
        let core = core
        for node in core { kill(node, losesPower: node.index.isMultiple(of: 2)) }
        for node in core { start(node) }
        try advance(to: now + 2_000_000)
        for node in core {
            guard node.isRunning else { throw Violation(.atomicApply, "node \(node.index) does not start again") }
            for number in node.databases.keys.sorted() {
                guard let database = node.databases[number] else { continue }
                try checkSum(node, database)
            }
        }
        try checkEndings(core)
    }
}

extension Shape {
    /// How many links lie between the two farthest nodes.
    func farthest(_ nodes: Int) -> Int {
        switch self {
        case .full: 1
        case .star, .reverseStar: 2
        case .ring: max(1, nodes / 2)
        case .chain: max(1, nodes - 1)
        }
    }
}
