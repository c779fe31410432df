package import KithDocument

/// Names one piece of work that a link gave out; answered once.
package struct Ticket: Hashable, Sendable {
    package let number: UInt64
}

/// What a link asks of a database: one reading or one transaction.
package enum StoreRequest: Sendable {
    /// Where the database stands and how far it has taken the source's changes.
    case open(source: NodeID)
    case missing([Change], givesWay: Bool)
    case apply(ReplicaBatch)
    case resume(at: Position)
    case changes(after: UInt64, limit: Int)
    case deliveries([Want], maximumBytes: Int)
    case rangeDigests
    case changesInRanges([UInt16])
    case exclusions(refused: Set<DocumentID>)
    case digest(of: [DocumentID])

    /// Whether it needs the database's writer; the others go to readers.
    package var isWrite: Bool { if case .apply = self { true } else { false } }
}

/// What became of a request.
package enum StoreResult: Sendable {
    case opened(ReplicaSummary, checkpoint: Position?)
    case missing([Want], refused: [DocumentID])
    case applied(ReplicaOutcome)
    case resumed(ResumePoint, ReplicaSummary)
    case changes(ChangesPage)
    case deliveries(DeliveriesPage)
    case rangeDigests(RangeDigests)
    case changesInRanges([Change])
    case exclusions([DocumentID])
    /// The sum over the documents, and where the database stood.
    case digest(Digest256, ReplicaSummary)
    case failed(ReplicaError)
}

/// Carries out a request. Blocks: called on the database's executors.
package func perform(_ request: StoreRequest, on store: some ReplicaStore) -> StoreResult {
    do throws(ReplicaError) {
        switch request {
        case .open(let source):
            let checkpoint = try store.checkpoint(of: source)
            return .opened(try store.summary(), checkpoint: checkpoint)
        case .missing(let changes, let givesWay):
            let wants = try store.missing(in: changes, givesWay: givesWay)
            return .missing(wants, refused: try store.refused(in: changes))
        case .apply(let batch): return .applied(try store.apply(batch))
        case .resume(let position):
            let point = try store.resume(at: position)
            return .resumed(point, try store.summary())
        case .changes(let sequence, let limit): return .changes(try store.changes(after: sequence, limit: limit))
        case .deliveries(let wants, let bytes):
            return .deliveries(try store.deliveries(for: wants, maximumBytes: bytes))
        case .rangeDigests: return .rangeDigests(try store.rangeDigests())
        case .changesInRanges(let ranges): return .changesInRanges(try store.changes(inRanges: ranges))
        case .exclusions(let refused): return .exclusions(try store.exclusions(refused: refused))
        case .digest(let documents):
            let sum = try store.digest(of: documents)
            return .digest(sum, try store.summary())
        }
    } catch {
        return .failed(error)
    }
}
