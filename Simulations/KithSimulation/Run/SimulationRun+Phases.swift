import KithDocument
import KithReplication

// The course of a run: faults and work with safety checks; then everything is healed and what must happen in the end is
// waited for; then all stores are closed, opened and read from scratch.

extension SimulationRun {
    func run() throws {
        try checkedDuring("faults") {
            for index in nodes.indices { try start(index) }
            for (index, step) in steps.enumerated() { add(.item(index), at: UInt64(step.time) * 1_000) }
            add(.check, after: Int(SimulationLimits.checkInterval))
            try advance(to: UInt64(plan.end) * 1_000)
        }
        try heal()
        try awaitLinks()
        try awaitConvergence(within: SimulationLimits.convergenceTime, .convergence)
        try checkFreshWrite()
        try checkIdle()
        try checkCheapReconnection()
        try reopenAll()
    }

    private func checkedDuring(_ phase: String, _ body: () throws -> Void) throws {
        trace.line(now, node: -1, "phase", phase)
        try body()
    }

    /// Everything that is broken is whole again, and every node runs.
    private func heal() throws {
        trace.line(now, node: -1, "phase", "heal")
        isHealed = true
        network.partitions.heal()
        network.reopen(now: now)
        for from in 0..<plan.nodes {
            for to in 0..<plan.nodes where from != to {
                network.setPace(.init(delay: 200...600, segment: 16_384), from: from, to: to)
            }
        }
        for node in nodes {
            node.pausedUntil = 0
            try resume(node.index)
            try start(node.index)
        }
        try drainNetwork()
    }

    /// L2: every pair is connected again.
    private func awaitLinks() throws {
        let isConnected = try advance(to: now + SimulationLimits.reconnectTime) { self.areAllConnected() }
        if isConnected { return }
        let pairs = pairs().filter { !self.isConnected($0, $1) }.map { "\($0)-\($1)" }
        throw Violation(
            .reconnection,
            "not connected \(SimulationLimits.reconnectTime / 1_000_000) s after healing: \(pairs.joined(separator: " "))"
        )
    }

    private func pairs() -> [(Int, Int)] {
        (0..<plan.nodes).flatMap { one in (0..<plan.nodes).filter { $0 != one }.map { (one, $0) } }
    }

    private func isConnected(_ one: Int, _ other: Int) -> Bool {
        nodes[one].links.contains { $0.peer == other && $0.isOpened }
    }

    private func areAllConnected() -> Bool { pairs().allSatisfy(isConnected) }

    /// Whether all are equal, and all say so.
    private func areAllInSync() -> Bool {
        for database in 0..<plan.databases {
            let hasPurges = model.hasPurges(database)
            let first = model[Model.Place(node: 0, database: database)].digest
            for node in nodes {
                if !hasPurges, model[Model.Place(node: node.index, database: database)].digest != first { return false }
                for link in node.links where !isInSync(link, database) { return false }
            }
        }
        return areAllConnected()
    }

    /// L1.
    private func awaitConvergence(within time: UInt64, _ invariant: Invariant) throws {
        let limit = now + time
        var isDone = try advance(to: limit) { self.areAllInSync() }
        // A moment of quiet, and still so: nothing is under way.
        while isDone {
            try advance(to: min(limit, now + 1_000_000))
            if areAllInSync() { break }
            isDone = try advance(to: limit) { self.areAllInSync() }
        }
        guard isDone else { throw Violation(invariant, describeStanding(after: time)) }
        for database in 0..<plan.databases { try model.checkConverged(database: database) }
        try check()
    }

