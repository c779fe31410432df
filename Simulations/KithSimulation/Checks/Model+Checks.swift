import KithDocument
import KithMerge

// What must hold, against what clients did and were told. docs/simulation.md lists the checks by their names.

extension Model {
    /// S1: a client is told that its write is done.
    mutating func acknowledge(_ revision: RevisionID, of id: DocumentID, at place: Place) throws(Violation) {
        // It may have been purged in the same moment.
        guard let known = self[place.database, id][revision],
            known.history.firstMissing(
                in: self[place].knownOrPurged(id), ignoring: self[place.database, id].initials) == nil
        else {
            throw Violation(
                .acknowledgedDurability, "\(id) on node \(place.node): \(revision) was acknowledged and is not there")
        }
        self[place.database, id].acknowledge(revision)
    }

    /// S6: a read gives the winner that the rules name, whatever came first.
    func checkRead(
        _ id: DocumentID, at place: Place, revision: RevisionID?, body: [UInt8]?, isDeleted: Bool
    ) throws(Violation) {
        let leaves = self[place][id]?.leaves.map(\.revision) ?? []
        let live = leaves.filter { $0.kind.isLive }
        let winner = live.max { $0.id < $1.id } ?? leaves.filter { $0.kind == .deleted }.max { $0.id < $1.id }
        guard let winner else { return }  // Nothing is known, or all is closed: then what was closed may show.
        guard revision == winner.id, isDeleted == live.isEmpty else {
            throw Violation(
                .winnerDeterminism,
                "\(id) on node \(place.node): a read gave \(revision?.description ?? "nothing"), the winner is \(winner.id)"
            )
        }
        if !live.isEmpty, body != winner.body {
            throw Violation(.fidelity, "\(id) on node \(place.node): a read gave another body than \(winner.id) has")
        }
    }

    /// S10: who has taken a source's changes up to here has all that the source has by then.
    func checkCheckpoint(of source: Place, at puller: Place, _ checkpoint: Position) throws(Violation) {
        // Each of a replica's copies costs as much as a document's check.
        let (its, own) = (self[source], self[puller])
        guard checkpoint.sequence <= its.sequence else {
            throw Violation(
                .checkpointHonesty,
                "node \(puller.node) is at \(checkpoint.sequence) of node \(source.node), which is at "
                    + "\(its.sequence)")
        }
        for id in its.documents {
            guard let state = its[id], state.sequence <= checkpoint.sequence else { continue }
            let (document, mine) = (self[source.database, id], own[id])
            let has = Self.has(state.knowledge, in: own.knownOrPurged(id), mine?.leaves ?? [], document)
            if !has || mine == nil && !own.lacks(id) {
                throw Violation(
                    .checkpointHonesty,
                    "node \(puller.node) is at \(checkpoint.sequence) of node \(source.node) and lacks \(id), "
                        + "which is at \(state.sequence)")
            }
        }
    }

    /// Whether who knows these writes and shows these leaves has what matters of some writes.
    private static func has(
        _ writes: WriteSet, in known: WriteSet, _ leaves: [Delivery.Item], _ document: DocumentModel
    ) -> Bool {
        if writes.firstMissing(in: known, ignoring: document.initials) == nil { return true }
        var ignored = document.overtaken(by: leaves)
        ignored.formUnion(document.initials)
        return writes.firstMissing(in: known, ignoring: ignored) == nil
    }

