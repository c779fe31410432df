import KithDocument

extension Node {
    func peerFindings(_ status: ControlStatus, now: Int64) -> [HealthFinding] {
        var found: [HealthFinding] = []
        if let (peer, offset) = skewedPeer(status) {
            found.append(
                HealthFinding(
                    code: .clockSkew, level: .warning,
                    summary:
                        "the clock of \(peer.name ?? peer.id) is \(offset.magnitude / 1_000) s \(offset > 0 ? "ahead of" : "behind") this one",
                    action:
                        "set both clocks by a time service; until then the clock that is ahead wins edits of one field"
                ))
        }
        if let peer = status.peers.first(where: { $0.state == .blocked }) {
            found.append(
                HealthFinding(
                    code: .peerBlocked, level: .critical,
                    summary: "replication with \(peer.name ?? peer.id) is blocked: \(peer.reason ?? "")",
                    action: "see: kith status \(peer.name ?? peer.id)"))
        }
        if let pause = pauses.pauses.first(where: { $0.holds(at: now) }) {
            let whom = pause.node.map { peers[$0]?.name ?? $0.short } ?? "all peers"
            found.append(
                HealthFinding(
                    code: .paused, level: .warning, summary: "replication with \(whom) is paused",
                    action: "end it with: kith resume"))
        }
        return found
    }

    private func skewedPeer(_ status: ControlStatus) -> (ControlStatus.Peer, Int64)? {
        for peer in status.peers where peer.connected {
            if let offset = peer.clockOffsetMilliseconds, offset.magnitude > NodeLimits.clockSkewMilliseconds {
                return (peer, offset)
            }
        }
        return nil
    }
}
