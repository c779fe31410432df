internal import KithDocument

#if KITH_MUTANTS
import KithSystem
#endif

/// One database over one link: the puller's half, the source's half, and the comparison of the two databases.
struct Session {
    var facts: SessionFacts
    var puller: Puller?
    var source: Source?
    var comparison = Comparison()
    /// Pulling waits for another feed of the database.
    var isHeld: Bool
    /// Why the last puller ended.
    private(set) var failure: Failure?
    private var failures = 0
    /// Why the peer does not take what is here, as it said; nil once it has stored something again.
    private(set) var peerFailure: String?
    private var shownStatus: SessionStatus?

    struct Failure {
        let message: String
        let at: Instant
        /// Whether it was this side's store.
        let isLocal: Bool
        /// When another puller may begin; nil for never on this link.
        var retryAt: Instant?
    }

    /// When a puller that failed is followed by another.
    enum Retry {
        /// After a second, then twice as long with each failure.
        case soon
        /// After so many milliseconds each time.
        case after(UInt64)
        /// What failed does not pass by itself, and may be mended.
        case later
        case never
    }

    init(_ facts: SessionFacts, isHeld: Bool) {
        self.facts = facts
        self.isHeld = isHeld
    }

    /// Begins to pull, if nothing stands against it.
    mutating func beginPulling(_ output: inout LinkOutput) {
        guard facts.pulls, !isHeld, puller == nil else { return }
        if let failure {
            guard let retryAt = failure.retryAt, retryAt <= output.now else { return }
            self.failure = nil
        }
        if facts.filter != nil, !facts.peerFilters {
            let message = "the peer's version of Kith knows no filters, and all would come: update it there"
            failure = Failure(message: message, at: output.now, isLocal: false, retryAt: nil)
            return
        }
        puller = Puller(feed: output.nextFeed())
        puller?.open(facts, &output)
    }

    /// Ends the puller, writing what its checkpoint lacks.
    mutating func endPulling(_ output: inout LinkOutput) {
        puller?.writeCheckpoint(facts, &output, atOnce: true)
        puller?.endWork(facts, &output)
        puller = nil
        comparison.state = .open
    }

    mutating func hold(_ isHeld: Bool, _ output: inout LinkOutput) {
        self.isHeld = isHeld
        if isHeld, puller != nil {
            unsubscribe(.closed, "", &output)
            endPulling(&output)
        }
        beginPulling(&output)
    }

    /// Tells the source that its feed ends.
    private func unsubscribe(_ code: FeedEnd.Code, _ text: String, _ output: inout LinkOutput) {
        guard let puller else { return }
        output.send(.unsubscribe(FeedEnd(feed: puller.feed, code: code, text: text)))
    }

    /// The puller ended by a failure, here or there.
    mutating func failPulling(_ message: String, _ retry: Retry, isLocal: Bool, _ output: inout LinkOutput) {
        puller?.endWork(facts, &output)
        puller = nil
        comparison.state = .open
        let shift = UInt64(min(failures, 10))
        let wait: UInt64? =
            switch retry {
            case .soon: min(ReplicationLimits.retryMilliseconds << shift, ReplicationLimits.maximumRetryMilliseconds)
            case .after(let milliseconds): milliseconds
            case .later: ReplicationLimits.mendedRetryMilliseconds
            case .never: nil
            }
        failures += 1
        failure = Failure(
            message: message, at: output.now, isLocal: isLocal,
            retryAt: wait.map { output.now.advanced(byMilliseconds: $0) })
    }

    /// The store here works, by a commit or by what was found out otherwise: what failed of it is tried again soon. Not within
    /// a second, since a store may take one commit and fail with the next, again and again.
    private mutating func hastenRetry(_ output: LinkOutput) {
        guard let failure, failure.isLocal, let retryAt = failure.retryAt else { return }
        let soon = failure.at.advanced(byMilliseconds: ReplicationLimits.retryMilliseconds)
        self.failure?.retryAt = min(retryAt, max(soon, output.now))
    }

    /// The database changed, or where it stands was told.
    mutating func noteCommit(_ summary: ReplicaSummary, _ output: inout LinkOutput) {
        facts.noteLocal(summary)
        hastenRetry(output)
        source?.noteLocal(facts)
        puller?.askDeferred(facts, &output, afterCommit: true)
    }

