// The values that a store and the changes protocol exchange: what changed, what is wanted, what is delivered, how far
// it went. Both sides of a link and both sides of the store speak in these.

/// The id of a timeline: a stretch of sequences that a database wrote without a break. It is also the writer of the
/// stamps made in it.
package typealias TimelineID = UInt64

/// A place in the history of one database: a sequence, and the timeline it was written in.
package struct Position: Hashable, Sendable {
    package let timeline: TimelineID
    /// The sequence of the last change that counts; 0 before the first.
    package let sequence: UInt64

    package init(timeline: TimelineID, sequence: UInt64) {
        self.timeline = timeline
        self.sequence = sequence
    }
}

/// A leaf as the changes feed announces it.
package struct AnnouncedLeaf: Hashable, Sendable {
    package let id: RevisionID
    /// For a foreign leaf the first 8 bytes of the hash of its version, since two nodes may stamp one id differently;
    /// nil for a Kith revision, whose id says it all.
    package let versionHash: UInt64?

    package init(id: RevisionID, versionHash: UInt64? = nil) {
        self.id = id
        self.versionHash = versionHash
    }
}

/// One entry of the changes feed: a document and all of its leaves, closed ones too.
package struct Change: Hashable, Sendable {
    package let sequence: UInt64
    package let document: DocumentID
    /// Ascending by id.
    package let leaves: [AnnouncedLeaf]
    /// Whether the document is one that the puller's filter wants; all are, where there is none.
    package let isMatching: Bool

    package init(sequence: UInt64, document: DocumentID, leaves: [AnnouncedLeaf], isMatching: Bool = true) {
        self.sequence = sequence
        self.document = document
        self.leaves = leaves
        self.isMatching = isMatching
    }
}

/// The leaves of one document that a puller lacks, and what it has, so that the source can send the ancestry between.
package struct Want: Hashable, Sendable {
    package let document: DocumentID
    package let revisions: [RevisionID]
    /// Leaves the puller has of this document.
    package let known: [RevisionID]

    package init(document: DocumentID, revisions: [RevisionID], known: [RevisionID]) {
        self.document = document
        self.revisions = revisions
        self.known = known
    }
}

/// Revisions of one document on their way to another database: the leaves that it lacked, all in one.
package struct Delivery: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        package let revision: Revision
        /// The parent and what lies above it, nearest first: above the parent believed only where the revision's version
        /// covers what it would replace.
        package let ancestors: [Ancestor]

        package init(revision: Revision, ancestors: [Ancestor]) {
            self.revision = revision
            self.ancestors = ancestors
        }
    }

    package let document: DocumentID
    package let items: [Item]

    package init(document: DocumentID, items: [Item]) {
        self.document = document
        self.items = items
    }
}
