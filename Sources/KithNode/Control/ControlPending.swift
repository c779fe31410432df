/// Documents whose latest change a peer, or any peer, has not acknowledged.
package struct ControlPending: Hashable, Sendable {
    /// Whether the peer has said since the node started how far it is. If not, all documents are listed, though it may have
    /// them.
    package var isKnown: Bool
    /// Ids, those changed first first.
    package var documents: [String]
    /// Whether there are more.
    package var hasMore: Bool

    package init(isKnown: Bool, documents: [String], hasMore: Bool) {
        self.isKnown = isKnown
        self.documents = documents
        self.hasMore = hasMore
    }

    var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("known", isKnown)
        object.add("documents", strings: documents)
        object.add("more", hasMore)
        return object.bytes
    }
}
