internal import KithDocument

// Whether the two databases are equal, and what is done when they are not.

extension Session {
    /// Where both databases stand with nothing outstanding between them; nil while something is.
    var comparablePair: Comparison.Pair? {
        if facts.pulls {
            guard let puller, puller.isAtRest, let processed = puller.processed else { return nil }
            // What the peer said of itself must not be ahead of what was taken in.
            guard processed.sequence >= facts.theirs.position.sequence else { return nil }
        }
        if facts.serves {
            guard let source, source.isAtRest, source.readThrough >= facts.local.position.sequence else { return nil }
        }
        guard facts.pulls || facts.serves else { return nil }
        return Comparison.Pair(mine: facts.local, theirs: facts.theirs)
    }

    /// The next step of a comparison whose time has come.
    mutating func goOnComparing(_ output: inout LinkOutput) {
        guard let deadline = comparison.deadline, deadline <= output.now else { return }
        switch comparison.state {
        case .settling(let pair, _):
            guard let puller, !facts.peerIsPart else {
                // Only who pulls can find out more, and from who has all.
                _ = comparison.conclude(pair, isEqual: false, leftOut: nil, now: output.now)
                return
            }
            if puller.isComparing {
                // An answer about an earlier pair is still to come.
                comparison.settleAgain(pair, now: output.now)
                return
            }
            self.puller?.isComparing = true
            comparison.state = .comparing(pair)
            output.store(
                .exclusions(refused: facts.refusedOfPeer), facts.database,
                for: facts.owner(puller.feed, .ownExclusions))
        case .different: comparison.state = .open
        case .open, .equal, .comparing: break
        }
    }

    /// Takes a puller's word for what only it can find out: that the two are equal but for what is left out. Its digest is
    /// its word too.
    mutating func noteTold(_ now: Instant) {
        guard !facts.pulls || facts.peerIsPart, let told = source?.told, let pair = comparablePair else { return }
        guard told.pair == pair, pair.mine.digest != pair.theirs.digest else { return }
        if case .equal(let known) = comparison.state, known == pair { return }
        _ = comparison.conclude(pair, isEqual: true, leftOut: told.leftOut, now: now)
    }

    mutating func sendComparison(_ documents: [DocumentID], _ output: inout LinkOutput) {
        guard puller != nil else { return }
        puller?.compare(Array(documents.prefix(ReplicationLimits.exclusions)), &output)
    }

    mutating func receive(_ compared: Compared, _ output: inout LinkOutput) throws(ProtocolError) {
        guard let feed = puller?.feed, let documents = puller?.comparing else {
            throw ProtocolError("a comparison came that was not asked for")
        }
        puller?.comparing = nil
        puller?.comparedWithout = (documents.count, compared.documents.count)
        output.store(
            .digest(facts.filter, without: documents.union(compared.documents)), facts.database,
            for: facts.owner(feed, .ownDigest(compared)))
    }

    /// Both sides without what either leaves out.
    mutating func conclude(
        _ theirs: Compared, _ mine: Digest256, _ summary: ReplicaSummary, _ output: inout LinkOutput
    ) {
        puller?.isComparing = false
        guard case .comparing(let pair) = comparison.state else { return }
        let isEqual = mine == theirs.digest
        guard isEqual || (pair.mine.position == summary.position && pair.theirs.position == theirs.position) else {
            // Something was written meanwhile: from the start.
            comparison.state = .open
            return
        }
        let leftOut = puller?.comparedWithout
        if isEqual, summary.position == facts.local.position {
            let equality = Ack.Equality(digest: theirs.digest, leftOut: leftOut?.here ?? 0)
            puller?.tellEquality(equality, facts, &output)
        }
        if comparison.conclude(pair, isEqual: isEqual, leftOut: leftOut, now: output.now) {
            puller?.reconcile(.repair, facts, &output)
        }
    }
}

extension Puller {
    /// Whether all that came is stored and nothing more is on its way, as far as the peer said.
    fileprivate var isAtRest: Bool {
        guard case .following = phase else { return false }
        return isCaughtUp && pages.isEmpty && applying == nil && reconciliation == nil
    }

    mutating func compare(_ documents: [DocumentID], _ output: inout LinkOutput) {
        comparing = documents
        output.send(.compare(feed: feed, documents: documents))
    }
}

extension Source {
    /// Whether all that was read is acknowledged and nothing more is to be read.
    fileprivate var isAtRest: Bool {
        guard case .streaming = phase, let lastPage else { return false }
        return lastPage.digest != nil && sent.isEmpty && !hasMore && !isReading && emptyPage == nil
    }
}
