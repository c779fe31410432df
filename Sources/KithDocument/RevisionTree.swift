#if KITH_MUTANTS
import KithSystem
#endif

/// The known revisions of one document by parent.
///
/// A leaf carries what merging needs of it: stamps and version. So does a revision that a closing tombstone ended,
/// since it counts again while the document has nothing but closed leaves. Other ancestors are ids alone. Bodies are
/// kept beside the tree.
///
/// Everything here is a function of the set of revisions: the order in which they came leaves no trace.
package struct RevisionTree: Hashable, Sendable {
    package struct Node: Hashable, Sendable {
        package let id: RevisionID
        /// Nil for a root, and where the parent was stemmed.
        package internal(set) var parent: RevisionID?
        package internal(set) var kind: Revision.Kind
        package let isForeign: Bool
        /// Whether the revision itself was here once, so that its parent is known by its hash and not by hearsay.
        package internal(set) var hasHashedParent: Bool
        /// Nil for an ancestor known by its id alone.
        package internal(set) var content: Content?

        /// What it knows; nil for an ancestor known by its id alone.
        package var knownVersion: Version? { content?.version }
    }

    /// What a revision says besides its body.
    package struct Content: Hashable, Sendable {
        package let mergedParents: [RevisionID]
        package let stamps: FieldStamps?
        package let version: Version
        package let resolver: String
    }

    /// Ascending by id, so that parents come before their children.
    package internal(set) var nodes: [Node]

    package init() { nodes = [] }

    init(ascending nodes: [Node]) { self.nodes = nodes }

    /// The tree of a new document.
    package init(_ revision: Revision) { nodes = [Node(revision)] }

    package var isEmpty: Bool { nodes.isEmpty }

    package subscript(id: RevisionID) -> Node? {
        index(of: id).map { nodes[$0] }
    }

    /// What a revision knows; nil where that is not known here.
    package func version(of id: RevisionID) -> Version? { index(of: id).flatMap { nodes[$0].knownVersion } }

    package func contains(_ id: RevisionID) -> Bool { index(of: id) != nil }

    /// The revisions without children, ascending by id.
    /// - Complexity: O(n log n) for n nodes.
    package var leaves: [Node] {
        if nodes.count == 1 { return nodes }
        let parents = nodes.compactMap(\.parent).sorted()
        return nodes.filter { !Self.contains($0.id, in: parents) }
    }

    /// The leaf that a plain read returns: live before deleted or closed, then the higher id. While all leaves are
    /// closed, the highest of what they closed, where it is known. Nil for a document of which nothing is known.
    package var winner: Node? {
        let leaves = leaves
        return liveLeaves(of: leaves).last ?? leaves.last { $0.kind == .deleted } ?? leaves.last
    }

    /// The revisions that live, ascending: live leaves; while all leaves are closed, what these closed and is known.
    package var live: [Node] {
        // The usual document takes no memory here.
        if nodes.count == 1 { return nodes[0].kind.isLive ? nodes : [] }
        return liveLeaves(of: leaves)
    }

    /// The deleted leaves, ascending.
    package var deleted: [Node] { leaves.filter { $0.kind == .deleted } }

    private func liveLeaves(of leaves: [Node]) -> [Node] {
        let live = leaves.filter { $0.kind.isLive }
        if !live.isEmpty || leaves.contains(where: { $0.kind != .closed }) { return live }
        let closed = leaves.compactMap { leaf in leaf.parent.flatMap { self[$0] } }
        return closed.filter { $0.kind.isLive && $0.content != nil }.sorted { $0.id < $1.id }
    }

    /// The highest time in the version of any leaf, a closed leaf counting with the version of what it closes.
    package var highestTime: UInt64 {
        leaves.reduce(0) { highest, leaf in
            let closed = leaf.kind == .closed ? leaf.parent.flatMap { self[$0] } : nil
            return max(
                highest, leaf.content?.version.highestTime ?? 0, closed?.content?.version.highestTime ?? 0)
        }
    }

    /// The parent of a revision and what is known above it, nearest first.
    package func ancestors(of id: RevisionID) -> [Ancestor] {
        var ancestors: [Ancestor] = []
        var next = self[id]?.parent
        #if KITH_MUTANTS
        if Mutant.isActive(.leavesOutParent) { next = next.flatMap { self[$0]?.parent } }
        #endif
        while let id = next, let node = self[id] {
            ancestors.append(Ancestor(id: id, kind: node.kind, isForeign: node.isForeign))
            next = node.parent
        }
        return ancestors
    }

    func index(of id: RevisionID) -> Int? {
        let index = insertionIndex(of: id)
        return index < nodes.count && nodes[index].id == id ? index : nil
    }

    func insertionIndex(of id: RevisionID) -> Int {
        var (low, high) = (0, nodes.count)
        while low < high {
            let middle = (low + high) / 2
            if nodes[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    static func contains(_ id: RevisionID, in ascending: [RevisionID]) -> Bool {
        var (low, high) = (0, ascending.count)
        while low < high {
            let middle = (low + high) / 2
            if ascending[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low < ascending.count && ascending[low] == id
    }
}

/// A revision of which only the place in the tree is known.
package struct Ancestor: Hashable, Sendable {
    package let id: RevisionID
    package let kind: Revision.Kind
    package let isForeign: Bool

    package init(id: RevisionID, kind: Revision.Kind = .edit, isForeign: Bool = false) {
        self.id = id
        self.kind = kind
        self.isForeign = isForeign
    }
}

extension RevisionTree.Node {
    package init(_ revision: Revision) {
        self.init(
            id: revision.id, parent: revision.parent, kind: revision.kind, isForeign: revision.isForeign,
            hasHashedParent: !revision.isForeign && revision.parent != nil,
            content: .init(
                mergedParents: revision.mergedParents, stamps: revision.stamps, version: revision.version,
                resolver: revision.resolver))
    }

    /// A revision known by its id alone.
    init(_ ancestor: Ancestor) {
        self.init(
            id: ancestor.id, parent: nil, kind: ancestor.kind, isForeign: ancestor.isForeign, hasHashedParent: false,
            content: nil)
    }

    /// The revision with its body; nil for an ancestor known by its id alone.
    package func revision(body: [UInt8]) -> Revision? {
        guard let content else { return nil }
        return Revision(
            id: id, parent: parent, mergedParents: content.mergedParents, kind: kind, body: body,
            stamps: content.stamps,
            version: content.version, resolver: content.resolver, isForeign: isForeign)
    }
}
