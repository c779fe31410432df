package import KithDocument

/// All that a database knows of one document, in memory: the tree of its revisions and the bodies that are known.
///
/// Writing and merging are methods of this value (`Document+Editing.swift`, `Document+Merging.swift`); the store loads
/// one, changes it and saves it, in one transaction.
package struct Document: Sendable {
    package let id: DocumentID
    package internal(set) var tree: RevisionTree
    /// The bodies of live revisions.
    package internal(set) var bodies: RevisionBodies

    package init(id: DocumentID, tree: RevisionTree = RevisionTree(), bodies: RevisionBodies = RevisionBodies()) {
        self.id = id
        self.tree = tree
        self.bodies = bodies
    }

    /// The body of a live revision; nil where it is not known here.
    package func body(of id: RevisionID) -> [UInt8]? { bodies[id] }

    /// The live leaf with its body that a plain read returns; nil when the document is deleted or nothing is known.
    package var winner: (node: RevisionTree.Node, body: [UInt8])? {
        guard let node = live.last, let body = bodies[node.id] else { return nil }
        return (node, body)
    }

    /// The live revisions whose content is known, ascending; the last is the winner.
    package var live: [RevisionTree.Node] {
        let live = tree.live
        let isEveryKnown = live.indices.allSatisfy { live[$0].content != nil && bodies[live[$0].id] != nil }
        return isEveryKnown ? live : live.filter { $0.content != nil && bodies[$0.id] != nil }
    }

    /// The fields of a live revision whose body is known here.
    func fields(of node: RevisionTree.Node) -> Fields {
        guard let body = bodies[node.id], let stamps = node.content?.stamps else {
            preconditionFailure("revision \(node.id) is live and its content is not known")
        }
        return Fields(body: body, stamps: stamps)
    }

    /// A revision with its body, as it is sent; nil where its content is not known here.
    package func revision(_ id: RevisionID) -> Revision? {
        guard let node = tree[id] else { return nil }
        if node.kind.isLive, bodies[id] == nil { return nil }
        return node.revision(body: node.kind.isLive ? bodies[id] ?? [] : [])
    }

    /// Takes a revision from another database.
    /// - Returns: whether anything is new here.
    package mutating func receive(_ item: Delivery.Item) -> Bool {
        let revision = item.revision
        if revision.kind == .closed, let winner = tree.winner,
            RevisionTree.isDroppable(revision.id, revision.kind, winner: winner.id)
        {
            return false
        }
        let isNew = tree.insert(revision, ancestors: item.ancestors)
        if isNew, revision.kind.isLive, tree[revision.id]?.content != nil { bodies[revision.id] = revision.body }
        return isNew
    }

    mutating func add(_ revision: Revision) {
        tree.insert(
            revision, ancestors: revision.parent.map { [Ancestor(id: $0, kind: tree[$0]?.kind ?? .edit)] } ?? [])
        if revision.kind.isLive { bodies[revision.id] = revision.body }
    }
}
