internal import KithDocument

/// The puller's half of a session: takes the peer's changes into this database.
///
/// Pages of changes come in order and are worked on side by side: what is missing is asked of the store, claimed, asked
/// of the peer, and stored as it comes, one transaction at a time. The checkpoint moves with the transaction that
/// completes a page, and never past a page that waits. One puller is one feed: it is not used again.
struct Puller {
    enum Phase {
        /// The store is asked how far this database has come.
        case opening
        /// The checkpoint is set to a place that is known to be held here; the feed is subscribed after it then.
        case adopting
        /// Subscribed; the first page, or that the checkpoint is unknown, is still to come.
        case subscribed(after: Position?)
        /// Documents are exchanged by ranges before the feed is subscribed.
        case reconciling
        case following
    }

    let feed: FeedID
    var phase = Phase.opening
    /// In the order they came; bounded by `pagesInFlight`, and by one list of ranges.
    var pages: [PulledPage] = []
    var requests: [PullRequest] = []
    /// Wants that wait for a request to end.
    var waiting: [(page: UInt64, wants: [Want])] = []
    var nextRequest: UInt64 = 1
    var nextPageKey: UInt64 = 1
    /// Documents that wait for the store.
    var inbox: [Piece] = []
    var applying: Application?
    /// The last page received, and the last of which everything is stored.
    var receivedPage: UInt64 = 0
    var completedPage: UInt64 = 0
    var receivedThrough: Position?
    /// Where the feed began; nil before its first page.
    private(set) var startedAfter: UInt64?
    /// How far the peer's changes are stored, and what of that the stored checkpoint says.
    var processed: Position?
    var written: Position?
    var dirtySince: Instant?
    /// Whether the last page said that nothing follows.
    var isCaughtUp = false
    /// The peer's last sequence as far as it said.
    var latest: UInt64?
    /// A large document of which parts have come.
    var assembly: Assembly?
    var reconciliation: Reconciliation?
    /// The documents that this side leaves out of the comparison that was asked for.
    var comparing: [DocumentID]?
    /// How many documents this side and the peer left out of the comparison that was answered last.
    var comparedWithout: (here: Int, byPeer: Int)?
    /// Whether a comparison is under way.
    var isComparing = false
    /// How often the source did not know a checkpoint: the stored one, and then places that it named itself.
    private var unknowns = 0
    private static let mostUnknowns = 3
    /// What the last acknowledgement said of this database.
    var acknowledged: DatabaseState?
    var acknowledgedAt = Instant(milliseconds: 0)

    struct Piece {
        let page: UInt64
        let deliveries: [Delivery]
        let refusals: [Refusal]
        let documents: [DocumentID]
        let creditBytes: Int
        let isLarge: Bool
        let givesWay: Bool
        /// Documents that do not match and are here; they come last of their page.
        var leaving: [Change] = []
    }

    struct Application {
        let checkpoint: Position?
        let documents: [DocumentID]
        let refusals: [Refusal]
        let creditBytes: Int
        let large: Int
    }

    struct Assembly {
        let request: UInt64
        let totalBytes: Int
        var bytes: [UInt8]
        var keptAt: Instant
    }

    init(feed: FeedID) { self.feed = feed }

    // Opening.

    /// Feeds are opened in the order of their numbers, so the peer is told at once and not when the store has answered.
    mutating func open(_ facts: SessionFacts, _ output: inout LinkOutput) {
        output.send(.open(feed: feed, database: facts.peerNumber, filter: facts.filter))
        output.store(.open(source: facts.peer, filter: facts.filter), facts.database, for: facts.owner(feed, .open))
    }

    mutating func opened(
        _ summary: ReplicaSummary, _ checkpoint: Position?, _ facts: inout SessionFacts, _ output: inout LinkOutput
    ) {
        facts.noteLocal(summary)
        if let checkpoint {
            processed = checkpoint
            written = checkpoint
            subscribe(after: checkpoint, &output)
        } else {
            begin(facts, &output)
        }
    }

