import KithDocument

/// Of two links to one peer one stays, and both sides choose the same: the one that the lower id dialled, and of two that
/// one side dialled the one with the higher tie-break.
///
/// Nobody dials a peer to which there is a link that answers. So a second link means that both sides dialled at once, or
/// that one side has lost the first: a link that does not answer gives way to the new one.
package struct LinkArbiter: Sendable {
    package struct Link: Hashable, Sendable {
        package let id: UInt64
        /// Whether this node dialled.
        package let isDialled: Bool
        /// A number that both ends of the link know and nobody chose.
        package let tieBreak: UInt64

        package init(id: UInt64, isDialled: Bool, tieBreak: UInt64 = 0) {
            self.id = id
            self.isDialled = isDialled
            self.tieBreak = tieBreak
        }
    }

    package enum Decision: Hashable, Sendable {
        /// The new link is used, and the old one, if there is one, closed.
        case use(closing: UInt64?)
        /// The old link stays, if it answers.
        case reject
    }

    private let node: NodeID
    private var established: [NodeID: Link] = [:]

    package init(node: NodeID) { self.node = node }

    /// The link in use to a peer.
    package func link(to peer: NodeID) -> Link? { established[peer] }

    /// A link is authenticated.
    /// - Parameter oldIsAlive: whether the link in use, if there is one, answers.
    package mutating func authenticated(_ link: Link, to peer: NodeID, oldIsAlive: Bool) -> Decision {
        guard let old = established[peer] else {
            established[peer] = link
            return .use(closing: nil)
        }
        let isPreferred =
            old.isDialled == link.isDialled ? link.tieBreak >= old.tieBreak : link.isDialled == (node < peer)
        guard isPreferred || !oldIsAlive else { return .reject }
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
