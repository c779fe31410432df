import KithDocument
import KithReplication
import KithTransport

/// What a node knows of a peer: what status shows, and what it decides from.
struct PeerState {
    let id: NodeID
    var name: String?
    var softwareVersion: String?
    var protocolVersion: UInt64?
    var role: Role?
    /// The number of the link in use.
    var link: UInt64?
    /// Whether the peer's hello came over it.
    var isOpen = false
    /// Names the process at the other end of the link; 0 where it has not said.
    var instance: UInt64 = 0
    /// Whether it takes offers of presence records.
    var takesOffers = false
    /// Milliseconds since 1970 from here on.
    var stateSince: Int64
    var lastExchangeAt: Int64?
    /// When it was last heard of before this node started, as far as that was kept.
    var seenBeforeAt: Int64?
    /// When the peer was asked whether it is there: the first time since the last answer.
    var probedAt: Instant?
    /// When the newest ping was sent that the peer has answered: all that it had sent by then is here.
    var answeredAt: Instant?
    /// When an answer was last told to those who watch.
    var answerShownAt: Instant?
    var roundTripMilliseconds: UInt64?
    var clock = ClockEstimate()
    /// Why the last link ended or the last dial failed.
    var lastError: String?
    /// Why the peer does not let this node in, or is not let in.
    var refusal: String?
    /// Why the peer does not want to replicate for now, as it says each time that it turns this node away, and since when.
    var pausedThere: (reason: String, since: Int64)?
    /// Whether it was dialled, proved who it is, and says that this node was revoked.
    var saysRevoked = false
    /// By name what the peer carries.
    var carried: [String: DatabaseEntry] = [:]
    var sessions: [String: SessionStatus] = [:]
    /// By name the sequence up to which the link knows the database here: what it says of being in sync holds for that.
    var told: [String: UInt64] = [:]
    /// By name up to where the peer has acknowledged the changes here; outlives the link, as what is on a disk does.
    var acknowledged: [String: Position] = [:]
    /// By database the last comparison by ranges; outlives the link.
    var comparisons: [String: ComparisonRecord] = [:]

    init(_ id: NodeID, now: Int64) {
        self.id = id
        stateSince = now
    }

    /// The name that people gave the node, or the beginning of its id where it has not told.
    var shownName: String { name.map { Shown.name($0) } ?? id.short }

    /// The peer does not carry a database any more.
    mutating func left(_ database: String) {
        carried[database] = nil
        sessions[database] = nil
        // What the link was told of the database here stays: it is not told again, should the peer carry it once more.
    }

    /// This node does not carry a database any more. That the peer does stays known: it does not say so again, should the
    /// database be made here anew.
    mutating func dropped(_ database: String) {
        sessions[database] = nil
        told[database] = nil
        acknowledged[database] = nil
    }

    /// A link ended: what was known through it is not known any more.
    mutating func disconnected(_ reason: String?, now: Int64) {
        link = nil
        instance = 0
        isOpen = false
        stateSince = now
        roundTripMilliseconds = nil
        clock = ClockEstimate()
        probedAt = nil
        answeredAt = nil
        carried = [:]
        sessions = [:]
        told = [:]
        if let reason { lastError = reason }
    }
}
