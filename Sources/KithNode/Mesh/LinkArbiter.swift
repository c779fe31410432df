import KithDocument
import KithReplication

/// Of two links to one peer one stays, and both sides choose the same: the one that the lower id dialled, and of two that
/// one side dialled the one with the higher tie-break.
///
/// Nobody dials a peer to which there is a link that answers. So a second link means that both sides dialled at once, or
/// that one side has lost the first. Whose turn it is not waits, unused, until the link in use has answered a ping that was
/// sent after the other came, and takes its place if it does not: what was on its way before shows nothing.
///
/// A value: what it decides is carried out by whoever has the links, in order.
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

    package enum Action: Hashable, Sendable {
        /// The link is used from now on.
        case use(UInt64)
        /// The link was in use and is not any more: it is ended with the reason that another stays.
        case end(UInt64)
        /// The link was never used, and is closed.
        case discard(UInt64)
        /// The link was never used, and gives way to the one in use, which has answered: surely after this one was made, or
        /// perhaps a moment before.
        case giveWay(UInt64, isSure: Bool)
        /// The link in use is pinged at once; `timeIsUp` is called for the one that waits after
        /// `NodeLimits.answerMilliseconds`.
        case ask(UInt64, waiting: UInt64)
    }

    private struct Contender {
        let link: Link
        let since: Instant
    }

    private let node: NodeID
    private var established: [NodeID: Link] = [:]
    private var contenders: [NodeID: Contender] = [:]

    package init(node: NodeID) { self.node = node }

    /// The link in use to a peer.
    package func link(to peer: NodeID) -> Link? { established[peer] }

    /// The links that wait, ascending.
    package var waiting: [UInt64] { contenders.values.map(\.link.id).sorted() }

    /// A link is authenticated.
    /// - Parameters:
    ///   - oldIsAlive: whether the link in use, if there is one, is not taken for dead already.
    ///   - hasTwin: whether two nodes are known to run as the peer. Then the link in use stays as long as it answers, whoever
    ///     dialled: else the two would take turns for ever.
    package mutating func authenticated(
        _ link: Link, to peer: NodeID, oldIsAlive: Bool, hasTwin: Bool = false, now: Instant
    ) -> [Action] {
        guard let old = established[peer] else { return replace(nil, by: link, to: peer) }
        let isPreferred =
            old.isDialled == link.isDialled ? link.tieBreak >= old.tieBreak : link.isDialled == (node < peer)
        if isPreferred && !hasTwin || !oldIsAlive { return replace(old, by: link, to: peer) }
        let earlier = contenders.updateValue(Contender(link: link, since: now), forKey: peer)
        return (earlier.map { [.discard($0.link.id)] } ?? []) + [.ask(old.id, waiting: link.id)]
    }

    /// A link has answered a ping that it was sent at a time: the one that waits for its end waits in vain.
    package mutating func answered(_ id: UInt64, to peer: NodeID, pingedAt: Instant) -> [Action] {
        guard established[peer]?.id == id, let contender = contenders[peer],
            // One that was sent a moment before stands for the one that was asked for.
            pingedAt.advanced(byMilliseconds: ReplicationLimits.probeMilliseconds) >= contender.since
        else { return [] }
        contenders[peer] = nil
        return [.giveWay(contender.link.id, isSure: pingedAt >= contender.since)]
    }

    /// A link that waits has waited its time.
    /// - Parameter oldMoves: whether bytes pass on the link in use, so that an answer may be behind them.
    package mutating func timeIsUp(for waiting: UInt64, to peer: NodeID, oldMoves: Bool) -> [Action] {
        guard let contender = contenders[peer], contender.link.id == waiting else { return [] }
        contenders[peer] = nil
        if oldMoves { return [.discard(waiting)] }
        return replace(established[peer], by: contender.link, to: peer)
    }

    /// A link ended, or is not to be counted with any more.
    /// - Returns: whether it was the one in use, and what takes its place.
    package mutating func closed(_ id: UInt64, to peer: NodeID) -> (wasInUse: Bool, actions: [Action]) {
        if contenders[peer]?.link.id == id {
            contenders[peer] = nil
            return (false, [])
        }
        guard established[peer]?.id == id else { return (false, []) }
        established[peer] = nil
        return (true, contenders.removeValue(forKey: peer).map { replace(nil, by: $0.link, to: peer) } ?? [])
    }

    private mutating func replace(_ old: Link?, by link: Link, to peer: NodeID) -> [Action] {
        established[peer] = link
        let contender = contenders.removeValue(forKey: peer)
        var actions: [Action] = []
        if let contender, contender.link.id != link.id { actions.append(.discard(contender.link.id)) }
        if let old { actions.append(.end(old.id)) }
        return actions + [.use(link.id)]
    }
}