    private func describeStanding(after time: UInt64) -> String {
        var parts: [String] = []
        for node in nodes {
            for database in 0..<plan.databases {
                let replica = model[Model.Place(node: node.index, database: database)]
                let peers = node.links.filter { !isInSync($0, database) }.map { link in
                    let status = link.statuses[database]
                    let state = status.map { "\($0.state)" } ?? "silent"
                    let counts =
                        "\(status?.inChanges.map(String.init) ?? "?")/\(status?.outChanges.map(String.init) ?? "?")"
                    return "\(link.peer) \(state) \(counts)"
                }
                let digest = String(replica.digest.description.prefix(8))
                parts.append(
                    "node \(node.index) db\(database) at \(replica.sequence) \(digest) not in sync with [\(peers.joined(separator: ", "))]"
                )
            }
        }
        for database in 0..<plan.databases {
            if let difference = model.firstDifference(database: database) { parts.append(difference) }
        }
        return "not equal \(time / 1_000_000) s after healing: " + parts.joined(separator: "; ")
    }

    /// L5: what is written now is everywhere soon.
    private func checkFreshWrite() throws {
        trace.line(now, node: -1, "phase", "fresh write")
        for database in 0..<plan.databases {
            let operation = Operation(
                .put, node: database % plan.nodes, database: database, document: "fresh", fields: "/a=1")
            try carryOut(.operation(operation), item: steps.count)
        }
        // Until the write is done everybody is still in sync.
        try advance(to: now + 1_000_000)
        try awaitConvergence(within: SimulationLimits.freshWriteTime, .freshWriteArrives)
        for database in 0..<plan.databases {
            for node in nodes {
                let id = DocumentID(unchecked: "fresh")
                guard model[Model.Place(node: node.index, database: database)][id] != nil else {
                    throw Violation(.freshWriteArrives, "node \(node.index) has not got the fresh write")
                }
            }
        }
    }

    /// N1: nothing to do costs next to nothing.
    private func checkIdle() throws {
        trace.line(now, node: -1, "phase", "idle")
        let before = pairs().map { network.bytesSent(from: $0.0, to: $0.1) }
        let sequences = nodes.map { model[Model.Place(node: $0.index, database: 0)].sequence }
        try advance(to: now + SimulationLimits.idleTime)
        for (index, pair) in pairs().enumerated() {
            let bytes = network.bytesSent(from: pair.0, to: pair.1) - before[index]
            if bytes > UInt64(SimulationLimits.idleBytes) {
                throw Violation(.idleTraffic, "node \(pair.0) sent \(bytes) bytes to \(pair.1) with nothing to do")
            }
        }
        guard nodes.map({ model[Model.Place(node: $0.index, database: 0)].sequence }) == sequences else {
            throw Violation(.idleTraffic, "something was written with nothing to do")
        }
        guard areAllInSync() else { throw Violation(.statusHonesty, "idle nodes are not in sync any more") }
    }

    /// N2: meeting again with nothing new costs a fixed number of bytes.
    private func checkCheapReconnection() throws {
        trace.line(now, node: -1, "phase", "reconnect")
        for (one, other) in pairs() where one < other {
            for id in network.connections(between: one, and: other) { network.reset(id, now: now) }
        }
        let pulled = counts.revisionsPulled
        let before = pairs().map { network.bytesSent(from: $0.0, to: $0.1) }
        try advance(to: now + 100_000)
        try awaitLinks()
        try awaitConvergence(within: SimulationLimits.convergenceTime, .convergence)
        for (index, pair) in pairs().enumerated() {
            let bytes = network.bytesSent(from: pair.0, to: pair.1) - before[index]
            if bytes > UInt64(SimulationLimits.reconnectBytes * plan.databases) {
                throw Violation(.cheapReconnection, "node \(pair.0) sent \(bytes) bytes to \(pair.1) to meet again")
            }
        }
        guard counts.revisionsPulled == pulled else {
            throw Violation(.cheapReconnection, "documents travelled again when nodes met that had all of them")
        }
    }

    /// Phase 3: what is on the disks, read from scratch.
    private func reopenAll() throws {
        trace.line(now, node: -1, "phase", "reopen")
        for node in nodes { try stop(node.index, tellsPeers: true) }
        for node in nodes { try start(node.index) }
        for node in nodes {
            for database in node.databases { try checkReopened(node, database) }
            try stop(node.index, tellsPeers: true)
        }
    }
}
