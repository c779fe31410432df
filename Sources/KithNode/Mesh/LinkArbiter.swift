import KithDocument

/// Of two links to one peer one stays, and both sides choose the same: the one that the lower id dialled.
///
/// Nobody dials a peer to which there is a link. So a second link means that both sides dialled at once, or that one side
/// has lost the first: a link that was not heard from for longer than its heartbeat gives way to the new one.
package struct LinkArbiter: Sendable {
    package struct Link: Hashable, Sendable {
        package let id: UInt64
        /// Whether this node dialled.
        package let isDialled: Bool

        package init(id: UInt64, isDialled: Bool) {
            self.id = id
            self.isDialled = isDialled
        }
    }

    package enum Decision: Hashable, Sendable {
        /// The new link is used, and the old one, if there is one, closed.
        case use(closing: UInt64?)
        /// The new link is closed: the old one stays.
        case reject
    }

    private let node: NodeID
    private var established: [NodeID: Link] = [:]

    package init(node: NodeID) { self.node = node }

    /// The link in use to a peer.
    package func link(to peer: NodeID) -> Link? { established[peer] }

    /// A link is authenticated.
    /// - Parameter oldIsAlive: whether the link in use, if there is one, was heard from within a heartbeat.
    package mutating func authenticated(_ link: Link, to peer: NodeID, oldIsAlive: Bool) -> Decision {
        guard let old = established[peer] else {
            established[peer] = link
            return .use(closing: nil)
        }
        // Who dials again has lost its link; of a pair dialled from both ends the lower id's stays.
        let isPreferred = link.isDialled == (node < peer)
        guard old.isDialled == link.isDialled || isPreferred || !oldIsAlive else { return .reject }
        established[peer] = link
        return .use(closing: old.id)
    }

    /// A link ended. False when it was not the one in use.
    @discardableResult
    package mutating func closed(_ id: UInt64, to peer: NodeID) -> Bool {
        guard established[peer]?.id == id else { return false }
        established[peer] = nil
        return true
    }
}
