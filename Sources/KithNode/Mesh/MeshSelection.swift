import KithDocument

/// Whom a node connects to: a pure function of who is known, the same on every node that knows the same.
///
/// Few nodes connect to all others. More of them are sorted by id into a ring, and each connects to those 1, 2, 4, 8 ...
/// places on, past any that can't be reached: links per node grow with the logarithm of their number, and so do the
/// hops between any two. Who can reach no more than so many connects to all of these: they may have no other way.
/// Readers stand outside the ring and attach to some of it.
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
        wanted(ring: Set(members).sorted(), isReachable: isReachable)
    }

    /// The same of members that are sorted and each there once.
    /// - Complexity: O(n), and for one who is no reader O(log n) as long as most can be reached.
    package func wanted(ring: [NodeID], isReachable: (NodeID) -> Bool) -> [NodeID] {
        if isReader { return readerAttachments(ring.filter { $0 != node && isReachable($0) }).sorted() }
        let place = Self.place(of: node, in: ring)
        let isThere = place < ring.count && ring[place] == node
        let others = isThere ? ring.count - 1 : ring.count
        if others < NodeLimits.fullMeshNodes { return ring.filter { $0 != node } }
        // The first after this node is at `place` where it is not in the ring itself.
        let start = isThere ? place : place - 1
        var wanted: Set<NodeID> = []
        var distance = 1
        while distance <= others {
            // The node `distance` places on or, where that is not reachable or wanted already, the next one round the ring.
            for turn in 0..<others {
                let step = (distance - 1 + turn) % others + 1
                let peer = ring[(start + step) % ring.count]
                if isReachable(peer), wanted.insert(peer).inserted { break }
            }
            distance *= 2
        }
        return wanted.sorted()
    }

    /// Where a node stands in an ascending list, or would.
    private static func place(of node: NodeID, in ring: [NodeID]) -> Int {
        var (low, high) = (0, ring.count)
        while low < high {
            let middle = (low + high) / 2
            if ring[middle] < node { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The nodes in an order that is another on each node, so that not all turn to the same.
    package func spread(_ nodes: [NodeID]) -> [NodeID] {
        nodes.map { (rank: rank(of: $0), id: $0) }
            .sorted { $0.rank != $1.rank ? $0.rank < $1.rank : $0.id < $1.id }
            .map(\.id)
    }

    /// Spread by a hash of the pair, so that many readers do not all choose the same nodes.
    private func readerAttachments(_ others: [NodeID]) -> [NodeID] {
        Array(spread(others).prefix(NodeLimits.readerLinks))
    }

    private func rank(of peer: NodeID) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in node.bytes + peer.bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash ^ (hash >> 29)
    }
}
