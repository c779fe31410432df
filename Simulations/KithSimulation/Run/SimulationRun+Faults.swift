// What goes wrong: each fault is one case here, one in `Fault.Kind` and one in the generator.

import KithReplication

extension SimulationRun {
    func carryOut(_ fault: Fault) throws {
        // There are no spare machines.
        guard fault.node < nodes.count else { return }
        let duration = UInt64(max(0, fault.milliseconds)) * 1_000
        if fault.kind != .pace {
            trace.line(now, node: fault.node, "fault", PlanItem(time: 0, action: .fault(fault)).text)
        }
        switch fault.kind {
        case .pace:
            for (from, to) in fault.links(nodes: plan.nodes) {
                network.setPace(
                    .init(delay: fault.low...max(fault.low, fault.high), segment: max(1, fault.size)), from: from,
                    to: to)
            }
        case .isolate: separate(until: now + duration) { ($0 == fault.node) != ($1 == fault.node) }
        case .halves: separate(until: now + duration) { fault.nodes.contains($0) != fault.nodes.contains($1) }
        case .bridge:
            separate(until: now + duration) { one, other in
                one != fault.node && other != fault.node && fault.nodes.contains(one) != fault.nodes.contains(other)
            }
        case .oneway:
            for (from, to) in fault.links(nodes: plan.nodes) {
                network.partitions.cut(from: from, to: to, since: now, until: now + duration)
            }
            network.reopen(now: now)
        case .flap:
            let period = UInt64(max(1, fault.size)) * 1_000
            for (from, to) in [(fault.node, fault.other), (fault.other, fault.node)] {
                network.partitions.cut(from: from, to: to, since: now, until: now + duration, period: period)
            }
            network.reopen(now: now)
        case .reset:
            for (from, to) in fault.links(nodes: plan.nodes) {
                for id in network.connections(between: from, and: to) { network.reset(id, now: now) }
            }
        case .truncate:
            for (from, to) in fault.links(nodes: plan.nodes) {
                for id in network.connections(between: from, and: to) {
                    network.truncate(id, end: network.connections[Int(id)].dialler == from ? 0 : 1, now: now)
                }
            }
        case .stop: try shutDown(fault.node, back: now + duration)
        case .kill, .power:
            try stop(fault.node, tellsPeers: fault.kind == .kill)
            add(.start(node: fault.node), at: now + duration)
        case .pause:
            let node = nodes[fault.node]
            guard node.isRunning else { return }
            node.pausedUntil = max(node.pausedUntil, now + duration)
            add(.resume(node: fault.node), at: node.pausedUntil)
        case .dial:
            for (one, other) in [(fault.node, fault.other), (fault.other, fault.node)] where nodes[one].isRunning {
                dial(nodes[one], other)
            }
        case .skew: nodes[fault.node].skewMilliseconds = Int64(fault.milliseconds)
        default:
            trace.line(now, node: fault.node, "no-fault", "not carried out")
            return
        }
        carriedOut.add(fault.kind.rawValue)
    }

    private func separate(until time: UInt64, where isApart: (Int, Int) -> Bool) {
        network.partitions.separate(nodes: plan.nodes, since: now, until: time, where: isApart)
        network.reopen(now: now)
    }

    /// A clean end: goodbyes, what is in line is written, the stores close.
    private func shutDown(_ index: Int, back time: UInt64) throws {
        let node = nodes[index]
        add(.start(node: index), at: time)
        guard node.isRunning else { return }
        for link in node.links { try tell(node, link.connection, .stop(.init(code: .closing, text: ""))) }
        for database in node.databases {
            for lane in database.lanes.indices {
                while database.lanes[lane].isBusy || !database.lanes[lane].waiting.isEmpty {
                    if database.lanes[lane].answers.isEmpty { try execute(node, database.number, lane) }
                    try answer(node, database.number, lane)
                }
            }
        }
        for link in node.links { network.close(link.connection, end: link.end, now: now) }
        node.end()
    }
}