    /// S5, S6, S7: the leaves of a document, taken in any order and more than once, settle into the same leaves.
    func checkMergeLaws(
        _ id: DocumentID, at place: Place, policy: some MergePolicy, shuffle: ([Delivery.Item]) -> [Delivery.Item]
    ) throws(Violation) {
        guard let state = self[place][id] else { return }
        var first: RevisionTree?
        for _ in 0..<3 {
            let replayed = replay(id, [shuffle(state.leaves + state.leaves.prefix(2))], policy)
            guard replayed.leaves.map(\.id) == state.leaves.map(\.revision.id) else {
                throw Violation(
                    .mergeLaws, "\(id) on node \(place.node): its leaves in another order give other leaves")
            }
            for item in state.leaves where item.revision.kind.isLive {
                guard replayed.document.body(of: item.revision.id) == item.revision.body else {
                    throw Violation(
                        .mergeLaws, "\(id) on node \(place.node): its leaves in another order give other bodies")
                }
            }
            if let first, first != replayed.document.tree {
                throw Violation(.mergeLaws, "\(id) on node \(place.node): the order of its leaves leaves a trace")
            }
            first = replayed.document.tree
        }
    }

    /// S5 across nodes: what two nodes hold joins to the same leaves whoever takes it from whom.
    func checkUnion(
        _ id: DocumentID, _ one: Place, _ other: Place, policy: some MergePolicy
    ) throws(Violation) {
        guard let mine = self[one][id], let its = self[other][id] else { return }
        let left = replay(id, [mine.leaves, its.leaves], policy)
        let right = replay(id, [its.leaves, mine.leaves], policy)
        guard Self.counted(left.leaves.map(Leaf.init)) == Self.counted(right.leaves.map(Leaf.init)) else {
            throw Violation(
                .mergeLaws,
                "\(id): nodes \(one.node) and \(other.node) make other leaves of each other's revisions: "
                    + "\(Self.difference(left.leaves, right.leaves)) of \(Self.describe(mine.leaves)) and "
                    + "\(Self.describe(its.leaves))")
        }
    }

    /// The leaves that all nodes must agree on: closed ones come and go, and a deletion of which another leaf knows all
    /// is a leaf only where the history between the two was cut.
    private static func counted(_ leaves: [Leaf]) -> [Leaf] {
        let open = leaves.filter { $0.kind != .closed }
        return open.filter { leaf in
            leaf.kind != .deleted
                || !open.contains { other in
                    other.id != leaf.id && leaf.version.isWithin(other.version)
                        && (other.kind != .deleted || !other.version.isWithin(leaf.version) || other.id > leaf.id)
                }
        }
    }

    private static func counted(_ state: ReplicaModel.State?) -> [Leaf] {
        counted((state?.leaves ?? []).map { Leaf($0.revision) })
    }

    private struct Leaf: Equatable {
        let id: RevisionID
        let kind: Revision.Kind
        let version: Version

        init(_ revision: Revision) {
            id = revision.id
            kind = revision.kind
            version = revision.version
        }

        init(_ node: RevisionTree.Node) {
            id = node.id
            kind = node.kind
            version = node.content?.version ?? Version()
        }
    }

    /// The documents that are not the same everywhere, and what the nodes have of the first of them, for a message.
    func differences(_ places: [Place]) -> [String] {
        var seen: Set<DocumentID> = []
        let documents = places.flatMap { self[$0].documents }.filter { seen.insert($0).inserted }
        let different = documents.filter { id in
            // Who has purged it need have nothing of it.
            let counted = places.filter { !self[$0].lacks(id) }.map { Self.counted(self[$0][id]) }
            return counted.contains { $0 != counted[0] }
        }
        if different.isEmpty { return [] }
        return ["\(different.count) documents differ: \(different.map(\.description).shown(", "))"]
            + different.prefix(SimulationLimits.shown).map { "\($0): \(standings(of: $0, places))" }
    }

    /// Who has which leaves of a document.
    private func standings(of id: DocumentID, _ places: [Place]) -> String {
        var groups: [(leaves: [Leaf], places: [Place])] = []
        for place in places {
            let leaves = Self.counted(self[place][id])
            if let group = groups.firstIndex(where: { $0.leaves == leaves }) {
                groups[group].places.append(place)
            } else {
                groups.append((leaves, [place]))
            }
        }
        return groups.map { group in
            let nodes = group.places.map { "\($0.node)" }.shown(" ")
            return "nodes \(nodes) have [\(group.leaves.map { "\($0.kind) \($0.id)" }.shown(", "))]"
        }.shown(", ")
    }

