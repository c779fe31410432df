package import KithDocument

/// What happens to a link.
package enum LinkInput: Sendable {
    /// The connection is up and both ends are authenticated. The first input.
    case start(databases: [CarriedDatabase])
    case received([UInt8])
    /// Of the bytes given to `send` so many still wait in this process.
    case sendBufferDrained(remaining: Int)
    /// Of all bytes given to `send`, and what the connection puts around them, the peer's machine has so many: told from time
    /// to time while much is under way, where the system tells it.
    case arrived(total: UInt64)
    /// The moment of `nextDeadline` has come.
    case deadline
    /// The wall clock in milliseconds since 1970, now; told at the start and again every few seconds.
    case wallClock(Int64)
    /// The answer to `LinkDirective.store`.
    case storeDone(Ticket, StoreResult)
    /// The answer to `LinkDirective.judge`: nil when the peer is still trusted, else why not.
    case statementsJudged(refusal: String?)
    /// The answer to `LinkDirective.claim`.
    case claimed(Ticket, WantRegistry.Answer)
    /// This node carries one more database, or none of that name any more.
    case carry(CarriedDatabase)
    case drop(database: String)
    /// Pulling a database begins or waits.
    case hold(database: String, isHeld: Bool)
    /// The documents of a database pass other ways from now on. Its session begins anew, where that is news.
    case direct(database: String, FeedDirections)
    /// A commit changed the database, whoever wrote: told after it is durable.
    case localCommit(database: String, ReplicaSummary)
    /// The database's store takes commits again, after it had not.
    case storeRecovered(database: String)
    /// Statements that became known since the hello, to be sent.
    case statements([[UInt8]])
    /// Presence records to be sent.
    case presence([[UInt8]])
    /// To a peer with the capability alone.
    case gossip(Gossip)
    /// Whether the peer is there is wanted now: it is pinged, unless a ping was sent a moment ago.
    case probe
    /// The link is to end with this goodbye.
    case stop(Goodbye)
    /// The connection is gone.
    case disconnected
}

/// What a link wants done, in this order.
package enum LinkDirective: Sendable {
    case send([UInt8])
    /// The connection is closed once what was given to `send` is out, at most a few seconds later. The last directive.
    case close(LinkEnd)
    /// Store work for `perform`; it is carried out even when the link has ended meanwhile. Writes of one database in
    /// the order given; the rest in any order.
    case store(Ticket, database: String, StoreRequest)
    /// The peer's statements: judged before anything else that it said is looked at.
    case judge([[UInt8]])
    /// May these documents be asked of this peer, which were looked for at that time? Answered from the database's
    /// `WantRegistry`.
    case claim(Ticket, database: String, [Want], lookedAt: Instant)
    /// These documents are stored, or not to be had here: others may ask for them.
    case releaseClaims(database: String, [DocumentID])
    case releaseAllClaims(database: String)
    /// The peer is at work on what it was asked for.
    case keepClaims(database: String)
    case report(LinkEvent)
}

/// How a link ended.
package struct LinkEnd: Hashable, Sendable {
    /// Whether the peer said goodbye, rather than this side.
    package let isByPeer: Bool
    package let goodbye: Goodbye
}

/// What a node shows of a link.
package enum LinkEvent: Hashable, Sendable {
    /// The hello came and its statements were accepted.
    case opened(PeerDescription)
    /// All databases that the peer carries now.
    case peerDatabases([DatabaseEntry])
    case presence([UInt8])
    case gossip(Gossip)
    /// A ping was answered, and all that the peer had sent before it read it is here. The clock offset is the peer's wall clock
    /// less this node's; nil when either has none.
    case heartbeat(pingedAt: Instant, roundTripMilliseconds: UInt64, clockOffsetMilliseconds: Int64?)
    case status(database: String, SessionStatus)
    /// Documents of the peer that are on disk here, or documents of this side that were handed to the connection: what of
    /// them the peer refuses follows as `refusedByPeer`, and that it has them is known by `SessionStatus.acknowledged`.
    case documents(database: String, [DocumentID], isIncoming: Bool)
    /// Documents of the peer that were refused here.
    case refused(database: String, [Refusal])
    /// Documents from here that the peer refused.
    case refusedByPeer(database: String, [Refusal])
    /// What was found out about the history of a database, here or at the peer.
    case history(database: String, HistoryFinding)
}

package struct PeerDescription: Hashable, Sendable {
    package let nodeName: String
    package let softwareVersion: String
    /// Names the peer's process; 0 where it says nothing of it.
    package let instance: UInt64
    package let protocolVersion: UInt64
    package let capabilities: [String]
    package let databases: [DatabaseEntry]
}