    private mutating func subscribe(after position: Position?, _ output: inout LinkOutput) {
        phase = .subscribed(after: position)
        receivedThrough = position
        output.send(.subscribe(feed: feed, after: position))
    }

    /// Without a checkpoint that the source knows: the whole feed where that is little, else by digests.
    private mutating func begin(_ facts: SessionFacts, _ output: inout LinkOutput) {
        if facts.filter != nil {
            // What is here and does not match is to be heard of too.
            subscribe(after: nil, &output)
        } else if facts.theirs.position.sequence > 0, facts.theirs.digest == facts.local.digest,
            facts.theirs.documents == facts.local.documents
        {
            adopt(facts.theirs.position, facts, &output)
        } else if min(facts.local.documents, facts.theirs.documents) < ReplicationLimits.fewDocuments {
            subscribe(after: nil, &output)
        } else {
            phase = .reconciling
            reconcile(.start, facts, &output)
        }
    }

    /// Sets the checkpoint to a place up to which everything is held here.
    mutating func adopt(_ position: Position, _ facts: SessionFacts, _ output: inout LinkOutput) {
        phase = .adopting
        let batch = ReplicaBatch(source: facts.peer, deliveries: [], checkpoint: position, filter: facts.filter)
        output.store(.apply(batch), facts.database, for: facts.owner(feed, .adopt(position)))
    }

    mutating func adopted(
        _ position: Position, _ outcome: ReplicaOutcome, _ facts: inout SessionFacts, _ output: inout LinkOutput
    ) {
        facts.noteLocal(outcome.summary)
        processed = position
        written = position
        subscribe(after: position, &output)
    }

    /// The source does not know the timeline of the checkpoint.
    mutating func receiveUnknown(
        _ state: DatabaseState, _ facts: inout SessionFacts, _ output: inout LinkOutput
    ) throws(ProtocolError) {
        guard case .subscribed(.some) = phase else {
            throw ProtocolError("a checkpoint is called unknown that was not sent")
        }
        unknowns += 1
        if unknowns > Self.mostUnknowns {
            throw ProtocolError("a checkpoint of the source's own making is unknown to it")
        }
        if unknowns == 1 { output.report(.history(database: facts.database, .unknownByPeer)) }
        processed = nil
        written = nil
        facts.noteTheirs(state)
        begin(facts, &output)
    }

    // Pages.

    mutating func receive(
        _ changes: Changes, bytes: Int, _ facts: inout SessionFacts, _ output: inout LinkOutput
    ) throws(ProtocolError) {
        switch phase {
        case .subscribed(let checkpoint):
            phase = .following
            startedAfter = min(checkpoint?.sequence ?? 0, changes.through.sequence)
            // A source that was put back to an earlier state goes on where its timeline ends now, below the checkpoint.
            receivedThrough = nil
        case .following: break
        default: throw ProtocolError("changes came that were not subscribed to")
        }
        try check(changes)
        receivedPage = changes.page
        receivedThrough = changes.through
        latest = max(changes.latest, changes.through.sequence)
        isCaughtUp = changes.digest != nil
        if let digest = changes.digest { facts.noteTheirs(changes.through, digest) }
        facts.echo.note(changes.changes)
        add(changes.changes, .feed(changes.page, changes.through), bytes, facts, &output)
        advance(&facts, &output)
    }

    private func check(_ changes: Changes) throws(ProtocolError) {
        guard changes.page == receivedPage + 1 else {
            throw ProtocolError("page \(changes.page) came after page \(receivedPage)")
        }
        guard changes.page - completedPage <= UInt64(ReplicationLimits.pagesInFlight) else {
            throw ProtocolError("more than \(ReplicationLimits.pagesInFlight) pages came before they were acknowledged")
        }
        var last = receivedThrough?.timeline == changes.through.timeline ? receivedThrough?.sequence ?? 0 : 0
        for change in changes.changes {
            guard change.sequence > last else { throw ProtocolError("the sequences of a page do not ascend") }
            last = change.sequence
        }
        guard changes.through.sequence >= last else { throw ProtocolError("a page ends before its last change") }
    }

