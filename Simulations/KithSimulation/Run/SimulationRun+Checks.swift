import KithDocument
import KithMerge
import KithNode
import KithReplication
import KithStore
import KithTestSupport

extension SimulationRun {
    func checkFromTimeToTime() {
        guard !isReopening else { return }
        checked { try check() }
        world.after(SimulationLimits.checkInterval) { [unowned self] in checkFromTimeToTime() }
    }

    /// Checks between the events: what is cheap for all, what is dear for what has changed.
    func check() throws {
        markFromTimeToTime()
        try checkStatuses()
        try checkBuffers()
        try checkLivelock()
        try checkAccess()
        try checkMerges()
        try checkPeers()
        try checkTwins()
        try checkNextCheckpoints()
    }

    /// A commit that moves a checkpoint alone is told to nobody: one node after the other is looked at.
    private func checkNextCheckpoints() throws {
        checkpointsOf = (checkpointsOf + 1) % nodes.count
        try checkAllCheckpoints(nodes[checkpointsOf])
    }

    func checkAllCheckpoints(_ node: SimulatedNode) throws {
        for number in node.databases.keys.sorted() {
            if let database = node.databases[number] { try checkCheckpoints(node, database) }
        }
    }

    private func checkMerges() throws {
        var seen: Set<Place> = []
        let policy = storedPolicy
        for item in unchecked.reversed()
        where model.policies[item.place.database] != nil
            && seen.insert(Place(place: item.place, document: item.document)).inserted
        {
            var random = checking
            func shuffle(_ items: [Delivery.Item]) -> [Delivery.Item] { random.shuffle(items) }
            try checkLaws(item.document, item.place, policy, shuffle)
            checking = random
            let other = Model.Place(node: (item.place.node + 1) % plan.nodes, database: item.place.database)
            try checkUnion(item.document, item.place, other, policy)
        }
        unchecked = []
    }

    private struct Place: Hashable {
        let place: Model.Place
        let document: DocumentID
    }

    private var storedPolicy: any MergePolicy {
        StoredPolicy(number: 1, name: "", statement: plan.policy == "latest" ? [] : policyJSON(plan.policy)).policy
    }

    private func checkLaws(
        _ id: DocumentID, _ place: Model.Place, _ policy: some MergePolicy,
        _ shuffle: ([Delivery.Item]) -> [Delivery.Item]
    ) throws { try model.checkMergeLaws(id, at: place, policy: policy, shuffle: shuffle) }

    private func checkUnion(
        _ id: DocumentID, _ one: Model.Place, _ other: Model.Place, _ policy: some MergePolicy
    ) throws { try model.checkUnion(id, one, other, policy: policy) }

    // MARK: Status

    /// S19: who says that it is in sync with a peer has a digest that the peer had lately. Until a node has heard that the
    /// peer carries a database, it is in sync without that.
    private func checkStatuses() throws {
        for node in nodes {
            for place in (0..<plan.databases).map({ Model.Place(node: node.index, database: $0) })
            where model[place].lacksPurged { model[place].lastPurged = now }
        }
        for node in nodes {
            let wokeAt = node.machine.sleepsUntil
            guard let running = node.node, node.process?.isPaused == false, !node.isDamaged, !node.isOutsider,
                wokeAt == 0 || wokeAt + SimulationLimits.wakeLag <= now
            else { continue }
            for peer in nodes where peer !== node && !peer.isAbsent && !peer.isDamaged && !peer.isOutsider {
                guard running.isLinked(to: peer.id), !hasCopies(peer.id), !hasCopies(node.id),
                    peer.hadCopyAt.map({ $0 + SimulationLimits.statusLag <= now }) ?? true,
                    // A message that takes a minute is under way, and nobody can know what it says.
                    !network.isBusy(from: peer.machine.index, to: node.machine.index)
                else { continue }
                guard sabotage == .alwaysInSync || running.state(of: peer.id) == .inSync else { continue }
                note(.foundEqual)
                for number in node.databases.keys.sorted()
                where peer.databases[number] != nil {
                    try checkSync(node, peer, number)
                }
            }
        }
    }

