package import KithDocument

/// What the changes protocol asks of a database.
///
/// Each reading call is one consistent read that holds nothing afterwards; each writing call is one transaction that is
/// on disk when it returns. Calls block: whoever drives a link makes them on the database's own executors, never on the
/// link's.
package protocol ReplicaStore {
    /// Where the database stands.
    func summary() throws(ReplicaError) -> ReplicaSummary

    // The puller's side.

    /// How far this database has durably taken the source's changes; nil before the first batch, and the first with this filter.
    func checkpoint(of source: NodeID, filter: FeedFilter?) throws(ReplicaError) -> Position?

    /// Of the announced leaves those that are not here, were not purged here and are not recorded as refused.
    /// Documents of which nothing is missing are left out, and those that do not match and are not here.
    /// - Parameter givesWay: where something lives here that the source has not, all that it has is asked for again, for a
    ///   batch that gives way to it if nothing of it is new.
    func missing(in changes: [Change], givesWay: Bool) throws(ReplicaError) -> [Want]

    /// Of the changes that do not match those whose documents are here.
    func held(of changes: [Change]) throws(ReplicaError) -> [Change]

    /// The documents of which an announced leaf is recorded as refused.
    func refused(in changes: [Change]) throws(ReplicaError) -> [DocumentID]

    /// Stores and merges what was delivered and moves the checkpoint, all in one transaction. A delivery that is wrong
    /// is recorded as refused with its reason and does not stop the rest.
    func apply(_ batch: ReplicaBatch) throws(ReplicaError) -> ReplicaOutcome

    // The source's side.

    /// From where the feed goes on for a puller with this checkpoint.
    func resume(at checkpoint: Position?) throws(ReplicaError) -> ResumePoint

    /// The documents whose latest sequence is above `sequence`, ascending, at most `limit`.
    /// - Parameter filter: which of them match; a page may be shorter with one.
    func changes(after sequence: UInt64, limit: Int, filter: FeedFilter?) throws(ReplicaError) -> ChangesPage

    /// The wanted revisions that are here, document by document, until `maximumBytes` are passed (one document always
    /// goes); wants not reached are returned to be asked again.
    func deliveries(for wants: [Want], maximumBytes: Int) throws(ReplicaError) -> DeliveriesPage

    // Reconciliation.

    /// The digests of all ranges of the database by one scan, over the documents that match.
    func rangeDigests(filter: FeedFilter?) throws(ReplicaError) -> RangeDigests

    /// The documents whose id hash lies in the given ranges (ascending), as changes, by one scan.
    func changes(inRanges ranges: [UInt16], filter: FeedFilter?) throws(ReplicaError) -> [Change]

    /// The documents that the database leaves out of a comparison with a peer, since it purged them or they are expired, and so
    /// says nothing of them, or since it refused what that peer has.
    /// - Parameter refused: the documents of which the peer has shown something that is refused here: of these the ones that are
    ///   still recorded as refused.
    func exclusions(refused: Set<DocumentID>) throws(ReplicaError) -> [DocumentID]

    /// The sum over these documents of what each adds to the running digest here.
    func digest(of documents: [DocumentID]) throws(ReplicaError) -> Digest256

    /// The sum of what the documents that match add to the running digest, but for those left out, and where the database
    /// stood then: one consistent reading.
    func matchingDigest(
        _ filter: FeedFilter, without leftOut: [DocumentID]
    ) throws(ReplicaError) -> (Digest256, ReplicaSummary)
}

/// Where a database stands: one consistent reading.
package struct ReplicaSummary: Hashable, Sendable {
    /// The present timeline, or the last one before the first write since opening, and the last sequence.
    package let position: Position
    package let digest: Digest256
    /// Documents of any kind, deleted ones too.
    package let documents: UInt64

    package init(position: Position, digest: Digest256, documents: UInt64) {
        self.position = position
        self.digest = digest
        self.documents = documents
    }
}

