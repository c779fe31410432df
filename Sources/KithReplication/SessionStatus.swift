package import KithDocument

/// Where one database stands with one peer.
package struct SessionStatus: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case opening
        /// Pulling waits for the database's first feed.
        case held
        case following
        /// Nothing passes, as one side or both have it, or between two readers.
        case off
        /// Comparing and exchanging documents by ranges.
        case reconciling
        /// A store failed, here or there.
        case failed(String)
    }

    package var state: State
    /// Which ways documents may pass, as either side has it.
    package var here = FeedDirections.both
    package var there = FeedDirections.both
    /// Whether the peer takes a part only.
    package var peerIsPart = false
    /// Whether both sides take a part only, so that nothing passes and nobody learns whether they are equal.
    package var isBetweenParts: Bool { here.filter != nil && peerIsPart }
    /// Whether this side pulls, and whether it is pulled from, roles and directions taken together.
    package var pulls = true
    package var serves = true
    /// Whether it is this side's store that failed, where one has.
    package var isFailureLocal = false
    /// At most so many changes the peer has that are not stored here; nil when not known, and for a reader.
    package var inChanges: UInt64?
    /// At most so many changes the peer had beyond what was stored here when the feed began, and has made since.
    package var inTotal: UInt64?
    /// The same of changes here that the peer has not acknowledged.
    package var outTotal: UInt64?
    /// Up to where the peer has acknowledged the changes here.
    package var acknowledged: Position?
    /// At most so many changes here that the peer has not acknowledged; nil when not known.
    package var outChanges: UInt64?
    /// Whether the digests are equal at one pair of positions; nil while there is no such pair.
    package var digestEqual: Bool?
    /// Revisions stored from the peer, and sent to it, since the link came up.
    package var pulled: UInt64
    package var pushed: UInt64
    /// Documents refused here, and by the peer.
    package var refused: UInt64
    package var refusedByPeer: UInt64
    /// Why the peer does not store what is here, as it said; nil while it does.
    package var peerFailure: String?
    /// Documents that this side, and the peer, leave out of the comparison since they were purged there, or refused from the
    /// other; nil when not known. Up to `ReplicationLimits.exclusions` are counted.
    package var leftOutHere: Int?
    package var leftOutByPeer: Int?
    /// Whether the two are in sync: nothing outstanding either way, and the digests equal.
    package var isInSync: Bool
}
