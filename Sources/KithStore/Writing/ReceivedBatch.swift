import KithDocument

#if KITH_MUTANTS
import KithSystem
#endif

/// What a peer delivered, verified: every revision's form, bounds and hash. Making one costs a pass over all bodies and
/// needs no database, so it is done before the transaction and on any thread.
package struct ReceivedBatch: Sendable {
    let source: NodeID
    /// Where the source's feed stands once this is stored; nil leaves the checkpoint alone.
    let checkpoint: Position?
    let documents: [ReceivedDocument]
    /// Whether a document that is here is given up for the delivered one where that has seen all of it and brings nothing new.
    let givesWay: Bool
    /// What the source was asked for; nil for all of it.
    let filter: DocumentFilter?
    /// Documents that do not match, as the source has them.
    let leaving: [Change]

    package init(
        source: NodeID, deliveries: [Delivery], checkpoint: Position?, givesWay: Bool = false,
        filter: DocumentFilter? = nil, leaving: [Change] = []
    ) {
        self.filter = filter
        self.leaving = leaving
        self.source = source
        self.checkpoint = checkpoint
        self.givesWay = givesWay
        documents = deliveries.map { ReceivedDocument(verifying: $0) }
    }
}

/// One document's part of a batch: what is right, and what is refused with its reason.
struct ReceivedDocument: Sendable {
    let id: DocumentID
    let items: [Delivery.Item]
    /// Revisions that nobody can have right: the id is the hash of what is wrong. Of what else is wrong another peer may have
    /// what is right, and it is not refused by its id.
    let refused: [RevisionID]
    /// Why something is wrong, for the first of it.
    let reason: String?

    init(verifying delivery: Delivery) {
        id = delivery.document
        if delivery.items.count > DocumentLimits.leaves {
            items = []
            refused = []
            reason = "\(delivery.items.count) revisions came at once; \(DocumentLimits.leaves) are the most"
            return
        }
        var wrong: [Int] = []
        var refused: [RevisionID] = []
        var reason: String?
        for index in delivery.items.indices {
            let item = delivery.items[index]
            var isItsOwnFault = true
            do {
                try Self.verify(item.revision)
                isItsOwnFault = false
                try Self.verify(item.ancestors, of: item.revision.id)
            } catch {
                wrong.append(index)
                #if KITH_MUTANTS
                if Mutant.isActive(.refusesByID) { refused.append(item.revision.id) }
                #endif
                if isItsOwnFault, item.revision.hasItsHash { refused.append(item.revision.id) }
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

    private static func verify(_ revision: Revision) throws(DocumentError) {
        guard revision.body.count <= DocumentLimits.documentBytes else {
            throw .malformed("revision \(revision.id) has \(revision.body.count) bytes")
        }
        try revision.verify()
    }

    private static func verify(_ ancestors: [Ancestor], of id: RevisionID) throws(DocumentError) {
        guard ancestors.count <= Limits.ancestorsPerRevision else {
            throw .malformed("revision \(id) came with \(ancestors.count) ancestors")
        }
        var below = id.generation
        for ancestor in ancestors {
            guard ancestor.id.generation >= 1, ancestor.id.generation < below else {
                throw .malformed("revision \(id) came with ancestors out of order")
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