    private func hasCopies(_ id: NodeID) -> Bool { nodes.filter { $0.id == id && !$0.isAbsent }.count > 1 }

    private func checkSync(_ node: SimulatedNode, _ peer: SimulatedNode, _ number: Int) throws {
        let mine = Model.Place(node: node.index, database: number)
        let its = Model.Place(node: peer.index, database: number)
        let since = now > SimulationLimits.statusLag ? now - SimulationLimits.statusLag : 0
        guard let carriedSince = model[its].carriedSince, carriedSince <= since else { return }
        // What either has purged is left out when the two compare, until something new of it has come.
        guard ![mine, its].contains(where: { (model[$0].lastPurged ?? 0) > since }) else { return }
        let lately = now > SimulationLimits.ownStatusLag ? now - SimulationLimits.ownStatusLag : 0
        let digests = model[mine].digests(since: lately)
        guard digests.contains(where: { model[its].had($0, since: since) }) else {
            throw Violation(
                .statusHonesty,
                "node \(node.index) says that it is in sync with node \(peer.index), which never had its digest")
        }
    }

    // MARK: Bounds and access

    /// S16: what one connection makes a node hold.
    private func checkBuffers() throws {
        for node in nodes {
            for connection in network.connections(of: node.machine.index) {
                guard let end = connection.end(of: node.machine), let channel = connection.ends[end].channel else {
                    continue
                }
                if channel.bufferedBytes > SimulationLimits.bufferedBytes {
                    throw Violation(
                        .boundedQueues, "node \(node.index) holds \(channel.bufferedBytes) bytes for one connection")
                }
            }
        }
    }

    /// L1: a node does not do one thing again and again without an end, whatever is wrong around it.
    private func checkLivelock() throws {
        for node in nodes {
            let begun = node.process?.begun ?? 0
            defer { node.workSeen = begun }
            guard begun - node.workSeen > SimulationLimits.workOfInterval else { continue }
            throw Violation(
                .convergence,
                "livelock: node \(node.index) did \(begun - node.workSeen) pieces of work within half a second")
        }
    }

    /// S15: nobody has a link to a node whose membership ended more than a moment ago.
    private func checkAccess() throws {
        for node in nodes where node.isOutsider {
            for other in nodes where !other.isOutsider && other.node?.knowsRevoked(node.id) == true {
                let since = other.knowsOutsiders[node.index, default: now]
                other.knowsOutsiders[node.index] = since
                guard other.node?.isLinked(to: node.id) == true, other.process?.isPaused == false,
                    now > max(since, other.process?.pausedUntil ?? 0) + SimulationLimits.revocationTime
                else { continue }
                throw Violation(.access, "node \(other.index) has a link to node \(node.index), which was revoked")
            }
        }
    }

    /// S21: what a node logs holds nothing of documents and keys.
    func checkSecrets(_ line: [UInt8], of node: SimulatedNode) {
        if line.holds(Operation.secret) || line.holds("PRIVATE KEY") {
            let text = String(decoding: line.dropLast(), as: UTF8.self)
            world.fail(Violation(.secrets, "node \(node.index) logs what it must not: \(text)"))
        }
        let isRefusal =
            !hasWrongPeers
            && (line.holds("refused a document")
                || hasOnlyMembers && (line.holds(": refused node-") || line.holds(" refuses this node: ")))
        guard isRefusal || line.holds("protocol error") else { return }
        let text = String(decoding: line.dropLast(), as: UTF8.self)
        if !isAboutHostile(text) {
            world.fail(Violation(.noErrorFromInside, "node \(node.index): \(text)"))
        }
    }

    /// Whether nobody is there whom others have reason to let in no more, or who speaks another version.
    private var hasOnlyMembers: Bool { !nodes.contains { $0.isOutsider || $0.version?.skew == .apart } }

