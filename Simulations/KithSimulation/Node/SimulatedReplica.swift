import KithDocument
import KithReplication
import KithStore

/// The store of one database as a link sees it.
struct SimulatedReplica: ReplicaStore {
    let store: Store
    let reader: StoreReader
    let sabotage: Sabotage?

    func summary() throws(ReplicaError) -> ReplicaSummary {
        try reading { () throws(StoreError) in Self.summary(try reader.summary()) }
    }

    func checkpoint(of source: NodeID) throws(ReplicaError) -> Position? {
        try reading { () throws(StoreError) in try reader.checkpoint(of: source) }
    }

    func missing(in changes: [Change]) throws(ReplicaError) -> [Want] {
        try reading { () throws(StoreError) in try reader.missing(in: changes) }
    }

    func apply(_ batch: ReplicaBatch) throws(ReplicaError) -> ReplicaOutcome {
        var deliveries = batch.deliveries
        if sabotage == .dropsDelivery, batch.checkpoint != nil, deliveries.count > 1 { deliveries.removeLast() }
        let received = ReceivedBatch(source: batch.source, deliveries: deliveries, checkpoint: batch.checkpoint)
        let outcome = try reading { () throws(StoreError) in
            try store.write { (transaction) throws(StoreError) in try transaction.apply(received) }
        }
        return ReplicaOutcome(
            stored: outcome.stored,
            refused: outcome.refused.map { Refusal(document: $0.document, reason: $0.reason) },
            summary: Self.summary(outcome.summary))
    }

    func resume(at checkpoint: Position?) throws(ReplicaError) -> ResumePoint {
        try reading { () throws(StoreError) in
            guard let sequence = try reader.resume(at: checkpoint) else { return .unknown }
            return .after(sequence)
        }
    }

    func changes(after sequence: UInt64, limit: Int) throws(ReplicaError) -> ChangesPage {
        try reading { () throws(StoreError) in
            let page = try reader.changes(after: sequence, limit: limit)
            return ChangesPage(
                changes: page.changes, through: page.through, isCaughtUp: page.isCaughtUp, digest: page.digest)
        }
    }

    func deliveries(for wants: [Want], maximumBytes: Int) throws(ReplicaError) -> DeliveriesPage {
        try reading { () throws(StoreError) in
            let page = try reader.deliveries(for: wants, maximumBytes: maximumBytes)
            return DeliveriesPage(deliveries: page.deliveries, rest: page.rest, gone: page.gone)
        }
    }

    func rangeDigests() throws(ReplicaError) -> RangeDigests {
        try reading { () throws(StoreError) in
            let ranges = try reader.rangeDigests()
            return RangeDigests(
                position: ranges.position,
                ranges: ranges.ranges.map { .init(index: $0.index, documents: $0.documents, digest: $0.digest) })
        }
    }

    func changes(inRanges ranges: [UInt16]) throws(ReplicaError) -> [Change] {
        try reading { () throws(StoreError) in try reader.changes(inRanges: ranges) }
    }

    func exclusions() throws(ReplicaError) -> [DocumentID] {
        try reading { () throws(StoreError) in try reader.exclusions() }
    }

    func digest(of documents: [DocumentID]) throws(ReplicaError) -> Digest256 {
        try reading { () throws(StoreError) in try reader.digest(of: documents) }
    }

    static func summary(_ summary: StoreSummary) -> ReplicaSummary {
        ReplicaSummary(position: summary.position, digest: summary.digest, documents: summary.documents)
    }

    private func reading<Value>(_ body: () throws(StoreError) -> Value) throws(ReplicaError) -> Value {
        do {
            return try body()
        } catch {
            throw ReplicaError(code: error.code.rawValue, message: error.message, isTransient: error.isTransient)
        }
    }
}

/// Bugs put in on purpose: a simulator that does not catch them catches nothing.
package enum Sabotage: String, Sendable, CaseIterable {
    /// Stores a batch without its last document and moves the checkpoint all the same: S10.
    case dropsDelivery
    /// A read returns the leaf that came first: S6.
    case winnerByArrival
    /// A write is acknowledged and was never made: S1.
    case acknowledgesNothing
    /// A commit is told of before it is on disk: S1.
    case forgetsToSynchronise
    /// A status says `in sync` as soon as a link is up: S19.
    case alwaysInSync
}
