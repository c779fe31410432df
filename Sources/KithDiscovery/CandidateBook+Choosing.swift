import KithDocument
import KithNetwork

/// Which addresses there are for a node, and which to dial next.
extension CandidateBook {
    /// All candidates of a node in the order in which they are to be tried: announced now and in a shared subnet, the
    /// other announced ones, static ones, those the node tells of itself, remembered ones (the latest first), and those of
    /// services that are gone.
    /// An address is named once, by its best source. For nil: the addresses of which nobody knows whose they are.
    ///
    /// - Complexity: the number of static and remembered addresses, and of the node's services.
    package func candidates(for node: NodeID?, now: UInt64) -> [Candidate] {
        var ranks: [[Candidate]] = [[], [], [], [], [], []]
        for service in servicesByNode[node] ?? [] {
            for found in service.addresses where node != nil || answeredBy[.numeric(found.address)] == nil {
                let rank = service.isPresent ? (found.sharesSubnet ? 0 : 1) : 5
                ranks[rank].append(
                    candidate(
                        .numeric(found.address), .discovered, service: service.name, interface: found.interface,
                        node: node))
            }
        }
        // A static address may be anybody's until somebody has answered there.
        for address in statics where staticNodes[address] == node || staticNodes[address] == nil && node == nil {
            ranks[2].append(candidate(address, .static, node: node))
        }
        if let node {
            for address in advertised[node] ?? [] { ranks[3].append(candidate(address, .advertised, node: node)) }
            for entry in remembered where entry.node == node {
                ranks[4].append(candidate(entry.address, .remembered, node: node))
            }
        }
        var seen: Set<Endpoint> = []
        return ranks.joined().filter { (own[$0.address] ?? 0) <= now && seen.insert($0.address).inserted }
    }

    /// The candidates that are to be dialled where the node is wanted now: those that are due, and when none is, all but
    /// those where another node answered.
    /// - Parameter isThere: whether that other one still is there, which leaves nothing to find out.
    package func wanted(
        for node: NodeID, now: UInt64, isThere: (NodeID, Endpoint) -> Bool = { _, _ in false }
    ) -> [Candidate] {
        let all = candidates(for: node, now: now).filter { candidate in
            answerer(at: candidate.address, insteadOf: node).map { !isThere($0, candidate.address) } ?? true
        }
        let due = all.filter { ($0.notBefore ?? 0) <= now }
        return due.isEmpty ? all.filter { answerer(at: $0.address, insteadOf: node) == nil } : due
    }

    private func answerer(at address: Endpoint, insteadOf node: NodeID) -> NodeID? {
        attempts[Key(node: node, address: address)]?.answerer
    }

    /// When the next candidate of a node is due: now or earlier when one is; nil when there is none.
    package func nextDue(for node: NodeID?, now: UInt64) -> UInt64? {
        candidates(for: node, now: now).map { $0.notBefore ?? now }.min()
    }

    /// Every node that some address is known of, in order.
    package var nodes: [NodeID] {
        var all = Set(servicesByNode.keys.compactMap(\.self))
        all.formUnion(staticNodes.values)
        all.formUnion(remembered.map(\.node))
        all.formUnion(advertised.keys)
        return all.sorted()
    }

    /// Every node that was reached once at an address that is remembered or static.
    package var rememberedNodes: Set<NodeID> { Set(remembered.map(\.node)).union(staticNodes.values) }

    /// Whether the address may be some node's that is known, whatever happened there.
    ///
    /// - Complexity: the number of all addresses.
    package func isKnown(_ address: Endpoint) -> Bool {
        staticNodes[address] != nil || remembered.contains { $0.address == address }
            || advertised.values.contains { $0.contains(address) }
            || services.contains { service in
                service.nodeID != nil && service.addresses.contains { .numeric($0.address) == address }
            }
    }

    private func candidate(
        _ address: Endpoint, _ source: Candidate.Source, service: InstanceName? = nil, interface: UInt32? = nil,
        node: NodeID?
    ) -> Candidate {
        let attempt = attempts[Key(node: node, address: address)]
        return Candidate(
            address: address, source: source, service: service, interface: interface, node: node,
            lastTried: attempt?.lastTried, lastError: attempt?.lastError, notBefore: attempt?.notBefore)
    }
}
