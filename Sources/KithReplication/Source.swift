internal import KithDocument

#if KITH_MUTANTS
import KithSystem
#endif

/// The source's half of a session: offers this database's changes to the peer and answers what it wants.
///
/// The store is read page by page, only while the peer's credit and the shell's buffer have room, and nothing is held
/// between two reads but how far they went. One source is one feed of the peer: it is not used again.
struct Source {
    enum Phase {
        /// Opened; no changes are wanted yet.
        case idle
        /// The store is asked whether it knows the puller's checkpoint.
        case resuming(at: Position)
        case streaming
    }

    struct SentPage {
        let number: UInt64
        let through: Position
        /// The digest at its end, when nothing followed.
        let digest: Digest256?
    }

    /// A `Want` under way.
    struct Serving {
        let request: UInt64
        var wants: [Want]
    }

    let feed: FeedID
    /// Which documents the puller takes; nil for all.
    let filter: FeedFilter?
    var phase = Phase.idle
    /// How far the store was read.
    var readThrough: UInt64 = 0
    /// Where the feed began.
    private(set) var startedAfter: UInt64 = 0
    var isReading = false
    /// Whether there may be changes after `readThrough`.
    var hasMore = false
    /// The digest that the last page which said so had at its end.
    var lastDigest: Digest256?
    /// Sent and not acknowledged.
    var sent: [SentPage] = []
    var lastPage: SentPage?
    /// Pages read of which nothing had to be offered, since the last one sent.
    var skippedPages = 0
    var emptyPage: (through: Position, digest: Digest256)?
    var lastEmptyAt: Instant?
    var acknowledged: Position?
    /// The checkpoint that the puller began with, where the store knows its timeline.
    private var resumedAt: Position?
    /// Up to where the puller has durably taken the feed.
    var reached: Position? { acknowledged ?? resumedAt }
    var requests: [Serving] = []
    var lastRequest: UInt64 = 0
    var isDelivering = false
    var ranges = RangeService()
    /// What was answered to the last comparison: where this database stood, its digest without what either side leaves
    /// out, and how many documents it leaves out itself.
    var compared: (mine: DatabaseState, digest: Digest256, leftOut: Int)?
    /// That the puller found the two equal but for what is left out, and where both stood.
    private(set) var told: (pair: Comparison.Pair, leftOut: (here: Int, byPeer: Int))?

    init(feed: FeedID, filter: FeedFilter?) {
        self.feed = feed
        self.filter = filter
    }

    // What the puller says.

    mutating func subscribe(
        after position: Position?, _ facts: SessionFacts, _ output: inout LinkOutput
    ) throws(ProtocolError) {
        guard case .idle = phase else { throw ProtocolError("feed \(feed) is subscribed to twice") }
        #if KITH_MUTANTS
        if Mutant.isActive(.startsOver) { return stream(after: 0) }
        #endif
        if let position {
            phase = .resuming(at: position)
            output.store(.resume(at: position), facts.database, for: facts.owner(feed, .resume))
        } else {
            stream(after: 0)
        }
    }

    private mutating func stream(after sequence: UInt64) {
        phase = .streaming
        readThrough = sequence
        startedAfter = sequence
        hasMore = true
    }

    mutating func resumed(
        _ point: ResumePoint, _ summary: ReplicaSummary, _ facts: inout SessionFacts, _ output: inout LinkOutput
    ) {
        facts.noteLocal(summary)
        guard case .resuming(let asked) = phase else { preconditionFailure("feed \(feed) resumes in \(phase)") }
        switch point {
        case .after(let sequence):
            if sequence < asked.sequence {
                output.report(
                    .history(database: facts.database, .lostHere(sequence: asked.sequence, end: sequence)))
            }
            resumedAt = Position(timeline: asked.timeline, sequence: sequence)
            stream(after: sequence)
        case .unknown:
            phase = .idle
            output.report(.history(database: facts.database, .unknownHere))
            output.sendCredited(.unknown(feed, DatabaseState(summary)))
        }
    }

    mutating func receive(_ ack: Ack, _ facts: inout SessionFacts) throws(ProtocolError) {
        guard let lastPage, ack.page <= lastPage.number, ack.page >= (sent.first?.number ?? lastPage.number + 1) - 1
        else {
            throw ProtocolError("page \(ack.page) is acknowledged and was not sent, or long ago")
        }
        while let first = sent.first, first.number <= ack.page {
            acknowledged = first.through
            sent.removeFirst()
        }
        facts.noteTheirs(ack.position, ack.digest)
        if let equality = ack.equality, let compared, equality.digest == compared.digest {
            let theirs = DatabaseState(position: ack.position, digest: ack.digest, documents: facts.theirs.documents)
            told = (Comparison.Pair(mine: compared.mine, theirs: theirs), (compared.leftOut, equality.leftOut))
        }
    }

    mutating func want(_ request: UInt64, _ wants: [Want]) throws(ProtocolError) {
        guard request == lastRequest + 1 else { throw ProtocolError("request \(request) came after \(lastRequest)") }
        guard requests.count < ReplicationLimits.requestsInFlight else {
            throw ProtocolError("more than \(ReplicationLimits.requestsInFlight) requests are open")
        }
        if wants.isEmpty { throw ProtocolError("request \(request) wants nothing") }
        lastRequest = request
        requests.append(Serving(request: request, wants: wants))
    }