    /// Begins work on a page.
    mutating func add(
        _ changes: [Change], _ origin: PulledPage.Origin, _ bytes: Int, _ facts: SessionFacts,
        _ output: inout LinkOutput
    ) {
        var page = PulledPage(
            key: nextPageKey, origin: origin, changes: changes,
            // Nobody asks it for what it has merged otherwise than its source.
            givesWay: facts.givesWay && reconciliation?.purpose == .repair && origin.isOfRanges)
        nextPageKey += 1
        if changes.isEmpty {
            page.state = .settled
            output.credit.giveBack(bytes)
        } else {
            page.creditBytes = bytes
            page.lookedAt = output.now
            output.store(
                .missing(changes, givesWay: page.givesWay), facts.database,
                for: facts.owner(feed, .missing(page: page.key)))
        }
        pages.append(page)
    }

    mutating func missing(
        _ wants: [Want], refused: [DocumentID], leaving: [Change], page key: UInt64, _ facts: inout SessionFacts,
        _ output: inout LinkOutput
    ) {
        facts.note(refused: refused)
        let index = index(ofPage: key)
        pages[index].note(leaving: leaving)
        output.credit.giveBack(pages[index].creditBytes)
        pages[index].creditBytes = 0
        if wants.isEmpty {
            pages[index].settle(deferred: [], retryAt: nil)
            advance(&facts, &output)
        } else {
            pages[index].state = .claiming
            output.claim(
                wants, lookedAt: pages[index].lookedAt, facts.database, for: facts.owner(feed, .claim(page: key)))
        }
    }

    mutating func claimed(
        _ answer: WantRegistry.Answer, page key: UInt64, _ facts: inout SessionFacts, _ output: inout LinkOutput
    ) {
        let index = index(ofPage: key)
        // A look in the same millisecond would be as doubtful.
        let wait = answer.outdated.isEmpty ? ReplicationLimits.claimMilliseconds : 1
        pages[index].settle(
            deferred: answer.deferred + answer.outdated, retryAt: output.now.advanced(byMilliseconds: wait))
        pages[index].askedAt = output.now
        for part in Self.split(answer.granted) {
            pages[index].unanswered += 1
            waiting.append((key, part))
        }
        sendWants(&output)
        advance(&facts, &output)
    }

    /// The wants in parts that fit a message each.
    private static func split(_ wants: [Want]) -> [[Want]] {
        var parts: [[Want]] = []
        var part: [Want] = []
        var bytes = 0
        for want in wants {
            let size = want.document.string.utf8.count + 24 * (want.revisions.count + want.known.count) + 16
            if !part.isEmpty,
                part.count == ReplicationLimits.wantsPerRequest || bytes + size > ReplicationLimits.wantBytes
            {
                parts.append(part)
                part = []
                bytes = 0
            }
            part.append(want)
            bytes += size
        }
        if !part.isEmpty { parts.append(part) }
        return parts
    }

    mutating func sendWants(_ output: inout LinkOutput) {
        // With many databases wants alone could fill the buffer of a slow connection.
        while requests.count < ReplicationLimits.requestsInFlight, !waiting.isEmpty,
            output.gate.unsent < ReplicationLimits.sendBufferBytes
        {
            let (page, wants) = waiting.removeFirst()
            requests.append(PullRequest(number: nextRequest, page: page, wants: wants))
            output.send(.want(feed: feed, request: nextRequest, wants: wants))
            nextRequest += 1
        }
    }

    /// Looks again at documents that another link was asked for.
    mutating func askDeferred(_ facts: SessionFacts, _ output: inout LinkOutput, afterCommit: Bool) {
        for index in pages.indices where !pages[index].deferred.isEmpty && pages[index].state == .settled {
            let page = pages[index]
            let isDue =
                page.retryAt.map { $0 <= output.now } ?? false
                || afterCommit
                    && output.now.milliseconds(since: page.askedAt) >= ReplicationLimits.deferredMilliseconds
            if afterCommit, !isDue {
                let soon = page.askedAt.advanced(byMilliseconds: ReplicationLimits.deferredMilliseconds)
                pages[index].retryAt = page.retryAt.map { min($0, soon) } ?? soon
            }
            guard isDue else { continue }
            pages[index].state = .asking
            pages[index].retryAt = nil
            pages[index].lookedAt = output.now
            output.store(
                .missing(page.deferred, givesWay: page.givesWay), facts.database,
                for: facts.owner(feed, .missing(page: page.key)))
        }
    }

