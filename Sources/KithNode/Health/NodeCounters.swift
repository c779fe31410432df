/// What a node counts from its start on.
package struct NodeCounters: Hashable, Sendable {
    /// Attempts to reach a node that ended with an authenticated connection, and those that ended without.
    package var dialsConnected: UInt64 = 0
    package var dialsFailed: UInt64 = 0
    /// Links that were taken in use, and those that were turned away because of two nodes with one identity.
    package var linksBegun: UInt64 = 0
    package var linksTurnedAway: UInt64 = 0
    /// Links that were in use and have ended.
    package var linksEnded: UInt64 = 0
    /// Documents of peers that were refused here, and documents of this node that peers refused.
    package var documentsRefused: UInt64 = 0
    package var documentsRefusedByPeers: UInt64 = 0
    /// Joins that were refused.
    package var joinsRefused: UInt64 = 0

    package init() {}
}