    // MARK: Checkpoints

    /// S10: with each commit, who is up to N of a source has all that the source has up to N.
    func checkCheckpoints(_ node: SimulatedNode, _ database: ObservedDatabase) throws {
        guard plan.nodes <= SimulationLimits.checkedNodes, !node.isDamaged, !node.isOutsider else { return }
        let puller = Model.Place(node: node.index, database: database.number)
        let checkpoints: [NodeID: Position]
        do throws(StoreError) {
            checkpoints = try database.withReader { (reader) throws(StoreError) in try reader.checkpoints() }
        } catch {
            guard hasBadDisk(node) else { throw Violation(.noErrorFromInside, "node \(node.index): \(error)") }
            return
        }
        for source in nodes where source !== node && !source.isDamaged && !source.isOutsider {
            guard !hasCopies(source.id), source.id != node.id else { continue }
            guard let checkpoint = checkpoints[source.id], model[puller].checkpoints[source.index] != checkpoint else {
                continue
            }
            model[puller].checkpoints[source.index] = checkpoint
            let place = Model.Place(node: source.index, database: database.number)
            // Of a timeline that a disk was put back from, what came last is not the source's any more.
            guard
                checkpoint.timeline == model[place].timeline
                    || checkpoint.sequence <= model[place].lasts[checkpoint.timeline] ?? 0
            else { continue }
            note(.checkpointChecked)
            try model.checkCheckpoint(of: place, at: puller, checkpoint)
        }
    }

    // MARK: Reopening

    /// S1, S8, S13: a store that was closed or lost its process holds what was committed, and nothing else.
    /// - Parameter invariant: that it is what it was.
    func checkReopened(
        _ node: SimulatedNode, _ database: ObservedDatabase, orElse invariant: Invariant = .atomicApply
    ) throws {
        let place = Model.Place(node: node.index, database: database.number)
        let known = model[place]
        let summary = database.executor.summary
        guard summary.position.sequence == known.sequence, summary.digest == known.digest else {
            throw Violation(
                summary.position.sequence < known.sequence ? .acknowledgedDurability : .atomicApply,
                "node \(node.index) closed at \(known.sequence) and opened at \(summary.position.sequence)")
        }
        do throws(StoreError) {
            try database.withReader { (reader) throws(StoreError) in
                self.checked { try self.compare(reader, known, node, invariant) }
            }
        } catch {
            guard hasBadDisk(node) else { throw Violation(.noErrorFromInside, "node \(node.index): \(error)") }
        }
    }

    private func compare(
        _ reader: StoreReader, _ known: ReplicaModel, _ node: SimulatedNode, _ invariant: Invariant
    ) throws {
        let page = try reader.changes(after: 0, limit: 1_000_000)
        let present = known.documents.filter { known[$0] != nil }
        let changes = page.changes.filter { !HostileMember.isOwn($0.document) }
        guard changes.count == present.count else {
            throw Violation(
                invariant, "node \(node.index) has \(changes.count) documents and had \(present.count)")
        }
        for change in changes {
            guard let state = known[change.document], state.sequence == change.sequence,
                try reader.leaves(of: change).map(\.revision) == state.leaves.map(\.revision)
            else { throw Violation(invariant, "\(change.document) on node \(node.index) is not what it was") }
        }
    }

    /// The running digest is the sum over all documents.
    func checkSum(_ node: SimulatedNode, _ database: ObservedDatabase) throws {
        do {
            let sum = try database.withReader { (reader) throws(StoreError) -> Digest256 in
                var sum = Digest256.zero
                for range in try reader.rangeDigests().ranges { sum += range.digest }
                return sum
            }
            guard sum == database.executor.summary.digest else {
                throw Violation(.atomicApply, "the digest of node \(node.index) is not the sum over its documents")
            }
        } catch let error as StoreError {
            throw Violation(.noErrorFromInside, "node \(node.index): \(error)")
        }
    }
}