    func index(ofPage key: UInt64) -> Int {
        guard let index = pages.firstIndex(where: { $0.key == key }) else {
            preconditionFailure("page \(key) of feed \(feed) ended before its work: \(pages.map(\.key))")
        }
        return index
    }
}

/// A page of changes, or a list of ranges, while its documents are fetched.
struct PulledPage {
    enum Origin {
        case feed(UInt64, Position)
        case ranges

        var isOfRanges: Bool { if case .ranges = self { true } else { false } }
    }

    enum State {
        case asking
        case claiming
        /// It is known what of it is fetched by this link and what is left to others.
        case settled
    }

    let key: UInt64
    let origin: Origin
    /// Whether documents that are here are given up for the source's (`ReplicaBatch`).
    let givesWay: Bool
    /// Freed when nothing of them needs to be asked again.
    private var changes: [Change]
    var creditBytes = 0
    var state = State.asking
    /// Requests not answered to the end.
    var unanswered = 0
    /// Pieces that wait for the store.
    var pieces = 0
    /// What another link was asked for, and when to look again.
    private(set) var deferred: [Change] = []
    var retryAt: Instant?
    var askedAt = Instant(milliseconds: 0)
    /// When the store was asked last what of it is missing.
    var lookedAt = Instant(milliseconds: 0)
    private var leaving: [Change] = []
    private var hasLooked = false

    init(key: UInt64, origin: Origin, changes: [Change], givesWay: Bool) {
        self.key = key
        self.origin = origin
        self.givesWay = givesWay
        self.changes = changes
    }

    var isComplete: Bool { isFetched && leaving.isEmpty }

    /// Whether all that it brings is stored.
    private var isFetched: Bool { state == .settled && deferred.isEmpty && unanswered == 0 && pieces == 0 }

    /// Documents that do not match and are here: told of once, though a page is looked at again for what others were asked for.
    mutating func note(leaving changes: [Change]) {
        if !hasLooked { leaving = changes }
        hasLooked = true
    }

    /// What is to leave, once all else of the page is stored.
    mutating func takeLeaving() -> [Change] {
        guard isFetched else { return [] }
        defer { leaving = [] }
        return leaving
    }

    mutating func settle(deferred wants: [Want], retryAt: Instant?) {
        state = .settled
        var rest = changes[...]
        deferred = wants.compactMap { want in
            if let index = rest.firstIndex(where: { $0.document == want.document }) {
                let change = rest[index]
                if index == rest.startIndex { rest.removeFirst() }
                return change
            }
            return nil
        }
        changes = deferred
        self.retryAt = deferred.isEmpty ? nil : retryAt
    }
}

/// A `Want` on its way.
struct PullRequest {
    let number: UInt64
    let page: UInt64
    private let wants: [Want]
    private var isAnswered: [Bool]
    private var next = 0
    private(set) var left: Int

    init(number: UInt64, page: UInt64, wants: [Want]) {
        self.number = number
        self.page = page
        self.wants = wants
        isAnswered = [Bool](repeating: false, count: wants.count)
        left = wants.count
    }

    /// Marks a document as answered.
    /// - Complexity: O(1) in the order of the wants, else O(n).
    mutating func answer(_ document: DocumentID) throws(ProtocolError) {
        var index = next
        if index >= wants.count || wants[index].document != document {
            guard let found = wants.firstIndex(where: { $0.document == document }) else {
                throw ProtocolError("request \(number) is answered with a document that it did not ask for")
            }
            index = found
        }
        next = index + 1
        if isAnswered[index] { return }
        isAnswered[index] = true
        left -= 1
    }

    /// The revisions asked for of a document.
    func revisions(of document: DocumentID) -> [RevisionID] {
        wants.first { $0.document == document }?.revisions ?? []
    }
}
