import KithDocument
import KithTransport

extension Node {
    /// Takes the names and times of the last run for peers that no link tells of yet.
    func readPeerNames(_ lines: [String]) {
        peerNames = PeerNames(lines: lines)
        for member in membership.members where member.revocation != nil { peerNames.forget(member.node) }
        for (node, entry) in peerNames.entries where node != id {
            var peer = peers[node] ?? PeerState(node, now: entry.seenAt)
            peer.name = entry.name
            peer.seenBeforeAt = entry.seenAt
            peer.stateSince = entry.seenAt
            peers[node] = peer
        }
    }

    /// A peer told its name, or its link ended: that is kept with the next look at the mesh, and when the node stops.
    func notePeerName(_ node: NodeID) {
        guard let peer = peers[node], let name = peer.name, let seen = peer.lastExchangeAt else { return }
        // To the minute, so that a link that comes and goes does not write the file each time.
        peerNames.note(node, name: name, seenAt: seen / 60_000 * 60_000)
    }
}
