import KithDocument

extension Node {
    func peerFindings(_ status: ControlStatus, now: Int64) -> [HealthFinding] {
        var found: [HealthFinding] = []
        found += clockFindings(now: now)
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
}
