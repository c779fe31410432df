internal import KithDocument

/// Finds the documents in which the peer's database differs from this one, without listing either: digests of ranges of
/// the id hash are compared, and only the ranges that differ are listed. What is missing here is fetched as from a page
/// of changes. The peer does the same for itself.
struct Reconciliation {
    enum Purpose {
        /// Before the feed is subscribed: the checkpoint is set to where the source was scanned.
        case start
        /// The digests differ though the feeds are caught up: checkpoints stay.
        case repair
    }

    enum Step {
        /// This database is scanned.
        case scanning
        /// The digests of all first bytes are asked for.
        case first
        /// The digests of the ranges of these first bytes are asked for.
        case second([UInt8])
        /// These ranges are listed.
        case listing
        /// What the last list brought is fetched.
        case fetching
    }

    let purpose: Purpose
    var step = Step.scanning
    /// Of this database, ascending.
    var own: [RangeDigests.Range] = []
    /// Where the source was scanned.
    var position: Position?
    var firstBytes: [UInt8] = []
    /// Ranges that differ, with the source's count of documents.
    var differing: [RangeDigests.Range] = []
    /// Revisions stored since it began.
    var stored = 0
    /// Ranges listed.
    var listed = 0

    init(_ purpose: Purpose) { self.purpose = purpose }

    /// Sums of this database's ranges by first byte.
    static func sums(_ ranges: [RangeDigests.Range]) -> [RangeDigests.Range] {
        var sums: [RangeDigests.Range] = []
        var rest = ranges[...]
        while let first = rest.first {
            let byte = first.index >> 8
            var digest = Digest256.zero
            var documents: UInt32 = 0
            while let range = rest.first, range.index >> 8 == byte {
                digest += range.digest
                documents = documents.addingReportingOverflow(range.documents).partialValue
                rest.removeFirst()
            }
            sums.append(RangeDigests.Range(index: byte, documents: documents, digest: digest))
        }
        return sums
    }

    /// Of the peer's ranges those that differ from the own ones; both ascending.
    /// - Parameter bothWays: also the own ones that the peer has not. With a filter they may hold what it has and does not match.
    static func differing(
        _ theirs: [RangeDigests.Range], from own: [RangeDigests.Range], bothWays: Bool
    ) -> [RangeDigests.Range] {
        var rest = own[...]
        let differing = theirs.filter { range in
            while let next = rest.first, next.index < range.index { rest.removeFirst() }
            return rest.first?.index != range.index || rest.first?.digest != range.digest
        }
        if !bothWays { return differing }
        let indices = Set(theirs.map(\.index))
        return (differing + own.filter { !indices.contains($0.index) }).sorted { $0.index < $1.index }
    }
}

extension Puller {
    mutating func reconcile(_ purpose: Reconciliation.Purpose, _ facts: SessionFacts, _ output: inout LinkOutput) {
        precondition(reconciliation == nil, "feed \(feed) reconciles twice at once")
        reconciliation = Reconciliation(purpose)
        output.store(.rangeDigests(facts.filter), facts.database, for: facts.owner(feed, .scan))
    }

    mutating func scanned(_ digests: RangeDigests, _ output: inout LinkOutput) {
        reconciliation?.own = digests.ranges
        reconciliation?.step = .first
        output.send(.rangeQuery(feed: feed, firstBytes: []))
    }

    mutating func receive(
        _ answer: RangeAnswer, _ facts: inout SessionFacts, _ output: inout LinkOutput
    ) throws(ProtocolError) {
        guard let running = reconciliation else {
            throw ProtocolError("digests of ranges came that were not asked for")
        }
        switch running.step {
        case .first:
            guard answer.ranges.allSatisfy({ $0.index < 256 }) else { throw ProtocolError("a first byte is over 255") }
            let differing = Reconciliation.differing(
                answer.ranges, from: Reconciliation.sums(running.own), bothWays: facts.filter != nil)
            reconciliation?.position = answer.position
            reconciliation?.firstBytes = differing.map { UInt8(truncatingIfNeeded: $0.index) }
        case .second(let bytes):
            guard answer.ranges.allSatisfy({ bytes.contains(UInt8(truncatingIfNeeded: $0.index >> 8)) }) else {
                throw ProtocolError("digests of ranges came that were not asked for")
            }
            let own = running.own.filter { bytes.contains(UInt8(truncatingIfNeeded: $0.index >> 8)) }
            reconciliation?.differing += Reconciliation.differing(
                answer.ranges, from: own, bothWays: facts.filter != nil)
        default: throw ProtocolError("digests of ranges came that were not asked for")
        }
        askRanges(&output)
        continueReconciliation(&facts, &output)
    }

    /// The next question: first all ranges of the first bytes that differ, then the lists.
    private mutating func askRanges(_ output: inout LinkOutput) {
        guard var running = reconciliation else { return }
        if running.firstBytes.isEmpty {
            running.step = .fetching
        } else {
            let bytes = Array(running.firstBytes.prefix(ReplicationLimits.firstBytesPerQuery))
            running.firstBytes.removeFirst(bytes.count)
            running.step = .second(bytes)
            output.send(.rangeQuery(feed: feed, firstBytes: bytes))
        }
        reconciliation = running
    }

    mutating func receiveRangeChanges(
        _ changes: [Change], isFinal: Bool, bytes: Int, _ facts: inout SessionFacts, _ output: inout LinkOutput
    ) throws(ProtocolError) {
        guard let running = reconciliation, case .listing = running.step else {
            throw ProtocolError("a list of ranges came that was not asked for")
        }
        facts.echo.note(changes)
        if isFinal { reconciliation?.step = .fetching }
        add(changes, .ranges, bytes, facts, &output)
        advance(&facts, &output)
    }

    /// Asks for the next list when all that the last brought is stored, and ends after the last.
    mutating func continueReconciliation(_ facts: inout SessionFacts, _ output: inout LinkOutput) {
        guard var running = reconciliation, case .fetching = running.step, applying == nil, inbox.isEmpty,
            !pages.contains(where: { if case .ranges = $0.origin { true } else { false } })
        else { return }
        if running.differing.isEmpty {
            reconciliation = nil
            let reason: HistoryFinding.Reason =
                if case .start = running.purpose { .noCheckpoint } else { .digestsDiffered }
            output.report(
                .history(
                    database: facts.database, .reconciled(reason, ranges: running.listed, stored: running.stored)))
            if case .start = running.purpose, let position = running.position { adopt(position, facts, &output) }
            return
        }
        var ranges: [UInt16] = []
        var documents: UInt64 = 0
        for range in running.differing.prefix(ReplicationLimits.rangesPerList) {
            documents += UInt64(range.documents)
            if !ranges.isEmpty, documents > UInt64(ReplicationLimits.documentsPerList) { break }
            ranges.append(range.index)
        }
        running.differing.removeFirst(ranges.count)
        running.listed += ranges.count
        running.step = .listing
        reconciliation = running
        output.send(.rangeList(feed: feed, ranges: ranges))
    }
}
