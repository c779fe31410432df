import KithDocument
import KithNode
import KithReplication
import KithStore
import KithVirtualDisk

// What nodes with nothing to do cost, and meeting again.

extension SimulationRun {
    /// N1: nothing to do costs next to nothing.
    func checkIdle() throws {
        trace.line(now, node: -1, "phase", "idle")
        // What was learnt of each other a moment ago is passed on first.
        try advance(to: now + SimulationLimits.settlingTime)
        let before = pairs.map { sent($0, $1) }
        let (changes, links) = (core.map { $0.machine.disk.changes }, core.map(linkChanges))
        func sequences() -> [UInt64] {
            core.flatMap { node in
                (0..<plan.databases).map { model[Model.Place(node: node.index, database: $0)].sequence }
            }
        }
        let written = sequences()
        try advance(to: now + SimulationLimits.idleTime)
        for (index, pair) in pairs.enumerated() {
            let bytes = sent(pair.0, pair.1) - before[index]
            let mayLink = zip(core, links).count { node, before in
                (node === pair.0 || node === pair.1) && linkChanges(node) > before
            }
            let most = SimulationLimits.idleBytes(nodes: max(plan.nodes, identities.count))
            if bytes > UInt64(most + (mayLink == 2 ? newLinkBytes : 0)) {
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
            let byLinks = SimulationLimits.changesPerLink * (linkChanges(node) - links[index])
            guard made > SimulationLimits.idleChanges + byLinks else { continue }
            throw Violation(.idleTraffic, "node \(node.index) changed its disk \(made) times with nothing to do")
        }
        guard areAllInSync() else {
            throw Violation(.statusHonesty, "idle nodes are not in sync any more: " + describeStanding(after: 0))
        }
    }

    private func linkChanges(_ node: SimulatedNode) -> Int { Int(node.node?.linkChanges ?? 0) }

    /// What two nodes may exchange when a node that is gone falls out of the ring, which is another then: both may dial.
    private var newLinkBytes: Int {
        guard identities.count > NodeLimits.fullMeshNodes else { return 0 }
        return 2 * SimulationLimits.reconnectBytes(nodes: max(plan.nodes, identities.count), databases: plan.databases)
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
    func checkCheapReconnection() throws {
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
            let fixed = SimulationLimits.reconnectBytes(
                nodes: max(plan.nodes, identities.count), databases: plan.databases)
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
}