    private static func difference(_ one: [RevisionTree.Node], _ other: [RevisionTree.Node]) -> String {
        let mine = one.filter { !other.contains($0) }.map { "\($0.kind) \($0.id)" }
        let its = other.filter { !one.contains($0) }.map { "\($0.kind) \($0.id)" }
        return "[\(mine.shown(", "))] against [\(its.shown(", "))]"
    }

    /// What a store makes of deliveries, one after the other.
    private func replay(_ id: DocumentID, _ deliveries: [[Delivery.Item]], _ policy: some MergePolicy) -> Replayed {
        var document = Document(id: id)
        var tree = RevisionTree()
        for items in deliveries {
            let (open, closed) = (
                items.filter { $0.revision.kind != .closed }, items.filter { $0.revision.kind == .closed }
            )
            for item in open + closed { _ = document.receive(item) }
            document.settle(policy)
            tree = document.tree
            tree.dropOldClosedLeaves()
            tree.stem(to: DocumentLimits.ancestors)
            document = Document(id: id, tree: tree, bodies: document.bodies)
        }
        return Replayed(document: document, leaves: tree.leaves)
    }

    private struct Replayed {
        let document: Document
        let leaves: [RevisionTree.Node]
    }

    /// L1: what all nodes must agree on in the end, and what must be there. Who has purged a document need have nothing of it,
    /// nor pass it on, until something new has come.
    /// - Parameter areJoined: whether there is a way of links between any two of these.
    func checkConverged(_ places: [Place], database: Int, areJoined: ([Place]) -> Bool) throws(Violation) {
        func holders(_ id: DocumentID) -> [Place] {
            let holders = places.filter { !self[$0].lacks(id) }
            return holders.count == places.count || areJoined(holders) ? holders : []
        }
        for place in places {
            for id in self[place].documents {
                let holders = holders(id)
                guard holders.contains(place) else { continue }
                for other in holders {
                    guard Self.counted(self[place][id]) == Self.counted(self[other][id]) else {
                        throw Violation(.convergence, "\(id) differs on nodes \(place.node) and \(other.node)")
                    }
                }
                try checkComplete(id, place)
            }
        }
        // What nobody shows at all.
        for document in allDocuments(database) {
            guard let place = holders(document.id).first, self[place][document.id] == nil,
                let write = document.writes.first(where: \.mustStay)
            else {
                continue
            }
            throw Violation(
                .noLoss, "\(document.id): \(write.revision), written on node \(write.node), is nowhere any more")
        }
    }

    /// S2: every write that was ever made is in the past of what is shown, but deletions that make no difference.
    private func checkComplete(_ id: DocumentID, _ place: Place) throws(Violation) {
        guard let state = self[place][id] else { return }
        let document = self[place.database, id]
        if !state.isOpen, let write = document.firstThatMustShow {
            throw Violation(
                .noLoss,
                "\(id) on node \(place.node) has nothing but closed leaves, and \(write.revision) was written on node "
                    + "\(write.node)")
        }
        for (number, write) in document.writes.enumerated()
        where write.mustStay && !Self.has(WriteSet(number), in: state.knowledge, state.leaves, document) {
            throw Violation(.noLoss, "\(id): \(write.revision), written on node \(write.node), is nowhere any more")
        }
        let live = state.leaves.count { $0.revision.kind.isLive }
        // While revisions are on their way there may be nothing but what closed them.
        if live == 0, document.mustLive(state.knowledge, isInTheEnd: true) {
            throw Violation(
                .noLoss,
                "\(id) is gone on node \(place.node) though no deletion had seen all of it: it has "
                    + Self.describe(state.leaves))
        }
        if policies[place.database]?.merges == true, live > 1 {
            throw Violation(.convergence, "\(id) has \(live) live leaves that nobody merges")
        }
    }
}
