import KithDocument
import KithNetwork
import KithTransport

/// Which addresses are this machine's, and which are this node.
struct OwnAddresses {
    private let port: UInt16
    private let listens: [Endpoint]
    private let names: [Endpoint: [NetworkAddress]]
    private let interfaces = Interface.all()

    /// - Parameters:
    ///   - listens: what the node listens on; none where that is not known.
    ///   - names: the addresses of names, as far as they were found out.
    init(port: UInt16, listens: [Endpoint], names: [Endpoint: [NetworkAddress]]) {
        self.port = port
        self.listens = listens
        self.names = names
    }

    private func addresses(_ endpoint: Endpoint) -> [NetworkAddress] {
        if case .numeric(let address) = endpoint { [address] } else { names[endpoint] ?? [] }
    }

    private func isHere(_ address: NetworkAddress) -> Bool {
        address.isLoopback
            || interfaces.contains { $0.ip == address.ip && (address.scope == 0 || $0.index == address.scope) }
    }

    /// Whether it leads to this machine.
    func isHere(_ endpoint: Endpoint) -> Bool { addresses(endpoint).contains(where: isHere) }

    /// The same of an address in a status.
    func isHere(_ text: String?) -> Bool { text.flatMap { try? Endpoint($0) }.map { isHere($0) } ?? false }

    /// Whether it leads to this node: this machine, the node's port, and an address that the node listens on.
    func isNode(_ endpoint: Endpoint) -> Bool {
        endpoint.port == port && addresses(endpoint).contains { isHere($0) && isListenedOn($0) }
    }

    private func isListenedOn(_ address: NetworkAddress) -> Bool {
        listens.isEmpty
            || listens.contains { listen in
                guard case .numeric(let own) = listen else { return true }
                return own.isUnspecified || own.ip == address.ip
            }
    }
}

extension DoctorFacts.RunningNode {
    /// Notes which of its links go to other nodes of this machine.
    mutating func notePlaces(_ own: OwnAddresses) {
        peers = peers.map { peer in
            var peer = peer
            peer.isHere = own.isHere(peer.address)
            return peer
        }
    }
}

extension Doctor {
    /// Whether a configured address is one of a peer that is connected, which is not dialled beside its link.
    static func isOfConnected(peer endpoint: Endpoint, _ status: JSONValue?) -> Bool {
        let text = endpoint.description
        return (status?["peers"]?.array ?? []).filter(\.isLinked).contains { peer in
            peer["address"]?.string == text
                || (peer["candidates"]?.array ?? []).contains { $0["address"]?.string == text }
        }
    }

    /// Who has the port of a node that does not run, where somebody has: it may be another node of this machine.
    func portHolder(_ facts: DoctorFacts, _ identity: Identity) -> DoctorFacts.DialOutcome? {
        guard facts.ownPortFailure != nil, status == nil, let context = try? Self.context(identity, directory.path),
            let address = NetworkAddress(host: "127.0.0.1", port: facts.port)
        else { return nil }
        return DialProbe.run(
            [DialProbe.Target(node: nil, endpoint: .numeric(address))], as: identity.nodeID, context: context,
            milliseconds: DoctorLimits.ownNodeMilliseconds
        ).first
    }
}
