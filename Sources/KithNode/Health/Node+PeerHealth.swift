import KithDocument
import KithReplication

extension Node {
    func peerFindings(now: Int64) -> [HealthFinding] {
        let open = openPeers
        return clockFindings(open, now: now) + blockedFindings(open, now: now) + pauseFindings(now: now)
    }

    private func blockedFindings(_ open: [PeerState], now: Int64) -> [HealthFinding] {
        let blocked = open.compactMap { peer -> (PeerState, String)? in
            guard pauses.pause(of: peer.id, now: now) == nil, let reason = blockReason(of: peer) else { return nil }
            return (peer, reason)
        }
        guard let (peer, reason) = blocked.first else { return [] }
        let others = blocked.count == 1 ? "" : " (and \(blocked.count - 1) more)"
        return [
            HealthFinding(
                code: .peerBlocked, level: .critical,
                summary: "replication with \(peer.shownName)\(others) is blocked: \(reason)",
                action: "see: kith status \(peer.shownName)")
        ]
    }

    private func pauseFindings(now: Int64) -> [HealthFinding] {
        guard let pause = pauses.pauses.first(where: { $0.holds(at: now) }) else { return databasePauseFindings() }
        let whom = pause.node.map { peers[$0]?.shownName ?? $0.short } ?? "all peers"
        return [
            HealthFinding(
                code: .paused, level: .warning, summary: "replication with \(whom) is paused",
                action: "end it with: kith resume")
        ]
    }

    private func databasePauseFindings() -> [HealthFinding] {
        let others = replication.others.isPaused ? "all databases without a setting" : nil
        guard let name = replication.paused.first ?? others else { return [] }
        let more = replication.paused.count > 1 ? " and \(replication.paused.count - 1) more" : ""
        return [
            HealthFinding(
                code: .paused, level: .warning, summary: "replication of \(name)\(more) is paused",
                action: "end it with: kith " + (replication.paused.isEmpty ? "resume" : "sync \(name) --resume"))
        ]
    }

    /// Why a database can't be replicated with a connected peer, the first of those; nil where none is blocked.
    func blockReason(of peer: PeerState) -> String? { peer.isOpen ? failures(with: peer).first : nil }
}
