/// What a session found out about the history of a database on its two sides, and what it did about it.
package enum HistoryFinding: Hashable, Sendable {
    /// The peer has taken changes of a timeline up to `sequence` that ends here at `end`: the database here was put back to
    /// an earlier state, or has lost its last commits. The feed goes on from `end`.
    case lostHere(sequence: UInt64, end: UInt64)
    /// The peer's checkpoint is in a timeline that is not known here: the database here is another one than the peer knew.
    case unknownHere
    /// The same of the peer: it does not know the timeline of the checkpoint that is kept here.
    case unknownByPeer
    /// The two databases were compared by ranges, and what this one lacked was fetched.
    case reconciled(Reason, ranges: Int, stored: Int)

    /// Why two databases were compared by ranges.
    package enum Reason: Hashable, Sendable {
        /// There was no checkpoint that the peer knew.
        case noCheckpoint
        /// Nothing was outstanding, and the digests differed.
        case digestsDiffered
    }
}
