import KithDocument
import KithMerge

/// What a document's row says of it without its tree. The numbers stand in the file and in its SQL.
struct DocumentFlags: OptionSet, Sendable {
    let rawValue: Int64

    /// Nothing lives: a deletion, or closed leaves alone.
    static let deleted = DocumentFlags(rawValue: 1)
    /// More than one leaf lives.
    static let conflict = DocumentFlags(rawValue: 2)
    /// Other live leaves have their bodies in the table `bodies`.
    static let otherBodies = DocumentFlags(rawValue: 4)
    /// The winner is the only leaf and no foreign one: the feed needs no tree.
    static let singleLeaf = DocumentFlags(rawValue: 8)
    /// The winner's body says when it expires.
    static let expires = DocumentFlags(rawValue: 16)
}

extension DocumentFlags {
    /// What a row says of a document.
    /// - Parameters:
    ///   - live: the document's live revisions.
    ///   - tree: as it is stored.
    ///   - shown: the revision that a plain read returns.
    ///   - body: that revision's, where it lives.
    init(live: [RevisionTree.Node], tree: RevisionTree, shown: RevisionID, body: [UInt8]?) {
        self = live.isEmpty ? .deleted : []
        if live.count > 1 { formUnion([.conflict, .otherBodies]) }
        let leaves = tree.leaves
        if leaves.count == 1, leaves[0].id == shown, !leaves[0].isForeign, leaves[0].content != nil {
            insert(.singleLeaf)
        }
        if let body, Expiry.time(of: body) != nil { insert(.expires) }
    }
}

extension RevisionTree {
    /// The leaves whose content is known here, closed ones too: what the feed announces.
    var knownLeaves: [Node] {
        let leaves = leaves
        return leaves.allSatisfy { $0.content != nil } ? leaves : leaves.filter { $0.content != nil }
    }
}

extension Document {
    /// The revision that a plain read returns: the live winner, else the highest deletion, else what there is.
    var shownRevision: RevisionID? {
        if let winner { return winner.node.id }
        return tree.deleted.last?.id ?? tree.leaves.last?.id
    }
}
