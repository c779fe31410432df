import KithDocument
import KithNode
import KithReplication
import KithStore
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
        try heal()
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
        multicast.changed()
        for machine in machines { machine.mend() }
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
    /// until it is a writer again, nor does it pass on what others wrote.
    private func mayStayReader(_ node: SimulatedNode) -> Bool {
        guard shape == .full, identities.count <= NodeLimits.fullMeshNodes else { return false }
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

    /// Whether there is a way between any two of some nodes, from one to the next.
    private func areJoined(_ nodes: [SimulatedNode], by isJoined: (SimulatedNode, SimulatedNode) -> Bool) -> Bool {
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
    private func awaitLinks() throws {
        if try advance(to: now + SimulationLimits.reconnectTime, until: { self.areAllConnected() }) { return }
        throw Violation(
            .reconnection, "not connected \(SimulationLimits.reconnectTime / 1_000_000) s after healing: \(unconnected)"
        )
    }

    // MARK: Equality

    /// The databases that somebody carries.
    private var carried: [Int] {
        (0..<plan.databases).filter { number in core.contains { $0.databases[number] != nil } }
    }

    /// Whether all are equal, and all say so.
    private func areAllInSync() -> Bool {
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

    private func isInSyncWithAll(_ node: SimulatedNode) -> Bool {
        guard let running = node.node else { return false }
        // What a hostile member says of itself is no matter. Between two readers nothing passes, so neither knows.
        return core.allSatisfy { peer in
            guard running.isLinked(to: peer.id) else { return true }
            let isApart = running.isReader && peer.node?.isReader == true
            return running.standing(of: peer.id).state == (isApart ? .unknown : .inSync)
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

    private func describeStanding(after time: UInt64) -> String {
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
    private func checkFreshWrite() throws {
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

    // MARK: Idle

    /// N1: nothing to do costs next to nothing.
    private func checkIdle() throws {
        trace.line(now, node: -1, "phase", "idle")
        // What was learnt of each other a moment ago is passed on first.
        try advance(to: now + SimulationLimits.settlingTime)
        let before = pairs.map { sent($0, $1) }
        let (changes, links) = (core.map { $0.machine.disk.changes }, core.map { Int($0.node?.linkChanges ?? 0) })
        func sequences() -> [UInt64] {
            core.flatMap { node in
                (0..<plan.databases).map { model[Model.Place(node: node.index, database: $0)].sequence }
            }
        }
        let written = sequences()
        try advance(to: now + SimulationLimits.idleTime)
        for (index, pair) in pairs.enumerated() {
            let bytes = sent(pair.0, pair.1) - before[index]
            if bytes > UInt64(SimulationLimits.idleBytes(nodes: max(plan.nodes, core.count))) {
                throw Violation(
                    .idleTraffic,
                    "nodes \(pair.0.index) and \(pair.1.index) exchanged \(bytes) bytes with nothing to do")
            }
        }
        guard sequences() == written else {
            throw Violation(.idleTraffic, "something was written with nothing to do")
        }
        for (index, node) in core.enumerated() {
            let made = node.machine.disk.changes - changes[index]
            let byLinks = SimulationLimits.changesPerLink * (Int(node.node?.linkChanges ?? 0) - links[index])
            guard made > SimulationLimits.idleChanges + byLinks else { continue }
            throw Violation(.idleTraffic, "node \(node.index) changed its disk \(made) times with nothing to do")
        }
        guard areAllInSync() else {
            throw Violation(.statusHonesty, "idle nodes are not in sync any more: " + describeStanding(after: 0))
        }
    }

    /// Revisions that the nodes of the core have got with their bodies, since they last started.
    private var received: Int {
        core.reduce(0) { sum, node in
            sum + node.databases.values.reduce(0) { $0 + $1.executor.traffic.received }
        }
    }

    private func sent(_ one: SimulatedNode, _ other: SimulatedNode) -> UInt64 {
        network.bytesSent(from: one.machine.index, to: other.machine.index)
            + network.bytesSent(from: other.machine.index, to: one.machine.index)
    }

    /// N2: meeting again with nothing new costs a fixed number of bytes.
    private func checkCheapReconnection() throws {
        trace.line(now, node: -1, "phase", "reconnect")
        for (one, other) in pairs {
            for connection in network.connections(between: one.machine.index, and: other.machine.index) {
                connection.resetBoth()
            }
        }
        let pulled = received
        let before = pairs.map { sent($0, $1) }
        try advance(to: now + 100_000)
        try awaitLinks()
        try awaitConvergence(within: SimulationLimits.convergenceTime, .convergence)
        for (index, pair) in pairs.enumerated() {
            let bytes = sent(pair.0, pair.1) - before[index]
            let fixed = SimulationLimits.reconnectBytes(nodes: max(plan.nodes, core.count), databases: plan.databases)
            if bytes > UInt64(fixed + (try leftOutBytes(pair.0)) + (try leftOutBytes(pair.1))) {
                throw Violation(
                    .cheapReconnection,
                    "nodes \(pair.0.index) and \(pair.1.index) exchanged \(bytes) bytes to meet again")
            }
        }
        guard received == pulled else {
            throw Violation(.cheapReconnection, "documents travelled again when nodes met that had all of them")
        }
    }

    /// What a node may send to a peer to say which documents it leaves out when the two compare what they have: those that it
    /// purged or refused, once with its own question and once with its answer. A protocol that has them in no hello has to.
    private func leftOutBytes(_ node: SimulatedNode) throws -> Int {
        var bytes = 0
        for number in node.databases.keys.sorted() {
            let documents = try node.databases[number]?.withReader { (reader) throws(StoreError) in
                try reader.exclusions()
            }
            for document in (documents ?? []).prefix(ReplicationLimits.exclusions) {
                bytes += 2 * (document.description.utf8.count + SimulationLimits.idHeadBytes)
            }
        }
        return bytes
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