    /// The store takes commits again.
    mutating func noteRecovery(_ output: inout LinkOutput) {
        hastenRetry(output)
        beginPulling(&output)
    }

    // The store's answers.

    mutating func storeDone(_ owner: TicketOwner, _ result: StoreResult, _ output: inout LinkOutput) {
        output.gate.unreserve(owner.work.reservedBytes)
        if owner.work.isOfSource {
            guard source?.feed == owner.feed else { return }
            sourceDone(owner.work, result, &output)
        } else {
            guard puller?.feed == owner.feed else { return }
            pullerDone(owner.work, result, &output)
        }
    }

    private mutating func pullerDone(_ work: TicketOwner.Work, _ result: StoreResult, _ output: inout LinkOutput) {
        switch (work, result) {
        case (_, .failed(let error)):
            unsubscribe(error.isTransient ? .storeBusy : .storeFailed, error.message, &output)
            let retry = error.retryMilliseconds.map(Retry.after) ?? (error.isTransient ? .soon : .later)
            failPulling(error.message, retry, isLocal: true, &output)
        case (.open, .opened(let summary, let checkpoint)): puller?.opened(summary, checkpoint, &facts, &output)
        case (.adopt(let position), .applied(let outcome)): puller?.adopted(position, outcome, &facts, &output)
        case (.missing(let page), .missing(let wants, let refused, let leaving)):
            puller?.missing(wants, refused: refused, leaving: leaving, page: page, &facts, &output)
        case (.apply, .applied(let outcome)):
            puller?.applied(outcome, &facts, &output)
            failures = 0
            source?.noteLocal(facts)
        case (.scan, .rangeDigests(let digests)): puller?.scanned(digests, &output)
        case (.ownExclusions, .exclusions(let documents)): sendComparison(documents, &output)
        case (.ownDigest(let theirs), .digest(let mine, let summary)): conclude(theirs, mine, summary, &output)
        default: preconditionFailure("the store answered \(work) with \(result)")
        }
    }

    private mutating func sourceDone(_ work: TicketOwner.Work, _ result: StoreResult, _ output: inout LinkOutput) {
        switch (work, result) {
        case (_, .failed(let error)): failServing(error, &output)
        case (.resume, .resumed(let point, let summary)): source?.resumed(point, summary, &facts, &output)
        case (.changes, .changes(let page)): source?.read(page, &facts, &output)
        case (.deliveries, .deliveries(let page)):
            if source?.read(page, &facts, &output) == false {
                failServing(
                    ReplicaError(code: "no_progress", message: "documents could not be read", isTransient: true),
                    &output)
            }
        case (.ranges, .rangeDigests(let digests)): source?.scanned(digests, &output)
        case (.rangeChanges, .changesInRanges(let changes)): source?.listed(changes, &output)
        case (.exclusions(let theirs), .exclusions(let own)): source?.excluded(own, theirs: theirs, facts, &output)
        case (.digest(let own), .digest(let digest, let summary)): source?.summed(digest, summary, own: own, &output)
        default: preconditionFailure("the store answered \(work) with \(result)")
        }
    }

    private mutating func failServing(_ error: ReplicaError, _ output: inout LinkOutput) {
        guard let feed = source?.feed else { return }
        endServing()
        output.sendCredited(
            .feedEnded(FeedEnd(feed: feed, code: error.isTransient ? .storeBusy : .storeFailed, text: error.message)))
    }

    mutating func endServing() {
        source = nil
        comparison.state = .open
    }

    /// The peer's puller has ended.
    mutating func unsubscribed(_ end: FeedEnd) {
        if end.code == .storeBusy || end.code == .storeFailed { peerFailure = end.text }
        endServing()
    }

    /// The peer has stored what it was sent.
    mutating func receive(_ ack: Ack) throws(ProtocolError) {
        try source?.receive(ack, &facts)
        peerFailure = nil
    }

    /// A claim was answered.
    mutating func claimed(_ owner: TicketOwner, _ answer: WantRegistry.Answer, _ output: inout LinkOutput) {
        guard puller?.feed == owner.feed, case .claim(let page) = owner.work else {
            output.add(.releaseClaims(database: facts.database, answer.granted.map(\.document)))
            return
        }
        puller?.claimed(answer, page: page, &facts, &output)
    }

    // Time.

