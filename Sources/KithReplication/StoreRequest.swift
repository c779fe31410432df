package import KithDocument

/// Names one piece of work that a link gave out; answered once.
package struct Ticket: Hashable, Sendable {
    package let number: UInt64
}

/// What a link asks of a database: one reading or one transaction.
package enum StoreRequest: Sendable {
    /// Where the database stands and how far it has taken the source's changes.
    case open(source: NodeID, filter: FeedFilter?)
    case missing([Change], givesWay: Bool)
    case apply(ReplicaBatch)
    case resume(at: Position)
    case changes(after: UInt64, limit: Int, filter: FeedFilter?)
    case deliveries([Want], maximumBytes: Int)
    case rangeDigests(FeedFilter?)
    case changesInRanges([UInt16], FeedFilter?)
    case exclusions(refused: Set<DocumentID>)
    /// Of all documents, or of those that match, but for those left out.
    case digest(FeedFilter?, without: [DocumentID])

    /// Whether it needs the database's writer; the others go to readers.
    package var isWrite: Bool { if case .apply = self { true } else { false } }
}

/// What became of a request.
package enum StoreResult: Sendable {
    case opened(ReplicaSummary, checkpoint: Position?)
    /// What is wanted, what was refused, and what is here of the changes that do not match.
    case missing([Want], refused: [DocumentID], leaving: [Change])
    case applied(ReplicaOutcome)
    case resumed(ResumePoint, ReplicaSummary)
    case changes(ChangesPage)
    case deliveries(DeliveriesPage)
    case rangeDigests(RangeDigests)
    case changesInRanges([Change])
    case exclusions([DocumentID])
    /// What was asked for, and where the database stood.
    case digest(Digest256, ReplicaSummary)
    case failed(ReplicaError)
}

/// Carries out a request. Blocks: called on the database's executors.
package func perform(_ request: StoreRequest, on store: some ReplicaStore) -> StoreResult {
    do throws(ReplicaError) {
        switch request {
        case .open(let source, let filter):
            let checkpoint = try store.checkpoint(of: source, filter: filter)
            return .opened(try store.summary(), checkpoint: checkpoint)
        case .missing(let changes, let givesWay):
            let wants = try store.missing(in: changes, givesWay: givesWay)
            let others = changes.filter { !$0.isMatching }
            return .missing(
                wants, refused: try store.refused(in: changes),
                leaving: others.isEmpty ? [] : try store.held(of: others))
        case .apply(let batch): return .applied(try store.apply(batch))
        case .resume(let position):
            let point = try store.resume(at: position)
            return .resumed(point, try store.summary())
        case .changes(let sequence, let limit, let filter):
            return .changes(try store.changes(after: sequence, limit: limit, filter: filter))
        case .deliveries(let wants, let bytes):
            return .deliveries(try store.deliveries(for: wants, maximumBytes: bytes))
        case .rangeDigests(let filter): return .rangeDigests(try store.rangeDigests(filter: filter))
        case .changesInRanges(let ranges, let filter):
            return .changesInRanges(try store.changes(inRanges: ranges, filter: filter))
        case .exclusions(let refused): return .exclusions(try store.exclusions(refused: refused))
        case .digest(let filter?, let leftOut):
            let (digest, summary) = try store.matchingDigest(filter, without: leftOut)
            return .digest(digest, summary)
        case .digest(nil, let leftOut):
            let sum = try store.digest(of: leftOut)
            let summary = try store.summary()
            return .digest(summary.digest - sum, summary)
        }
    } catch {
        return .failed(error)
    }
}
