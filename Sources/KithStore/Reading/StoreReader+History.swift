import KithDocument

/// The revision tree of a document, for people. It is the same on all nodes that hold the same revisions, but for
/// `keptBodies`.
package struct DocumentHistory: Hashable, Sendable {
    package struct Node: Hashable, Sendable {
        package let id: RevisionID
        package let parent: RevisionID?
        package let kind: Revision.Kind
        package let isForeign: Bool
        package let isLeaf: Bool
        package let isWinner: Bool
        /// The other leaves that a merge joined; known of leaves.
        package let mergedParents: [RevisionID]
        /// What a leaf knows of each writer; nil for an ancestor.
        package let version: Version?
    }

    /// The body of a leaf that a merge overruled in some field.
    package struct KeptBody: Hashable, Sendable {
        package let revision: RevisionID
        /// When it goes, in milliseconds since 1970.
        package let until: Int64
    }

    package let id: DocumentID
    package let sequence: UInt64
    /// Ascending by id: parents before their children.
    package let nodes: [Node]
    /// Ascending by revision; `get` with the revision reads one.
    package let keptBodies: [KeptBody]
}

extension StoreReader {
    /// The revision tree of a document; nil when nothing is known of it.
    package func history(_ id: DocumentID) throws(StoreError) -> DocumentHistory? {
        try connection.reading { () throws(StoreError) in
            let row = try connection.statement(.loadDocument)
            defer { row.reset() }
            row.bind(1, text: id.string)
            guard try row.step() else { return nil }
            let tree = try RevisionTree(row, 3, of: id.string)
            let leaves = tree.leaves.map(\.id)
            let winner = try RevisionID(row, 2, of: id.string)
            let nodes = tree.nodes.map { node in
                let isLeaf = leaves.contains(node.id)
                return DocumentHistory.Node(
                    id: node.id, parent: node.parent, kind: node.kind, isForeign: node.isForeign, isLeaf: isLeaf,
                    isWinner: node.id == winner, mergedParents: isLeaf ? node.content?.mergedParents ?? [] : [],
                    version: isLeaf ? node.content?.version : nil)
            }
            return DocumentHistory(
                id: id, sequence: row.unsigned(0), nodes: nodes, keptBodies: try keptBodies(of: id))
        }
    }

    private func keptBodies(of id: DocumentID) throws(StoreError) -> [DocumentHistory.KeptBody] {
        let row = try connection.statement(.keptBodies)
        defer { row.reset() }
        row.bind(1, text: id.string)
        var bodies: [DocumentHistory.KeptBody] = []
        while try row.step() {
            bodies.append(.init(revision: try RevisionID(row, 0, of: id.string), until: row.number(1)))
        }
        return bodies
    }
}
