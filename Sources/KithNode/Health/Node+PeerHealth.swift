import KithDocument
import KithReplication

extension Node {
    func peerFindings(now: Int64) -> [HealthFinding] {
        let known = peers.values.sorted { $0.id < $1.id }
        return skewFindings(known) + blockedFindings(known, now: now) + pauseFindings(now: now)
    }

    private func skewFindings(_ known: [PeerState]) -> [HealthFinding] {
        let skewed = known.compactMap { peer -> (PeerState, Int64)? in
            guard peer.isOpen, let offset = peer.clockOffsetMilliseconds,
                offset.magnitude > NodeLimits.clockSkewMilliseconds
            else { return nil }
            return (peer, offset)
        }
        guard let (peer, offset) = skewed.first else { return [] }
        return [
            HealthFinding(
                code: .clockSkew, level: .warning,
                summary:
                    "the clock of \(peer.shownName) is \(offset.magnitude / 1_000) s \(offset > 0 ? "ahead of" : "behind") this one",
                action: "set both clocks by a time service; until then the clock that is ahead wins edits of one field")
        ]
    }

    private func blockedFindings(_ known: [PeerState], now: Int64) -> [HealthFinding] {
        let blocked = known.compactMap { peer -> (PeerState, String)? in
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
        guard let pause = pauses.pauses.first(where: { $0.holds(at: now) }) else { return [] }
        let whom = pause.node.map { peers[$0]?.shownName ?? $0.short } ?? "all peers"
        return [
            HealthFinding(
                code: .paused, level: .warning, summary: "replication with \(whom) is paused",
                action: "end it with: kith resume")
        ]
    }

    /// Why a database can't be replicated with a connected peer, the first of those; nil where none is blocked.
    func blockReason(of peer: PeerState) -> String? {
        guard peer.isOpen else { return nil }
        for name in peer.sessions.keys.sorted() {
            if case .failed(let reason)? = peer.sessions[name]?.state { return "\(name): \(reason)" }
        }
        return nil
    }
}
