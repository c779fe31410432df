import KithDocument
import KithReplication
import KithSystem
import KithTransport

/// Paths on which large packets are lost: smaller ones are used there.
extension Node {
    /// The largest segment to agree on with a target; nil for no limit.
    func segmentBytes(for target: DialTarget, now: Instant) -> Int? {
        if let node = target.node, peers[node]?.link != nil, !isSuspect(node) {
            // Beside a link that works with small ones.
            paths.retrying(target, now: now)
            return nil
        }
        return paths.segmentBytes(for: target)
    }

    /// Whether large packets are to be tried again on the way to a node.
    func isPathRetryDue(_ node: NodeID, now: Instant) -> Bool {
        guard let driver = linkInUse(to: node), driver.connection.segmentBytes != nil else {
            return false
        }
        return paths.isRetryDue(.node(node), now: now)
    }

    /// What a dial that failed says of the path.
    func notePath(_ target: DialTarget, _ error: TransportError?, now: Instant) {
        // A retry beside a link that works proves nothing about that link.
        if let node = target.node, peers[node]?.link != nil, !isSuspect(node) { return }
        switch error {
        case .largePacketsLost: lostLargePackets(target)
        case .timedOut where error?.isSilentHandshake == true: paths.handshakeSilent(target, now: now)
        case .timedOut: paths.unreachable(target)
        default: break
        }
    }

    /// Large packets to a target, or from it, were lost: it is dialled with smaller ones at once.
    func lostLargePackets(_ target: DialTarget) {
        let now = clock.now
        paths.lostLarge(target, now: now)
        log(
            .warning, .mesh, "large packets are lost on the way to a peer: smaller ones are tried",
            ["peer": target.node?.short ?? "?", "name": name(of: target)])
        schedule.hasten(target, now: now)
    }

    /// Whether a link is kept to small packets because large ones were seen to be lost.
    func losesLargePackets(_ peer: PeerState) -> Bool {
        guard let driver = linkInUse(to: peer), driver.connection.segmentBytes != nil else {
            return false
        }
        return paths.isKnownToLose(.node(peer.id))
    }

    private func name(of target: DialTarget) -> String {
        switch target {
        case .node(let node): peers[node]?.name ?? node.short
        case .address(let text): text
        }
    }
}
