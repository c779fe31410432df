import KithDocument
import KithNode
import KithStore

// What must come about after healing: links, equality, and that a fresh write is everywhere.

extension SimulationRun {
    /// Whether there is a way between any two of some nodes, from one to the next.
    func areJoined(_ nodes: [SimulatedNode], by isJoined: (SimulatedNode, SimulatedNode) -> Bool) -> Bool {
        var left = nodes.dropFirst()
        var waiting = Array(nodes.prefix(1))
        while let one = waiting.popLast() {
            waiting += left.filter { isJoined(one, $0) }
            left.removeAll { isJoined(one, $0) }
        }
        return left.isEmpty
    }

    /// The pairs of nodes of the core that can have a link, each once.
    var pairs: [(SimulatedNode, SimulatedNode)] {
        let core = core
        return core.indices.flatMap { one in
            core.indices.filter { other in
                other > one && shape.joins(core[one].index, core[other].index, nodes: plan.nodes)
            }.map { (core[one], core[$0]) }
        }
    }

    private func isConnected(_ one: SimulatedNode, _ other: SimulatedNode) -> Bool {
        one.node?.isLinked(to: other.id) == true && other.node?.isLinked(to: one.id) == true
    }

    /// The pairs that the mesh is to link. Up to so many members that is all, and members are those too who are gone: a node
    /// that was wiped has another identity, and the old one is looked for as long as it is not revoked. With more, each is
    /// linked to those 1, 2, 4, 8 ... places on in the order of ids; nil where some of these are gone or out of reach, for then
    /// each node chooses others by what it knows, and that the links join all is what can be said from outside.
    private var wantedPairs: [(SimulatedNode, SimulatedNode)]? {
        let core = core
        let witness = core.first?.node
        let members = identities.filter { witness?.knowsRevoked($0) != true }
        if members.count <= NodeLimits.fullMeshNodes { return pairs }
        guard members.count == core.count, shape == .full else { return nil }
        let ring = core.sorted { $0.id < $1.id }
        let distances = (0..<Int.bitWidth).lazy.map { 1 << $0 }.prefix { $0 < ring.count }
        return ring.indices.flatMap { place in distances.map { (ring[place], ring[(place + $0) % ring.count]) } }
    }

    private func areAllConnected() -> Bool {
        wantedPairs?.allSatisfy(isConnected) ?? areJoined(core, by: isConnected)
    }

    /// The pairs that have no link, for people.
    private var unconnected: String {
        (wantedPairs ?? pairs).filter { !isConnected($0, $1) }.map { "\($0.index)-\($1.index)" }.shown(" ")
    }

    /// L2: every pair is connected again, or in a ring all are joined.
    func awaitLinks() throws {
        // In a ring where not everybody can dial, who is cut off by that is looked for by those who hear of it, once nobody tells of
        // it any more.
        let isRing = wantedPairs == nil && shape != .full
        let time = SimulationLimits.reconnectTime + (isRing ? SimulationLimits.presenceTime : 0)
        if try advance(to: now + time, until: { self.areAllConnected() }) { return }
        throw Violation(.reconnection, "not connected \(time / 1_000_000) s after healing: \(unconnected)")
    }

    // MARK: Equality

    /// The databases that a writer carries: between readers nothing passes, and nobody makes what only a reader has.
    private var carried: [Int] { (0..<plan.databases).filter(isWithWriter) }

    /// Whether all are equal, and all say so.
    func areAllInSync() -> Bool {
        let core = core
        for number in carried {
            // Who lacks what it has purged passes nothing of that on either.
            var whole: [(node: SimulatedNode, digest: Digest256)] = []
            for node in core {
                let place = Model.Place(node: node.index, database: number)
                guard let database = node.databases[number] else {
                    if model[place].isAway { continue }
                    return false
                }
                if !model[place].lacksPurged { whole.append((node, database.executor.summary.digest)) }
            }
            let isOne = whole.allSatisfy { $0.digest == whole[0].digest }
            if !isOne, areJoined(whole.map(\.node), by: isConnected) { return false }
        }
        return areAllConnected() && core.allSatisfy(isInSyncWithAll)
    }

    private func isWithWriter(_ number: Int) -> Bool {
        core.contains { $0.databases[number] != nil && $0.node?.isReader == false }
    }

    private func isInSyncWithAll(_ node: SimulatedNode) -> Bool {
        guard let running = node.node else { return false }
        // What a hostile member says of itself is no matter. Between two readers nothing passes, so neither knows.
        return core.allSatisfy { peer in
            guard running.isLinked(to: peer.id) else { return true }
            // What only a reader has is not here, and not to be made.
            let isAlone = (0..<plan.databases).contains { number in
                peer.databases[number] != nil && node.databases[number] == nil && !isWithWriter(number)
            }
            if isAlone { return true }
            let isApart = running.isReader && peer.node?.isReader == true
            return running.state(of: peer.id) == (isApart ? .unknown : .inSync)
        }
    }

