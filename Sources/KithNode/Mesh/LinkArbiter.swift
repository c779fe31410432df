import KithDocument

/// Of two links to one peer one stays, and both sides choose the same: the one that the lower id dialled. A link that
/// does not answer gives way to a newer one whoever dialled it.
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
        /// The old link is asked for a sign of life, and the new one waits: `resolve` decides.
        case probe(old: UInt64)
    }

    private let node: NodeID
    private var established: [NodeID: Link] = [:]
    private var held: [NodeID: Link] = [:]

    package init(node: NodeID) { self.node = node }

    /// The link in use to a peer.
    package func link(to peer: NodeID) -> Link? { established[peer] }

    /// A link is authenticated.
    /// - Parameter oldIsFresh: whether the link in use was established or heard from within the last second.
    package mutating func authenticated(_ link: Link, to peer: NodeID, oldIsFresh: Bool) -> Decision {
        guard let old = established[peer] else {
            established[peer] = link
            return .use(closing: nil)
        }
        // Who dials again has lost its link; and of a pair the lower id's stays.
        if old.isDialled == link.isDialled || isPreferred(link, to: peer) {
            established[peer] = link
            return .use(closing: old.id)
        }
        if oldIsFresh { return .reject }
        if held[peer] != nil { return .reject }
        held[peer] = link
        return .probe(old: old.id)
    }

    /// The probe of an old link ended: the waiting link is to be used or closed. Nil when none waits.
    package mutating func resolve(_ peer: NodeID, oldAnswered: Bool) -> (link: Link, decision: Decision)? {
        guard let link = held.removeValue(forKey: peer) else { return nil }
        guard let old = established[peer] else {
            established[peer] = link
            return (link, .use(closing: nil))
        }
        if oldAnswered { return (link, .reject) }
        established[peer] = link
        return (link, .use(closing: old.id))
    }

    /// A link ended. Returns the link that waited for its place, now to be used.
    package mutating func closed(_ id: UInt64, to peer: NodeID) -> Link? {
        if held[peer]?.id == id { held[peer] = nil }
        guard established[peer]?.id == id else { return nil }
        established[peer] = held.removeValue(forKey: peer)
        return established[peer]
    }

    private func isPreferred(_ link: Link, to peer: NodeID) -> Bool { link.isDialled == (node < peer) }
}
