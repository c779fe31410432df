import KithDiscovery
import KithDocument
import KithSystem
import KithTransport

// What whoever runs a node in his own process asks of it, beside what it shows on its control socket. On its queue.

extension Node {
    /// The nodes with which links are open, ascending.
    package var linkedPeers: [NodeID] { openLinks.map(\.peer.nodeID).sorted() }

    /// Whether a link with a node is open: both have said who they are and what they carry.
    package func isLinked(to node: NodeID) -> Bool { peers[node]?.isOpen == true }

    /// How many other nodes the presence map has.
    package var presentNodes: Int { presence.count }

    /// How a peer stands, as status shows it.
    package func standing(of node: NodeID) -> ControlStatus.Peer { peerStatus(node, now: clock.wallMilliseconds) }

    package var isReader: Bool { role == .reader }

    package var isAdmin: Bool { identity.admin != nil && !isRevokedHere }

    /// Whether this node knows that another one's membership was revoked.
    package func knowsRevoked(_ node: NodeID) -> Bool { isRevoked(node) }

    /// What this node knows of its group, as it is kept on disk.
    package var encodedMembership: [UInt8] { membership.encoded }

    /// Tries to reach a node now, whatever failed before.
    package func dialNow(_ node: NodeID) {
        book.hurry(node)
        schedule.hasten(.node(node), now: clock.now)
        evaluate()
    }
}
