import KithDocument
import KithReplication
import KithStore

/// A database as the changes protocol reads it. Writing goes through `DatabaseExecutor`, which groups commits.
package struct ReaderReplica: ReplicaStore {
    private let reader: StoreReader
    private let failed: (StoreError) -> Void

    /// - Parameter failed: told of what goes wrong, with more than peers are told.
    package init(_ reader: StoreReader, failed: @escaping (StoreError) -> Void = { _ in }) {
        self.reader = reader
        self.failed = failed
    }

    private func asking<Value>(_ body: () throws(StoreError) -> Value) throws(ReplicaError) -> Value {
        do throws(StoreError) { return try body() } catch {
            failed(error)
            throw ReplicaError(error)
        }
    }

    package func summary() throws(ReplicaError) -> ReplicaSummary {
        ReplicaSummary(try asking { () throws(StoreError) in try reader.summary() })
    }

    package func checkpoint(of source: NodeID, filter: FeedFilter?) throws(ReplicaError) -> Position? {
        try asking { () throws(StoreError) in
            try reader.checkpoint(of: source, filter: try DocumentFilter.of(filter))
        }
    }

    package func missing(in changes: [Change], givesWay: Bool) throws(ReplicaError) -> [Want] {
        try asking { () throws(StoreError) in try reader.missing(in: changes, givesWay: givesWay) }
    }

    package func held(of changes: [Change]) throws(ReplicaError) -> [Change] {
        try asking { () throws(StoreError) in try reader.held(of: changes) }
    }

    package func refused(in changes: [Change]) throws(ReplicaError) -> [DocumentID] {
        try asking { () throws(StoreError) in try reader.refused(in: changes) }
    }

    package func apply(_ batch: ReplicaBatch) throws(ReplicaError) -> ReplicaOutcome {
        preconditionFailure("a reader was asked to store")
    }

    package func resume(at checkpoint: Position?) throws(ReplicaError) -> ResumePoint {
        let sequence = try asking { () throws(StoreError) in try reader.resume(at: checkpoint) }
        return sequence.map(ResumePoint.after) ?? .unknown
    }

    package func changes(
        after sequence: UInt64, limit: Int, filter: FeedFilter?
    ) throws(ReplicaError) -> ChangesPage {
        let page = try asking { () throws(StoreError) in
            try reader.changes(after: sequence, limit: limit, matching: try DocumentFilter.of(filter))
        }
        return ChangesPage(
            changes: page.changes, through: page.through, isCaughtUp: page.isCaughtUp, digest: page.digest)
    }

    package func deliveries(for wants: [Want], maximumBytes: Int) throws(ReplicaError) -> DeliveriesPage {
        let page = try asking { () throws(StoreError) in try reader.deliveries(for: wants, maximumBytes: maximumBytes) }
        return DeliveriesPage(deliveries: page.deliveries, rest: page.rest, gone: page.gone)
    }

    package func rangeDigests(filter: FeedFilter?) throws(ReplicaError) -> RangeDigests {
        let scan = try asking { () throws(StoreError) in
            try reader.rangeDigests(matching: try DocumentFilter.of(filter))
        }
        return RangeDigests(
            position: scan.position,
            ranges: scan.ranges.map { RangeDigests.Range(index: $0.index, documents: $0.documents, digest: $0.digest) })
    }

    package func changes(inRanges ranges: [UInt16], filter: FeedFilter?) throws(ReplicaError) -> [Change] {
        try asking { () throws(StoreError) in
            try reader.changes(inRanges: ranges, matching: try DocumentFilter.of(filter))
        }
    }

    package func exclusions(refused: Set<DocumentID>) throws(ReplicaError) -> [DocumentID] {
        try asking { () throws(StoreError) in
            try reader.exclusions(expired: reader.now() - NodeLimits.expiredMilliseconds, refused: refused)
        }
    }

    package func digest(of documents: [DocumentID]) throws(ReplicaError) -> Digest256 {
        try asking { () throws(StoreError) in try reader.digest(of: documents) }
    }

    package func matchingDigest(
        _ filter: FeedFilter, without leftOut: [DocumentID]
    ) throws(ReplicaError) -> (Digest256, ReplicaSummary) {
        let (digest, summary) = try asking { () throws(StoreError) in
            try reader.matchingDigest(try DocumentFilter(filter), without: leftOut)
        }
        return (digest, ReplicaSummary(summary))
    }
}

extension ReplicaSummary {
    package init(_ summary: StoreSummary) {
        self.init(position: summary.position, digest: summary.digest, documents: summary.documents)
    }
}

extension ReplicaOutcome {
    package init(_ outcome: ReceivedOutcome) {
        self.init(
            stored: outcome.stored,
            refused: outcome.refused.map { Refusal(document: $0.document, reason: $0.reason) },
            summary: ReplicaSummary(outcome.summary))
    }
}

extension ReplicaError {
    /// Peers are told this too, so it names no path and no document.
    package init(_ error: StoreError) {
        let message: String =
            switch error.code {
            case .storageFull: "no space is left on the disk"
            case .inputOutput, .cannotOpen: "the disk fails"
            case .readOnly: "the database can't be written"
            case .moved, .missing: "the database's file was taken away"
            case .damaged: "the database is damaged"
            case .locked: "the database is in use by another program"
            case .closed: "the database is closed"
            default: error.message
            }
        self.init(
            code: error.code.rawValue, message: message, isTransient: error.isTransient,
            retryMilliseconds: error.isOfDisk ? NodeLimits.storageRetryMilliseconds : nil)
    }
}