/// One page of the changes feed.
package struct ChangesPage: Hashable, Sendable {
    package let changes: [Change]
    /// The page covers all changes up to here, read or skipped.
    package let through: Position
    /// Whether nothing follows `through` at the moment of reading.
    package let isCaughtUp: Bool
    /// The digest of the database at `through`, when caught up.
    package let digest: Digest256

    package init(changes: [Change], through: Position, isCaughtUp: Bool, digest: Digest256) {
        self.changes = changes
        self.through = through
        self.isCaughtUp = isCaughtUp
        self.digest = digest
    }
}

/// From where a feed goes on.
package enum ResumePoint: Hashable, Sendable {
    /// The timeline is known: the lesser of the checkpoint's sequence and the timeline's end.
    case after(UInt64)
    /// The timeline is not known here: the two databases reconcile by digests.
    case unknown
}

package struct DeliveriesPage: Hashable, Sendable {
    package let deliveries: [Delivery]
    /// Wants that did not fit.
    package let rest: [Want]
    /// Documents of which nothing wanted is here any more (a newer change will announce what is).
    package let gone: [DocumentID]

    package init(deliveries: [Delivery], rest: [Want], gone: [DocumentID]) {
        self.deliveries = deliveries
        self.rest = rest
        self.gone = gone
    }
}

/// What one transaction of a puller stores.
package struct ReplicaBatch: Sendable {
    package let source: NodeID
    package let deliveries: [Delivery]
    /// Where the source's feed stands once this batch is stored; nil leaves the checkpoint alone.
    package let checkpoint: Position?
    /// Whether a document that is here is given up for the delivered one where that has seen all of it and brings nothing new.
    package let givesWay: Bool
    /// Which documents are taken: what is known of the checkpoints of another filter, or of none, is forgotten.
    package let filter: FeedFilter?
    /// Documents that do not match, as the source has them: after the rest is stored they are dropped here, those of which
    /// every open leaf is at the source.
    package let leaving: [Change]

    package init(
        source: NodeID, deliveries: [Delivery], checkpoint: Position?, givesWay: Bool = false,
        filter: FeedFilter? = nil,
        leaving: [Change] = []
    ) {
        self.source = source
        self.deliveries = deliveries
        self.checkpoint = checkpoint
        self.givesWay = givesWay
        self.filter = filter
        self.leaving = leaving
    }
}

package struct ReplicaOutcome: Sendable {
    /// Revisions that are new here.
    package let stored: Int
    package let refused: [Refusal]
    /// Where this database stands after the transaction.
    package let summary: ReplicaSummary

    package init(stored: Int, refused: [Refusal], summary: ReplicaSummary) {
        self.stored = stored
        self.refused = refused
        self.summary = summary
    }
}

/// A document that a database did not take, and why.
package struct Refusal: Hashable, Sendable {
    package let document: DocumentID
    package let reason: String

    package init(document: DocumentID, reason: String) {
        self.document = document
        self.reason = reason
    }
}

/// The digests of a database over ranges of the id hash: 65,536 ranges by the first 16 bits of SHA-256 of the id.
package struct RangeDigests: Hashable, Sendable {
    package struct Range: Hashable, Sendable {
        package let index: UInt16
        package let documents: UInt32
        package let digest: Digest256

        package init(index: UInt16, documents: UInt32, digest: Digest256) {
            self.index = index
            self.documents = documents
            self.digest = digest
        }
    }

    /// Where the database stood when it was scanned.
    package let position: Position
    /// The ranges that hold documents, ascending.
    package let ranges: [Range]

    package init(position: Position, ranges: [Range]) {
        self.position = position
        self.ranges = ranges
    }
}

/// A failure of the store as a link sees it: the session of that database ends, the link goes on.
package struct ReplicaError: Error, Hashable, Sendable {
    /// A stable code, such as `storage_full`.
    package let code: String
    package let message: String
    /// Whether it may pass by itself (a full disk), so that the session is opened again later.
    package let isTransient: Bool
    /// When it is tried again, if it is no matter of trying less and less often; nil for that.
    package let retryMilliseconds: UInt64?

    package init(code: String, message: String, isTransient: Bool, retryMilliseconds: UInt64? = nil) {
        self.code = code
        self.message = message
        self.isTransient = isTransient
        self.retryMilliseconds = retryMilliseconds
    }
}
