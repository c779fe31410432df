extension RevisionTree {
    /// Cuts each branch to a leaf and its `limit` nearest ancestors. A leaf and its parent always stay.
    /// - Complexity: O(leaves * limit * log n).
    package mutating func stem(to limit: Int) {
        let limit = max(1, limit)
        if nodes.count <= limit + 1 { return }
        var kept: [RevisionID] = []
        for leaf in leaves {
            var next: RevisionID? = leaf.id
            for _ in 0...limit {
                guard let id = next, let node = self[id] else { break }
                kept.append(id)
                next = node.parent
            }
        }
        keep(only: kept.sorted())
    }

    /// Drops closed leaves more than `generations` below the winner, with the ancestors that no other leaf has: a rule
    /// of the tree alone, the same on every node. Nothing goes while all leaves are closed.
    package mutating func dropOldClosedLeaves(below generations: UInt64 = DocumentLimits.closedGenerations) {
        guard let winner, winner.kind != .closed else { return }
        let leaves = leaves
        let dropped = leaves.filter { Self.isDroppable($0.id, $0.kind, winner: winner.id, below: generations) }
        if dropped.isEmpty || !leaves.contains(where: { $0.kind != .closed }) { return }
        var kept: [RevisionID] = []
        for leaf in leaves where !dropped.contains(leaf) {
            var next: RevisionID? = leaf.id
            while let id = next, let node = self[id] {
                kept.append(id)
                next = node.parent
            }
        }
        keep(only: kept.sorted())
    }

    /// Whether the rule drops a leaf at once; a receiver does not take it.
    package static func isDroppable(
        _ leaf: RevisionID, _ kind: Revision.Kind, winner: RevisionID,
        below generations: UInt64 = DocumentLimits.closedGenerations
    ) -> Bool {
        kind == .closed && leaf.generation + generations < winner.generation
    }

    private mutating func keep(only ids: [RevisionID]) {
        nodes.removeAll { !Self.contains($0.id, in: ids) }
        for index in nodes.indices {
            if let parent = nodes[index].parent, !contains(parent) { nodes[index].parent = nil }
        }
    }
}
