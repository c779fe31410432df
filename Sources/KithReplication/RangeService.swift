internal import KithDocument

/// A source's answers about ranges and comparisons: one question of each kind at a time.
struct RangeService {
    /// The last scan, kept while questions about it come.
    private(set) var scan: RangeDigests?
    private(set) var scanUsedAt = Instant(milliseconds: 0)
    private var question: [UInt8]?
    private var list: [UInt16]?
    private var isListing = false
    private(set) var isComparing = false
    /// When the bodies may be read for a selector again, which costs too much to be done whenever a peer asks; and since when
    /// they are.
    private var restsUntil = Instant(milliseconds: 0)
    private var readSince: Instant?
    /// What waits for that: the documents that the puller leaves out of a comparison, and a question about ranges.
    private var waitingComparison: [DocumentID]?
    private var waitingScan = false

    var waitDeadline: Instant? { (waitingScan || waitingComparison != nil) && readSince == nil ? restsUntil : nil }

    /// Whether bodies may be read now; if so, it is taken to begin.
    private mutating func beginReading(_ now: Instant) -> Bool {
        guard readSince == nil, restsUntil <= now else { return false }
        readSince = now
        return true
    }

    mutating func endReading(_ now: Instant) {
        guard let since = readSince else { return }
        readSince = nil
        let rest = ReplicationLimits.filteredScanRest * now.milliseconds(since: since)
        restsUntil = now.advanced(byMilliseconds: max(ReplicationLimits.filteredScanMilliseconds, rest))
    }

    mutating func wait(toScan: Bool) { waitingScan = toScan }

    mutating func wait(toCompare documents: [DocumentID]) { waitingComparison = documents }

    /// Whether it is time for the scan that waits.
    mutating func takeScan(_ now: Instant) -> Bool {
        guard waitingScan, beginReading(now) else { return false }
        waitingScan = false
        return true
    }

    /// The comparison that waits, where it is time for it.
    mutating func takeComparison(_ now: Instant) -> [DocumentID]? {
        guard let documents = waitingComparison, beginReading(now) else { return nil }
        waitingComparison = nil
        return documents
    }

    var scanDeadline: Instant? {
        scan == nil ? nil : scanUsedAt.advanced(byMilliseconds: ReplicationLimits.scanMilliseconds)
    }

    mutating func expire(_ now: Instant) {
        if let deadline = scanDeadline, deadline <= now { scan = nil }
    }

    /// - Returns: whether the store must be scanned first.
    mutating func ask(_ firstBytes: [UInt8], at position: Position) throws(ProtocolError) -> Bool {
        guard question == nil else { throw ProtocolError("two questions about ranges at once") }
        question = firstBytes
        // A series of questions begins with all first bytes, and is about one scan.
        if firstBytes.isEmpty, scan?.position != position { scan = nil }
        return scan == nil
    }

    mutating func scanned(_ digests: RangeDigests) { scan = digests }

    /// The answer to the question asked.
    mutating func answer(_ feed: FeedID, now: Instant) -> RangeAnswer {
        guard let scan, let question else { preconditionFailure("feed \(feed) answers about ranges without a scan") }
        self.question = nil
        scanUsedAt = now
        let ranges =
            question.isEmpty
            ? Reconciliation.sums(scan.ranges)
            : scan.ranges.filter { question.contains(UInt8(truncatingIfNeeded: $0.index >> 8)) }
        return RangeAnswer(feed: feed, position: scan.position, ranges: ranges)
    }

    mutating func ask(list ranges: [UInt16]) throws(ProtocolError) {
        guard list == nil, !isListing else { throw ProtocolError("two lists of ranges at once") }
        if ranges.isEmpty { throw ProtocolError("a list of no ranges is asked for") }
        list = ranges
    }

    func nextList() -> [UInt16]? { list }

    mutating func beginList() {
        list = nil
        isListing = true
    }

    mutating func endList() { isListing = false }

    mutating func beginComparison() throws(ProtocolError) {
        if isComparing { throw ProtocolError("two comparisons at once") }
        isComparing = true
    }

    mutating func endComparison() { isComparing = false }
}

extension Source {
    mutating func receiveQuery(
        _ firstBytes: [UInt8], _ facts: SessionFacts, _ output: inout LinkOutput
    ) throws(ProtocolError) {
        if try ranges.ask(firstBytes, at: facts.local.position) {
            guard readsBodies else { return scan(facts, &output) }
            ranges.wait(toScan: true)
            goOn(facts, &output)
        } else {
            output.sendCredited(.rangeDigests(ranges.answer(feed, now: output.now)))
        }
    }

    /// Whether the filter is one that looks into bodies.
    private var readsBodies: Bool { if case .selector = filter { true } else { false } }

    private func scan(_ facts: SessionFacts, _ output: inout LinkOutput) {
        output.store(.rangeDigests(filter), facts.database, for: facts.owner(feed, .ranges))
    }

    private func exclude(_ theirs: [DocumentID], _ facts: SessionFacts, _ output: inout LinkOutput) {
        output.store(
            .exclusions(refused: facts.refusedOfPeer), facts.database,
            for: facts.owner(feed, .exclusions(theirs: theirs)))
    }

    /// Begins what has waited for its time.
    mutating func goOn(_ facts: SessionFacts, _ output: inout LinkOutput) {
        if ranges.takeScan(output.now) { scan(facts, &output) }
        if let documents = ranges.takeComparison(output.now) { exclude(documents, facts, &output) }
    }

    mutating func scanned(_ digests: RangeDigests, _ output: inout LinkOutput) {
        ranges.endReading(output.now)
        ranges.scanned(digests)
        output.sendCredited(.rangeDigests(ranges.answer(feed, now: output.now)))
    }

    mutating func listed(_ changes: [Change], _ output: inout LinkOutput) {
        ranges.endList()
        var rest = changes[...]
        repeat {
            var frame: [Change] = []
            var bytes = 0
            while let change = rest.first, frame.count < ReplicationLimits.changesPerPage {
                bytes += change.encodedBytes
                if !frame.isEmpty, bytes > ReplicationLimits.readBytes { break }
                frame.append(change)
                rest.removeFirst()
            }
            output.sendCredited(.rangeChanges(feed: feed, changes: frame, isFinal: rest.isEmpty))
        } while !rest.isEmpty
    }

    mutating func receiveComparison(
        _ documents: [DocumentID], _ facts: SessionFacts, _ output: inout LinkOutput
    ) throws(ProtocolError) {
        try ranges.beginComparison()
        guard readsBodies else { return exclude(documents, facts, &output) }
        ranges.wait(toCompare: documents)
        goOn(facts, &output)
    }

    func excluded(
        _ own: [DocumentID], theirs: [DocumentID], _ facts: SessionFacts, _ output: inout LinkOutput
    ) {
        let own = Array(own.prefix(ReplicationLimits.exclusions))
        output.store(
            .digest(filter, without: own.union(theirs)), facts.database, for: facts.owner(feed, .digest(own: own)))
    }

    mutating func summed(
        _ digest: Digest256, _ summary: ReplicaSummary, own: [DocumentID], _ output: inout LinkOutput
    ) {
        ranges.endReading(output.now)
        ranges.endComparison()
        compared = (DatabaseState(summary), digest, own.count)
        output.sendCredited(
            .compared(Compared(feed: feed, position: summary.position, digest: digest, documents: own)))
    }
}

extension [DocumentID] {
    /// Each document of either list once, ascending.
    func union(_ other: [DocumentID]) -> [DocumentID] {
        var union: [DocumentID] = []
        for document in (self + other).sorted() where union.last != document { union.append(document) }
        return union
    }
}