    /// L1.
    func awaitConvergence(within time: UInt64, _ invariant: Invariant) throws {
        let limit = now + time
        var isDone = try advance(to: limit) { self.areAllOfOneMind() }
        // A moment of quiet, and still so: nothing is under way.
        while isDone {
            try advance(to: min(limit, now + 1_000_000))
            if areAllOfOneMind() { break }
            isDone = try advance(to: limit) { self.areAllOfOneMind() }
        }
        guard isDone else {
            if areAllInSync() { for number in carried { try checkPolicy(of: number) } }
            throw Violation(invariant, describeStanding(after: time))
        }
        for number in carried {
            let places = core.filter { $0.databases[number] != nil }.map {
                Model.Place(node: $0.index, database: number)
            }
            try model.checkConverged(places, database: number) { some in
                areJoined(some.map { nodes[$0.node] }, by: isConnected)
            }
        }
        for node in core { try checkAllCheckpoints(node) }
        try check()
    }

    /// Whether all are in sync and have the policies that were said. A disk that failed is tried again after a while only.
    private func areAllOfOneMind() -> Bool {
        guard areAllInSync() else { return false }
        do { for number in carried { try checkPolicy(of: number) } } catch { return false }
        return true
    }

    /// L1: the policy that an admin said last holds everywhere. An admin outside the core may have told nobody in it: then they
    /// have one policy all the same.
    private func checkPolicy(of number: Int) throws {
        guard let said = lastPolicies[number] else { return }
        var expected: [UInt8]?? = core.contains { $0.index == said.admin } ? .some(said.policy) : nil
        for node in core {
            guard let database = node.databases[number] else { continue }
            let policy = try database.withReader { (reader) throws(StoreError) in try reader.policy() }.statement
            guard policy == expected ?? policy else {
                throw Violation(
                    .convergence, "node \(node.index) has another policy for database \(number) than was said")
            }
            expected = .some(policy)
        }
    }

    func describeStanding(after time: UInt64) -> String {
        var parts: [String] = []
        for node in core {
            guard let running = node.node else {
                parts.append("node \(node.index) does not run")
                continue
            }
            for number in carried {
                let name = ObservedDatabase.name(number)
                guard let database = node.databases[number] else {
                    parts.append("node \(node.index) has no \(name)")
                    continue
                }
                let summary = database.executor.summary
                let behind = running.linkedPeers.map(running.standing).filter { $0.state != .inSync }
                let words = behind.map { peer in "\(peer.id.prefix(8)) \(peer.state.rawValue) \(peer.reason ?? "")" }
                parts.append(
                    "node \(node.index) \(name) at \(summary.position.sequence) \(summary.digest.description.prefix(8)) "
                        + "not in sync with [\(words.shown(", "))]")
            }
        }
        let more = parts.count - SimulationLimits.shownNodes
        if more > 0 { parts = parts.prefix(SimulationLimits.shownNodes) + ["\(more) more"] }
        for number in carried {
            let carriers = core.filter { $0.databases[number] != nil }
            parts += model.differences(carriers.map { Model.Place(node: $0.index, database: number) })
        }
        if !areAllConnected() { parts.append("not connected: \(unconnected)") }
        return "not equal \(time / 1_000_000) s after healing: " + parts.joined(separator: "; ")
    }

    /// L5: what is written now is everywhere soon.
    func checkFreshWrite() throws {
        trace.line(now, node: -1, "phase", "fresh write")
        var writers: [Int: Int] = [:]
        for number in carried {
            guard
                let node = core.filter({ $0.databases[number] != nil && $0.node?.isReader == false }).dropFirst(
                    number % 2
                ).first
                    ?? core.first(where: { $0.databases[number] != nil && $0.node?.isReader == false })
            else { continue }
            writers[number] = node.index
            carryOut(Operation(.put, node: node.index, database: number, document: "fresh", fields: "/a=1"))
        }
        // Until the write is done everybody is still in sync.
        try advance(to: now + 1_000_000)
        try awaitConvergence(
            within: SimulationLimits.freshWriteTime * UInt64(shape.farthest(plan.nodes)), .freshWriteArrives)
        for number in writers.keys.sorted() {
            for node in core where node.databases[number] != nil {
                guard model[Model.Place(node: node.index, database: number)][DocumentID(unchecked: "fresh")] != nil
                else {
                    throw Violation(.freshWriteArrives, "node \(node.index) has not got the fresh write")
                }
            }
        }
    }
}
