import KithDiscovery
import KithDocument
import KithReplication
import KithSystem
import KithTransport

// What whoever runs a node in his own process asks of it, beside what it shows on its control socket. On its queue.

extension Node {
    /// The nodes with which links are open, ascending.
    package var linkedPeers: [NodeID] { openLinks.map(\.peer.nodeID).sorted() }

    /// Whether a link with a node is open: both have said who they are and what they carry.
    package func isLinked(to node: NodeID) -> Bool { peers[node]?.isOpen == true }

    /// How many links came into use, and ended, since the start.
    package var linkChanges: UInt64 { counters.linksBegun + counters.linksEnded }

    /// How a peer stands, as status shows it.
    package func standing(of node: NodeID) -> ControlStatus.Peer { peerStatus(node, now: clock.wallMilliseconds) }

    /// The state alone, which is asked for often.
    package func state(of node: NodeID) -> ControlStatus.PeerState {
        let now = clock.wallMilliseconds
        return standing(of: peers[node] ?? PeerState(node, now: now), pauses.pause(of: node, now: now), now: now).0
    }

    /// Whether nothing is pulled from a peer since a database here failed.
    package func hasLocalFailure(with node: NodeID) -> Bool {
        peers[node]?.sessions.contains { $0.value.isFailureLocal } == true
    }

    /// The nodes in the map of the mesh beside this one, ascending.
    package var presentNodes: [NodeID] { presence.nodes.sorted() }

    package var isReader: Bool { role == .reader }

    package var isAdmin: Bool { identity.admin != nil && !isRevokedHere }

    /// Whether this node knows that another one's membership was revoked.
    package func knowsRevoked(_ node: NodeID) -> Bool { isRevoked(node) }

    /// What this node knows of its group, as it is kept on disk.
    package var encodedMembership: [UInt8] { membership.encoded }

    /// The codes of the health checks that hold, as they were last looked at, in the table's order.
    package var healthCodes: [String] { healthLedger.present.map(\.rawValue) }

    /// The identities with which two nodes run, as the health check `IDENTITY_DUPLICATE` names them.
    package var knownTwins: [NodeID] {
        healthLedger.present.contains(.identityDuplicate) ? twins.all(now: clock.now) : []
    }

    /// Whether a node is announced, and this one hears of it.
    package func hears(_ node: NodeID) -> Bool { book.announcedNodes.contains(node) }

    /// The presence record of a node, as it came; nil where none is known.
    package func presenceRecord(of node: NodeID) -> [UInt8]? { presence.encodedRecord(of: node) }

    /// How many nodes it has presence records of, besides its own.
    package var presenceCount: Int { presence.count }

    /// Tries to reach a node now, whatever failed before.
    package func dialNow(_ node: NodeID) {
        book.hurry(node)
        schedule.hasten(.node(node), now: clock.now)
        evaluate()
    }
}
