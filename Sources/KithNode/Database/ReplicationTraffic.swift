import KithDocument

/// What a database got from peers since it was opened.
package struct ReplicationTraffic: Sendable {
    /// Revisions that came with their bodies, and those of them that were new here: the rest travelled in vain.
    package var received = 0
    package var stored = 0
    /// Who sent the last one that was new. It is there before the commit is, for whoever is told of that.
    package var lastSource: NodeID?
}
