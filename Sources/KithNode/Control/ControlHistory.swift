import KithDocument

/// The revision tree of a document: `kith.history/1`. It says the same on every node that has the same revisions.
package struct ControlHistory: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case edit, merge, deleted, closed
    }

    /// A value that a merge did not take.
    package struct Overruled: Hashable, Sendable {
        /// JSON Pointer.
        package var path: String
        /// The leaf that had the value.
        package var revision: RevisionID
        /// Canonical JSON; nil where the field was absent there, or the body is not kept any more.
        package var value: [UInt8]?

        package init(path: String, revision: RevisionID, value: [UInt8]?) {
            self.path = path
            self.revision = revision
            self.value = value
        }
    }

    package struct Revision: Hashable, Sendable {
        package var id: RevisionID
        package var kind: Kind
        /// Nil for the first of a branch, also where the history above was cut.
        package var parent: RevisionID?
        /// The other leaves a merge joined.
        package var mergedParents: [RevisionID] = []
        package var isLeaf = false
        package var isWinner = false
        package var isForeign = false
        /// Milliseconds since 1970, from the stamp; nil where it has none.
        package var time: Int64?
        package var overruled: [Overruled] = []

        package init(id: RevisionID, kind: Kind, parent: RevisionID?) {
            self.id = id
            self.kind = kind
            self.parent = parent
        }
    }

    package var id: DocumentID
    /// Ascending by id.
    package var revisions: [Revision]

    package init(id: DocumentID, revisions: [Revision]) {
        self.id = id
        self.revisions = revisions
    }

    package var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("schema", "kith.history/1")
        object.add("id", id.string)
        object.add("revisions", elements: revisions.map(\.json))
        return object.bytes
    }
}

extension ControlHistory.Revision {
    fileprivate var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("rev", id.description)
        object.add("kind", kind.rawValue)
        object.add("parent", parent?.description)
        object.add("merged_parents", strings: mergedParents.map(\.description))
        object.add("leaf", isLeaf)
        object.add("winner", isWinner)
        object.add("foreign", isForeign)
        object.add("time", time: time)
        object.add(
            "overruled",
            elements: overruled.map { overruled in
                var object = JSONObjectWriter()
                object.add("path", overruled.path)
                object.add("rev", overruled.revision.description)
                object.add("value", json: overruled.value)
                return object.bytes
            })
        return object.bytes
    }
}
