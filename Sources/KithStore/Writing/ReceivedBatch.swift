import KithDocument

/// What a peer delivered, verified: every revision's form, bounds and hash. Making one costs a pass over all bodies and
/// needs no database, so it is done before the transaction and on any thread.
package struct ReceivedBatch: Sendable {
    let source: NodeID
    /// Where the source's feed stands once this is stored; nil leaves the checkpoint alone.
    let checkpoint: Position?
    let documents: [ReceivedDocument]

    package init(source: NodeID, deliveries: [Delivery], checkpoint: Position?) {
        self.source = source
        self.checkpoint = checkpoint
        documents = deliveries.map { ReceivedDocument(verifying: $0) }
    }
}

/// One document's part of a batch: what is right, and what is refused with its reason.
struct ReceivedDocument: Sendable {
    let id: DocumentID
    let items: [Delivery.Item]
    let refused: [RevisionID]
    /// Why, for the first of them.
    let reason: String?

    init(verifying delivery: Delivery) {
        id = delivery.document
        if delivery.items.count > DocumentLimits.leaves {
            items = []
            refused = delivery.items.prefix(Limits.refusedLeaves).map(\.revision.id)
            reason = "\(delivery.items.count) revisions came at once; \(DocumentLimits.leaves) are the most"
            return
        }
        var wrong: [Int] = []
        var refused: [RevisionID] = []
        var reason: String?
        for index in delivery.items.indices {
            do {
                try Self.verify(delivery.items[index])
            } catch {
                wrong.append(index)
                refused.append(delivery.items[index].revision.id)
                reason = reason ?? StoreError.shortened(error.message, to: Limits.refusalCharacters)
            }
        }
        // Nearly always all are right, and their array is taken as it is.
        items =
            wrong.isEmpty
            ? delivery.items : delivery.items.indices.filter { !wrong.contains($0) }.map { delivery.items[$0] }
        self.refused = refused
        self.reason = reason
    }

    private static func verify(_ item: Delivery.Item) throws(DocumentError) {
        let revision = item.revision
        guard revision.body.count <= DocumentLimits.documentBytes else {
            throw .malformed("revision \(revision.id) has \(revision.body.count) bytes")
        }
        try revision.verify()
        guard item.ancestors.count <= Limits.ancestorsPerRevision else {
            throw .malformed("revision \(revision.id) came with \(item.ancestors.count) ancestors")
        }
        var below = revision.id.generation
        for ancestor in item.ancestors {
            guard ancestor.id.generation >= 1, ancestor.id.generation < below else {
                throw .malformed("revision \(revision.id) came with ancestors out of order")
            }
            below = ancestor.id.generation
        }
    }
}

/// What became of a batch.
package struct ReceivedOutcome: Sendable {
    /// Revisions that are new here.
    package let stored: Int
    package let refused: [RefusedDocument]
    /// Somebody else has written in this opening's timeline: the file was put back while it was open, or has a twin. A
    /// new timeline has begun.
    package let isRollbackDetected: Bool
    /// Where the database stands after the batch.
    package let summary: StoreSummary
}

/// A document of which something was not taken, and why.
package struct RefusedDocument: Hashable, Sendable {
    package let document: DocumentID
    package let reason: String
}
