/// Which ways the documents of a database may pass between a node and its peers, as its own side has it.
package struct FeedDirections: Hashable, Sendable {
    /// Whether documents are taken from peers.
    package var pulls: Bool
    /// Whether documents are offered to peers.
    package var pushes: Bool
    /// Which documents are taken; nil for all.
    package var filter: FeedFilter?

    package init(pulls: Bool, pushes: Bool, filter: FeedFilter? = nil) {
        self.pulls = pulls
        self.pushes = pushes
        self.filter = filter
    }

    package static let both = FeedDirections(pulls: true, pushes: true)
    package static let none = FeedDirections(pulls: false, pushes: false)
}
