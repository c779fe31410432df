import KithDocument
import KithMerge
import KithReplication
import KithStore
import KithTestSupport

extension SimulationRun {
    /// Checks between the events: what is cheap for all, what is dear for what has changed.
    func check() throws {
        if !isHealed { add(.check, after: Int(SimulationLimits.checkInterval)) }
        try checkStatuses()
        let changed = unchecked
        unchecked = []
        let policy = storedPolicy.policy
        for (index, item) in changed.enumerated() {
            let isLast = !changed[(index + 1)...].contains { $0.place == item.place && $0.document == item.document }
            guard isLast else { continue }
            var random = checking
            defer { checking = random }
            func shuffle(_ items: [Delivery.Item]) -> [Delivery.Item] { random.shuffle(items) }
            try checkMergeLaws(item.document, item.place, policy, shuffle)
            let other = Model.Place(node: (item.place.node + 1) % plan.nodes, database: item.place.database)
            try checkUnion(item.document, item.place, other, policy)
        }
    }

    private func checkMergeLaws(
        _ id: DocumentID, _ place: Model.Place, _ policy: some MergePolicy,
        _ shuffle: ([Delivery.Item]) -> [Delivery.Item]
    ) throws { try model.checkMergeLaws(id, at: place, policy: policy, shuffle: shuffle) }

    private func checkUnion(
        _ id: DocumentID, _ one: Model.Place, _ other: Model.Place, _ policy: some MergePolicy
    ) throws { try model.checkUnion(id, one, other, policy: policy) }

    /// S19: who says that it is in sync with a peer has a digest that the peer had lately.
    private func checkStatuses() throws {
        for node in nodes where node.isRunning && node.pausedUntil <= now {
            for link in node.links {
                for database in 0..<plan.databases where isInSync(link, database) {
                    let mine = Model.Place(node: node.index, database: database)
                    let peer = Model.Place(node: link.peer, database: database)
                    let since = now > SimulationLimits.statusLag ? now - SimulationLimits.statusLag : 0
                    // Documents that one of them purged are left out of the comparison by both.
                    if model.hasPurges(database) { continue }
                    let lately = now > SimulationLimits.ownStatusLag ? now - SimulationLimits.ownStatusLag : 0
                    let digests = model[mine].digests(since: lately)
                    guard digests.contains(where: { model[peer].had($0, since: since) }) else {
                        throw Violation(
                            .statusHonesty,
                            "node \(node.index) says that it is in sync with node \(link.peer), which never had its digest"
                        )
                    }
                }
            }
        }
    }

    func isInSync(_ link: NodeLink, _ database: Int) -> Bool {
        if sabotage == .alwaysInSync { return link.isOpened }
        return link.statuses[database]?.isInSync ?? false
    }

    /// S16: what one connection makes a node hold.
    func checkBuffered(_ node: SimulatedNode, _ connection: UInt64, _ end: Int) throws {
        let bytes = network.outboxBytes(connection, end: end)
        if bytes > SimulationLimits.bufferedBytes {
            throw Violation(.boundedQueues, "node \(node.index) holds \(bytes) bytes for one connection")
        }
    }

    /// Between honest nodes no rule of the protocol is broken.
    func checkGoodbye(_ node: SimulatedNode, _ end: LinkEnd) throws {
        if end.goodbye.code == .protocolError {
            throw Violation(
                .noErrorFromInside, "a link of node \(node.index) ended with a protocol error: \(end.goodbye.text)")
        }
    }

    /// S1, S8, S13: a store that was closed or lost its process holds what was committed, and nothing else.
    func checkReopened(_ node: SimulatedNode, _ database: SimulatedDatabase) throws {
        let place = Model.Place(node: node.index, database: database.number)
        do {
            let summary = database.store.summary
            let known = model[place]
            guard summary.position.sequence == known.sequence, summary.digest == known.digest else {
                throw Violation(
                    summary.position.sequence < known.sequence ? .acknowledgedDurability : .atomicApply,
                    "node \(node.index) closed at \(known.sequence) and opened at \(summary.position.sequence)")
            }
            let page = try database.reader.changes(after: 0, limit: 1_000_000)
            let present = known.documents.filter { known[$0] != nil }
            guard page.changes.count == present.count, summary.documents == UInt64(present.count) else {
                throw Violation(
                    .atomicApply, "node \(node.index) has \(page.changes.count) documents and had \(present.count)")
            }
            for change in page.changes {
                guard let state = known[change.document], state.sequence == change.sequence,
                    try database.leaves(of: change).map(\.revision) == state.leaves.map(\.revision)
                else { throw Violation(.atomicApply, "\(change.document) on node \(node.index) is not what it was") }
            }
            try checkDigest(node, database, summary.digest)
        } catch let error as StoreError {
            throw Violation(.noErrorFromInside, "node \(node.index): \(error)")
        }
    }

    /// The running digest is the sum over all documents.
    private func checkDigest(_ node: SimulatedNode, _ database: SimulatedDatabase, _ running: Digest256) throws {
        var sum = Digest256.zero
        for range in try database.reader.rangeDigests().ranges { sum += range.digest }
        guard sum == running else {
            throw Violation(.atomicApply, "the digest of node \(node.index) is not the sum over its documents")
        }
    }
}

extension Model {
    /// Whether some node has purged a document of the database.
    func hasPurges(_ database: Int) -> Bool {
        (0..<nodes).contains { !self[Place(node: $0, database: database)].purged.isEmpty }
    }
}