    // Reading the store.

    /// A commit changed the database.
    mutating func noteLocal(_ facts: SessionFacts) {
        #if KITH_MUTANTS
        if Mutant.isActive(.neverTells) { return }
        #endif
        let sequence = facts.local.position.sequence
        // A store may change its digest without a change: that is news too.
        if sequence > readThrough || (sequence == readThrough && lastDigest != nil && facts.local.digest != lastDigest)
        {
            hasMore = true
        }
    }

    /// Reads the store if there is something to do and room for it.
    mutating func serve(_ facts: SessionFacts, _ output: inout LinkOutput) {
        if case .streaming = phase, hasMore, !isReading, sent.count < ReplicationLimits.pagesInFlight,
            output.gate.mayRead
        {
            isReading = true
            hasMore = false
            read(
                .changes(after: readThrough, limit: ReplicationLimits.changesPerPage, filter: filter), .changes, facts,
                &output)
        }
        if !isDelivering, let serving = requests.first, output.gate.mayRead {
            isDelivering = true
            read(
                .deliveries(serving.wants, maximumBytes: ReplicationLimits.readBytes), .deliveries, facts, &output)
        }
        if let listed = ranges.nextList(), output.gate.mayRead {
            ranges.beginList()
            read(.changesInRanges(listed, filter), .rangeChanges, facts, &output)
        }
        sendEmptyPage(facts, &output)
    }

    func read(
        _ request: StoreRequest, _ work: TicketOwner.Work, _ facts: SessionFacts, _ output: inout LinkOutput
    ) {
        output.gate.reserve(work.reservedBytes)
        output.store(request, facts.database, for: facts.owner(feed, work))
    }

    mutating func read(_ page: ChangesPage, _ facts: inout SessionFacts, _ output: inout LinkOutput) {
        isReading = false
        readThrough = page.through.sequence
        lastDigest = page.isCaughtUp ? page.digest : nil
        if page.isCaughtUp { facts.noteLocal(page.through, page.digest) }
        if !page.isCaughtUp || facts.local.position.sequence > readThrough { hasMore = true }
        // What does not match is told even to who has shown it: it is to know that it has arrived.
        let offered = page.changes.filter { !$0.isMatching || !facts.echo.covers($0) }
        if offered.isEmpty, lastPage != nil || !page.isCaughtUp {
            skip(page, facts, &output)
        } else {
            emptyPage = nil
            send(offered, page, facts, &output)
        }
    }

    /// Nothing of the page needs to be offered; how far the feed is, is said when it is caught up, and now and then.
    private mutating func skip(_ page: ChangesPage, _ facts: SessionFacts, _ output: inout LinkOutput) {
        skippedPages += 1
        if page.isCaughtUp {
            let isSaid = lastPage?.through == page.through && lastPage?.digest == page.digest
            emptyPage = isSaid ? nil : (page.through, page.digest)
        } else if skippedPages >= 16 {
            emptyPage = nil
            send([], page, facts, &output)
        }
    }

    private var emptyPageDeadline: Instant? {
        // While the store is read, what it answers goes first; a deadline then would come round at once, again and again.
        guard emptyPage != nil, !isReading, sent.count < ReplicationLimits.pagesInFlight else { return nil }
        return lastEmptyAt?.advanced(byMilliseconds: ReplicationLimits.emptyPageMilliseconds)
            ?? Instant(milliseconds: 0)
    }

    private mutating func sendEmptyPage(_ facts: SessionFacts, _ output: inout LinkOutput) {
        guard let deadline = emptyPageDeadline, deadline <= output.now, let empty = emptyPage else { return }
        lastEmptyAt = output.now
        emptyPage = nil
        sendFrame([], empty.through, empty.digest, facts, &output)
    }

    /// Sends a page in as many frames as its bytes need.
    private mutating func send(
        _ changes: [Change], _ page: ChangesPage, _ facts: SessionFacts, _ output: inout LinkOutput
    ) {
        var frame: [Change] = []
        var bytes = 0
        for change in changes {
            let size = change.encodedBytes
            if !frame.isEmpty, bytes + size > ReplicationLimits.readBytes, let last = frame.last {
                let through = Position(timeline: page.through.timeline, sequence: last.sequence)
                sendFrame(frame, through, nil, facts, &output)
                frame = []
                bytes = 0
            }
            frame.append(change)
            bytes += size
        }
        sendFrame(frame, page.through, page.isCaughtUp ? page.digest : nil, facts, &output)
    }

    private mutating func sendFrame(
        _ changes: [Change], _ through: Position, _ digest: Digest256?, _ facts: SessionFacts,
        _ output: inout LinkOutput
    ) {
        let page = SentPage(number: (lastPage?.number ?? 0) + 1, through: through, digest: digest)
        lastPage = page
        sent.append(page)
        skippedPages = 0
        let latest = max(facts.local.position.sequence, through.sequence)
        output.sendCredited(
            .changes(
                Changes(
                    feed: feed, page: page.number, through: through, digest: digest, latest: latest, changes: changes)))
    }

    func nextDeadline() -> Instant? {
        [emptyPageDeadline, ranges.scanDeadline, ranges.waitDeadline].compactMap(\.self).min()
    }
}

extension Change {
    /// About the bytes that the change takes on the wire, never less.
    var encodedBytes: Int { document.string.utf8.count + 20 + 33 * leaves.count }
}
