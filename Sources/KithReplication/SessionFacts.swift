internal import KithDocument

#if KITH_MUTANTS
import KithSystem
#endif

/// What the two halves of a session share: whose it is, where both databases stand, and the counts.
struct SessionFacts {
    /// The session's place on its link.
    let session: Int
    let database: String
    let peer: NodeID
    /// The peer's number for the database.
    let peerNumber: UInt64
    /// Which ways documents may pass, as either side has it.
    let here: FeedDirections
    let there: FeedDirections
    /// Which documents this side takes; nil for all.
    var filter: FeedFilter? { here.filter }
    /// Whether the peer takes a part only: what it lacks says nothing.
    let peerIsPart: Bool
    /// Whether the peer answers feeds with a filter.
    let peerFilters: Bool
    /// Whether this side pulls, and whether it is pulled from: a reader is not, nor who does not want it.
    let pulls: Bool
    let serves: Bool
    /// Whether nobody at all pulls the database from here, so that this side gives way to its sources.
    let givesWay: Bool
    /// The latest known of either side.
    private(set) var local: DatabaseState
    private(set) var theirs: DatabaseState
    var echo = EchoFilter()
    var pulled: UInt64 = 0
    var pushed: UInt64 = 0
    var refused: UInt64 = 0
    var refusedByPeer: UInt64 = 0
    /// Documents of which the peer has shown something that is refused here, since the link came up; what only others have
    /// shown excuses no difference from this peer.
    private(set) var refusedOfPeer: Set<DocumentID> = []

    init(
        session: Int, database: String, peer: NodeID, peerNumber: UInt64, here: FeedDirections,
        there: FeedDirections, peerIsPart: Bool = false, peerFilters: Bool = true, peerIsSource: Bool,
        localIsSource: Bool, local: DatabaseState, theirs: DatabaseState
    ) {
        self.session = session
        self.database = database
        self.peer = peer
        self.peerNumber = peerNumber
        self.here = here
        self.there = there
        self.peerIsPart = peerIsPart
        self.peerFilters = peerFilters
        // Who has a part is no source for who wants a part: neither knows what the other lacks.
        let isBetweenParts = here.filter != nil && peerIsPart
        pulls = peerIsSource && here.pulls && there.pushes && !isBetweenParts
        serves = localIsSource && here.pushes && there.pulls && !isBetweenParts
        #if KITH_MUTANTS
        givesWay = (!localIsSource || !here.pushes) && !Mutant.isActive(.keepsOwnMerges)
        #else
        givesWay = !localIsSource || !here.pushes
        #endif
        self.local = local
        self.theirs = theirs
    }

    /// Readings of one database may arrive out of order: a later one has the higher sequence, or the same. That holds
    /// across timelines too, which go on counting.
    mutating func noteLocal(_ summary: ReplicaSummary) { noteLocal(DatabaseState(summary)) }

    mutating func noteLocal(_ position: Position, _ digest: Digest256) {
        noteLocal(DatabaseState(position: position, digest: digest, documents: local.documents))
    }

    private mutating func noteLocal(_ state: DatabaseState) {
        if state.position.sequence >= local.position.sequence { local = state }
    }

    mutating func noteTheirs(_ position: Position, _ digest: Digest256) {
        if position.sequence >= theirs.position.sequence {
            theirs = DatabaseState(position: position, digest: digest, documents: theirs.documents)
        }
    }

    mutating func noteTheirs(_ state: DatabaseState) { theirs = state }

    /// Takes note of what the peer has shown: at most as much is kept as a comparison leaves out.
    mutating func note(refused: [DocumentID], stored: [DocumentID] = []) {
        if !refusedOfPeer.isEmpty { refusedOfPeer.subtract(stored) }
        for document in refused where refusedOfPeer.count < ReplicationLimits.exclusions {
            refusedOfPeer.insert(document)
        }
    }

    func owner(_ feed: FeedID, _ work: TicketOwner.Work) -> TicketOwner {
        TicketOwner(session: session, feed: feed, work: work)
    }
}
