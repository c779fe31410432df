import KithDocument

/// Whom a node connects to: a pure function of who is known, the same on every node that knows the same.
///
/// Few nodes connect to all others. More of them are sorted by id into a ring, and each connects to those 1, 2, 4, 8 ...
/// places on, past any that can't be reached: links per node grow with the logarithm of their number, and so do the
/// hops between any two. Readers stand outside the ring and attach to some of it.
package struct MeshSelection: Sendable {
    package let node: NodeID
    package let isReader: Bool

    package init(node: NodeID, isReader: Bool) {
        self.node = node
        self.isReader = isReader
    }

    /// The peers this node wants a link to, ascending.
    /// - Parameters:
    ///   - members: nodes that may stand in the ring: no readers; this node may be among them.
    ///   - isReachable: false for a node to which no link could be made lately.
    /// - Complexity: O(n log n).
    package func wanted(members: [NodeID], isReachable: (NodeID) -> Bool) -> [NodeID] {
        let others = Set(members).subtracting([node]).sorted()
        if isReader { return readerAttachments(others.filter(isReachable)).sorted() }
        if others.count < NodeLimits.fullMeshNodes { return others }
        let ring = ringAfterThisNode(others)
        var wanted: Set<NodeID> = []
        var distance = 1
        while distance <= ring.count {
            // The node `distance` places on or, where that is not reachable, the next that is.
            if let peer = ring[(distance - 1)...].first(where: isReachable) { wanted.insert(peer) }
            distance *= 2
        }
        return wanted.sorted()
    }

    private func ringAfterThisNode(_ others: [NodeID]) -> [NodeID] {
        let start = others.firstIndex { node < $0 } ?? 0
        return Array(others[start...] + others[..<start])
    }

    /// Spread by a hash of the pair, so that many readers do not all choose the same nodes.
    private func readerAttachments(_ others: [NodeID]) -> [NodeID] {
        others.map { (rank: rank(of: $0), id: $0) }
            .sorted { $0.rank != $1.rank ? $0.rank < $1.rank : $0.id < $1.id }
            .prefix(NodeLimits.readerLinks).map(\.id)
    }

    private func rank(of peer: NodeID) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in node.bytes + peer.bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash ^ (hash >> 29)
    }
}
