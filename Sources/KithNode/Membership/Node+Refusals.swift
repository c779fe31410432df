import KithDocument
import KithNetwork
import KithReplication
import KithSystem
import KithTransport

// Who does not let whom in: kept for each peer and shown on both sides.

extension Node {
    /// Why a revoked node is refused, as its peers' status shows it.
    static let revokedReason = "revoked: the group has ended its membership"

    /// The listener turned somebody away during the handshake. The log has each attempt already.
    func noteStranger(_ address: String, _ error: TransportError) {
        let host = Self.host(of: address)
        switch error {
        case .refused(.revoked(let node)):
            note(node, at: host, isByPeer: false, Self.revokedReason)
            if peers[node] == nil { peers[node] = PeerState(node, now: clock.wallMilliseconds) }
            changed()
        case .refused(let refusal): note(nil, at: host, isByPeer: false, refusal.message)
        // Whoever dialled has not proved anything yet, so this may be anybody's word.
        case .refusedByPeer: note(nil, at: host, isByPeer: true, error.message)
        default: break
        }
    }

    /// A dial failed; noted where one side turned the other away.
    /// - Parameter expected: the node that was to be at the address.
    func noteRefusedDial(_ address: Endpoint, _ expected: NodeID?, _ error: TransportError) {
        switch error {
        case .refused(.revoked(let node)): note(node, at: address.description, isByPeer: false, Self.revokedReason)
        case .refused(let refusal): note(nil, at: address.description, isByPeer: false, refusal.message)
        case .refusedByPeer: note(nil, at: address.description, isByPeer: true, error.message)
        default: break
        }
    }

    /// A link ended: whether because one of the two does not trust the other, or can't understand it.
    func noteRefusal(_ driver: LinkDriver, _ end: LinkEnd?, _ ending: Connection.Ending, _ reason: String) {
        let peer = driver.peer.nodeID
        if let end {
            if end.isByPeer, end.goodbye.code == .paused {
                let now = clock.wallMilliseconds
                var state = peers[peer] ?? PeerState(peer, now: now)
                state.pausedThere = (reason, state.pausedThere?.since ?? now)
                state.refusal = nil
                peers[peer] = state
            } else if end.isByPeer, end.goodbye.code == .duplicate {
                refuse(peer, reason)
                turnedAwayAsTwin(by: peer)
            } else if [.notTrusted, .versionMismatch].contains(end.goodbye.code) {
                refuse(peer, isRevoked(peer) ? Self.revokedReason : reason)
                note(peer, at: driver.connection.remote, isByPeer: end.isByPeer, peers[peer]?.refusal ?? reason)
            } else if end.goodbye.code == .protocolError {
                note(
                    peer, at: driver.connection.remote, isByPeer: end.isByPeer,
                    "broke the protocol: \(end.goodbye.text)", lasts: true)
            }
        } else if case .failed(.refusedByPeer(let alert)) = ending {
            refuse(peer, reason)
            // Only who was dialled has proved who it is before it judges.
            if driver.isDialled, alert == TransportError.revokedAlert { peers[peer]?.saysRevoked = true }
            note(peer, at: driver.connection.remote, isByPeer: true, reason)
        }
    }

    private func refuse(_ peer: NodeID, _ reason: String) {
        peers[peer]?.refusal = reason
        peers[peer]?.pausedThere = nil
    }

    /// A peer sent statements that neither the root nor an admin of this group has signed.
    func noteForged(_ count: Int, of driver: LinkDriver) {
        note(
            driver.peer.nodeID, at: driver.connection.remote, isByPeer: false,
            "sent statements that no admin of this group has signed, or that can't be read; they count for nothing",
            lasts: true)
    }

    private func note(_ node: NodeID?, at address: String?, isByPeer: Bool, _ reason: String, lasts: Bool = false) {
        let now = clock.wallMilliseconds
        guard refusals.note(node: node, address: address, isByPeer: isByPeer, reason: reason, lasts: lasts, now: now)
        else { return }
        let whom = node.map { name(of: $0) } ?? "somebody at \(address ?? "?")"
        log(.warning, .link, isByPeer ? "\(whom) refuses this node: \(reason)" : "refused \(whom): \(reason)")
        changed()
    }

    func shownRefusals() -> [ControlStatus.Refused] {
        refusals.latest.map { entry in
            var shown = ControlStatus.Refused()
            shown.node = entry.node?.description
            shown.name = entry.node.flatMap { knownName(of: $0) }
            shown.address = entry.address
            shown.isByPeer = entry.isByPeer
            shown.reason = entry.reason
            shown.count = entry.count
            shown.since = entry.since
            shown.lastAt = entry.lastAt
            return shown
        }
    }

    /// An address without the port.
    private static func host(of address: String) -> String {
        (try? Endpoint(address, defaultPort: 0))?.host ?? address
    }
}