    mutating func deadline(_ output: inout LinkOutput) {
        beginPulling(&output)
        puller?.askDeferred(facts, &output, afterCommit: false)
        puller?.writeCheckpoint(facts, &output, atOnce: false)
        source?.ranges.expire(output.now)
        source?.goOn(facts, &output)
        goOnComparing(&output)
    }

    /// What follows an input of any kind: the store is read for the peer, the databases are compared.
    mutating func settle(_ output: inout LinkOutput) {
        puller?.sendWants(&output)
        source?.serve(facts, &output)
        puller?.refreshAcknowledgement(facts, &output)
        comparison.update(comparablePair, now: output.now)
        noteTold(output.now)
    }

    var nextDeadline: Instant? {
        [
            puller?.nextDeadline(facts), source?.nextDeadline(), comparison.deadline,
            puller == nil ? failure?.retryAt : nil,
        ]
        .compactMap(\.self).min()
    }

    // Status.

    /// The status if it is another than was shown last.
    mutating func changedStatus() -> SessionStatus? {
        let status = status
        if status == shownStatus { return nil }
        shownStatus = status
        return status
    }

    var status: SessionStatus {
        #if KITH_MUTANTS
        let inChanges = facts.pulls ? Mutant.isActive(.saysInSync) ? 0 : puller?.outstanding : nil
        let outChanges = facts.serves ? Mutant.isActive(.saysInSync) ? 0 : source?.outstanding(facts) : nil
        #else
        let inChanges = facts.pulls ? puller?.outstanding : nil
        let outChanges = facts.serves ? source?.outstanding(facts) : nil
        #endif
        #if KITH_MUTANTS
        let isEqual = Mutant.isActive(.saysInSync) ? true : comparison.isEqual
        #else
        let isEqual = comparison.isEqual
        #endif
        return SessionStatus(
            state: state, here: facts.here, there: facts.there, peerIsPart: facts.peerIsPart, pulls: facts.pulls,
            serves: facts.serves,
            isFailureLocal: failure?.isLocal ?? false,
            inChanges: inChanges, inTotal: facts.pulls ? puller?.total : nil,
            outTotal: facts.serves ? source?.total(facts) : nil, acknowledged: source?.reached, outChanges: outChanges,
            digestEqual: isEqual, pulled: facts.pulled,
            pushed: facts.pushed, refused: facts.refused, refusedByPeer: facts.refusedByPeer,
            peerFailure: peerFailure,
            leftOutHere: comparison.leftOut?.here, leftOutByPeer: comparison.leftOut?.byPeer,
            isInSync: isEqual == true && (!facts.pulls || inChanges == 0) && (!facts.serves || outChanges == 0))
    }

    private var state: SessionStatus.State {
        if let failure { return .failed(failure.message) }
        guard facts.pulls || facts.serves else { return .off }
        guard facts.pulls else { return source == nil ? .opening : .following }
        if isHeld { return .held }
        guard let puller else { return .opening }
        if puller.reconciliation != nil { return .reconciling }
        if case .following = puller.phase { return .following }
        return .opening
    }
}

extension Puller {
    /// At most so many changes of the peer that are not stored here.
    fileprivate var outstanding: UInt64? {
        guard let latest else { return nil }
        let reached = processed?.timeline == receivedThrough?.timeline ? processed?.sequence ?? 0 : 0
        return latest > reached ? latest - reached : 0
    }

    /// At most so many changes from the beginning of the feed on.
    fileprivate var total: UInt64? {
        guard let latest, let startedAfter else { return nil }
        return max(latest > startedAfter ? latest - startedAfter : 0, outstanding ?? 0)
    }
}

extension Source {
    /// At most so many changes here that the peer has not acknowledged.
    fileprivate func outstanding(_ facts: SessionFacts) -> UInt64? {
        guard case .streaming = phase else { return nil }
        let latest = max(facts.local.position.sequence, readThrough)
        if sent.isEmpty, !hasMore, !isReading, emptyPage == nil {
            return latest > readThrough ? latest - readThrough : 0
        }
        let reached = acknowledged?.sequence ?? startedAfter
        return latest > reached ? latest - reached : 0
    }

    /// At most so many changes from the beginning of the feed on.
    fileprivate func total(_ facts: SessionFacts) -> UInt64? {
        guard case .streaming = phase else { return nil }
        let latest = max(facts.local.position.sequence, readThrough)
        return latest > startedAfter ? latest - startedAfter : 0
    }
}
