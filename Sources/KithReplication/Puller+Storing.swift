internal import KithDocument

#if KITH_MUTANTS
import KithSystem
#endif

// Documents that came: into the store, and acknowledged once they are there.

extension Puller {
    mutating func receive(
        _ revisions: Revisions, bytes: Int, _ facts: inout SessionFacts, _ output: inout LinkOutput
    ) throws(ProtocolError) {
        guard let index = requests.firstIndex(where: { $0.number == revisions.request }) else {
            throw ProtocolError("request \(revisions.request) is answered and not open")
        }
        for delivery in revisions.deliveries { try requests[index].answer(delivery.document) }
        for document in revisions.gone { try requests[index].answer(document) }
        if !revisions.gone.isEmpty { output.add(.releaseClaims(database: facts.database, revisions.gone)) }
        if revisions.deliveries.isEmpty {
            output.credit.giveBack(bytes)
        } else {
            addPiece(revisions.deliveries, of: index, bytes, isLarge: false, &output)
        }
        if revisions.isFinal {
            guard requests[index].left == 0, assembly?.request != revisions.request else {
                throw ProtocolError(
                    "request \(revisions.request) ends with \(requests[index].left) documents unanswered")
            }
            let request = requests.remove(at: index)
            pages[self.index(ofPage: request.page)].unanswered -= 1
            sendWants(&output)
        }
        advance(&facts, &output)
    }

    mutating func receive(
        _ chunk: RevisionChunk, bytes: Int, _ facts: inout SessionFacts, _ output: inout LinkOutput
    ) throws(ProtocolError) {
        guard let index = requests.firstIndex(where: { $0.number == chunk.request }) else {
            throw ProtocolError("request \(chunk.request) is answered and not open")
        }
        guard output.assembling == nil || output.assembling == feed else {
            throw ProtocolError("parts of two documents are under way")
        }
        var assembly =
            self.assembly
            ?? Assembly(request: chunk.request, totalBytes: chunk.totalBytes, bytes: [], keptAt: output.now)
        self.assembly = nil
        guard assembly.request == chunk.request, assembly.totalBytes == chunk.totalBytes,
            assembly.bytes.count == chunk.offset, chunk.bytes.count <= chunk.totalBytes - chunk.offset
        else { throw ProtocolError("the parts of a document do not follow one another") }
        assembly.bytes.append(contentsOf: chunk.bytes)
        if assembly.bytes.count < assembly.totalBytes {
            output.assembling = feed
            output.credit.giveBack(chunk: bytes)
            if output.now.milliseconds(since: assembly.keptAt) >= 1000 {
                output.add(.keepClaims(database: facts.database))
                assembly.keptAt = output.now
            }
            self.assembly = assembly
            return
        }
        output.assembling = nil
        let delivery = try ReceivedDelivery(chunked: assembly.bytes)
        try requests[index].answer(delivery.document)
        output.credit.giveBack(chunk: bytes)
        output.credit.beginWaiting()
        addPiece([delivery], of: index, 0, isLarge: true, &output)
        advance(&facts, &output)
    }

    private mutating func addPiece(
        _ received: [ReceivedDelivery], of index: Int, _ bytes: Int, isLarge: Bool, _ output: inout LinkOutput
    ) {
        let request = requests[index]
        var deliveries: [Delivery] = []
        deliveries.reserveCapacity(received.count)
        var refusals: [Refusal] = []
        for delivery in received {
            switch delivery {
            case .whole(let delivery): deliveries.append(delivery)
            case .unreadable(let document, _, let reason):
                deliveries.append(Self.husk(of: document, request.revisions(of: document)))
                refusals.append(Refusal(document: document, reason: reason))
            }
        }
        let page = self.index(ofPage: request.page)
        pages[page].pieces += 1
        inbox.append(
            Piece(
                page: request.page, deliveries: deliveries, refusals: refusals, documents: received.map(\.document),
                creditBytes: bytes, isLarge: isLarge, givesWay: pages[page].givesWay))
    }

    /// Stands for a document that could not be read: its revisions by id, without content. The store finds them
    /// malformed and records them as refused, so that they are not asked for again.
    private static func husk(of document: DocumentID, _ ids: [RevisionID]) -> Delivery {
        Delivery(
            document: document,
            items: ids.map { id in
                Delivery.Item(
                    revision: Revision(
                        id: id, parent: nil, mergedParents: [], kind: .edit, body: [], stamps: nil, version: Version(),
                        isForeign: false), ancestors: [])
            })
    }

    /// Goes on with whatever the last event made possible.
    mutating func advance(_ facts: inout SessionFacts, _ output: inout LinkOutput) {
        for index in pages.indices { addLeaving(of: index) }
        pages.removeAll { page in
            if case .ranges = page.origin { page.isComplete } else { false }
        }
        if applying == nil { completePages(&facts, &output) }
        if applying == nil, !inbox.isEmpty { applyInbox(facts, &output) }
        continueReconciliation(&facts, &output)
    }

    /// What does not match leaves in the transaction that completes its page.
    private mutating func addLeaving(of index: Int) {
        let leaving = pages[index].takeLeaving()
        if leaving.isEmpty { return }
        pages[index].pieces += 1
        inbox.append(
            Piece(
                page: pages[index].key, deliveries: [], refusals: [], documents: [], creditBytes: 0, isLarge: false,
                givesWay: pages[index].givesWay, leaving: leaving))
    }

    private mutating func applyInbox(_ facts: SessionFacts, _ output: inout LinkOutput) {
        var deliveries: [Delivery] = []
        var documents: [DocumentID] = []
        var refusals: [Refusal] = []
        var leaving: [Change] = []
        var (bytes, taken, large) = (0, 0, 0)
        let givesWay = inbox[0].givesWay
        for piece in inbox {
            if piece.givesWay != givesWay { break }
            if taken > 0, bytes + piece.creditBytes > ReplicationLimits.applyBytes || piece.isLarge { break }
            if deliveries.isEmpty { deliveries = piece.deliveries } else { deliveries += piece.deliveries }
            documents += piece.documents
            refusals += piece.refusals
            leaving += piece.leaving
            bytes += piece.creditBytes
            large += piece.isLarge ? 1 : 0
            pages[index(ofPage: piece.page)].pieces -= 1
            taken += 1
            if piece.isLarge { break }
        }
        inbox.removeFirst(taken)
        #if KITH_MUTANTS
        if Mutant.isActive(.dropsDelivery), deliveries.count > 1 { deliveries.removeLast() }
        #endif
        apply(
            deliveries, checkpoint: nextCheckpoint, givesWay: givesWay, leaving: leaving, documents, refusals, bytes,
            large, facts, &output)
    }

    /// The place that is reached when what was handed to the store is stored: the end of the last page that waits for
    /// nothing more, nor does any before it.
    private var nextCheckpoint: Position? {
        var reached = processed == written ? nil : processed
        for page in pages {
            guard case .feed(_, let through) = page.origin else { continue }
            #if KITH_MUTANTS
            if Mutant.isActive(.checkpointsEarly) {
                reached = through
                continue
            }
            #endif
            guard page.isComplete else { break }
            reached = through
        }
        return reached
    }

    private mutating func apply(
        _ deliveries: [Delivery], checkpoint: Position?, givesWay: Bool = false, leaving: [Change] = [],
        _ documents: [DocumentID], _ refusals: [Refusal], _ bytes: Int, _ large: Int, _ facts: SessionFacts,
        _ output: inout LinkOutput
    ) {
        applying = Application(
            checkpoint: checkpoint, documents: documents, refusals: refusals, creditBytes: bytes, large: large)
        let batch = ReplicaBatch(
            source: facts.peer, deliveries: deliveries, checkpoint: checkpoint, givesWay: givesWay,
            filter: facts.filter, leaving: leaving)
        output.store(.apply(batch), facts.database, for: facts.owner(feed, .apply))
    }

    /// A batch is on disk.
    mutating func applied(_ outcome: ReplicaOutcome, _ facts: inout SessionFacts, _ output: inout LinkOutput) {
        guard let application = applying else { preconditionFailure("feed \(feed) has stored what it did not give") }
        #if KITH_MUTANTS
        if Mutant.isActive(.holdsBadDocument), !outcome.refused.isEmpty { return }
        #endif
        applying = nil
        facts.noteLocal(outcome.summary)
        facts.pulled += UInt64(outcome.stored)
        reconciliation?.stored += outcome.stored
        output.credit.giveBack(application.creditBytes)
        output.credit.endWaiting(application.large)
        if !application.documents.isEmpty {
            output.add(.releaseClaims(database: facts.database, application.documents))
        }
        if let checkpoint = application.checkpoint {
            written = checkpoint
            dirtySince = nil
        }
        let unreadable = application.refusals.map(\.document)
        let refusals = application.refusals + outcome.refused.filter { !unreadable.contains($0.document) }
        let stored =
            refusals.isEmpty
            ? application.documents
            : application.documents.filter { document in !refusals.contains { $0.document == document } }
        facts.note(refused: refusals.map(\.document), stored: stored)
        if !stored.isEmpty {
            output.report(.documents(database: facts.database, stored, isIncoming: true))
        }
        refuse(refusals, &facts, &output)
        advance(&facts, &output)
    }

    private func refuse(_ refusals: [Refusal], _ facts: inout SessionFacts, _ output: inout LinkOutput) {
        if refusals.isEmpty { return }
        facts.refused += UInt64(refusals.count)
        output.report(.refused(database: facts.database, refusals))
        var rest = refusals[...]
        while !rest.isEmpty {
            output.send(.refused(feed: feed, refusals: Array(rest.prefix(ReplicationLimits.refusalsPerMessage))))
            rest = rest.dropFirst(ReplicationLimits.refusalsPerMessage)
        }
    }

    /// Acknowledges the pages of which everything is stored.
    private mutating func completePages(_ facts: inout SessionFacts, _ output: inout LinkOutput) {
        var isAny = false
        while let index = pages.firstIndex(where: { if case .feed = $0.origin { true } else { false } }),
            case .feed(let number, let through) = pages[index].origin, pages[index].isComplete
        {
            pages.remove(at: index)
            completedPage = number
            processed = through
            isAny = true
        }
        guard isAny else { return }
        if processed != written, dirtySince == nil { dirtySince = output.now }
        if processed == written { dirtySince = nil }
        acknowledge(facts, nil, &output)
    }

    /// A comparison found the two equal but for what is left out: a source that does not pull from here can't find out
    /// itself.
    mutating func tellEquality(_ equality: Ack.Equality, _ facts: SessionFacts, _ output: inout LinkOutput) {
        guard !facts.serves || facts.filter != nil, completedPage > 0 else { return }
        acknowledge(facts, equality, &output)
    }

    private mutating func acknowledge(
        _ facts: SessionFacts, _ equality: Ack.Equality? = nil, _ output: inout LinkOutput
    ) {
        output.send(
            .ack(
                Ack(
                    feed: feed, page: completedPage, position: facts.local.position, digest: facts.local.digest,
                    equality: equality)))
        acknowledged = facts.local
        acknowledgedAt = output.now
    }

    /// Writes the checkpoint of pages that brought nothing, if it is time or `now`.
    mutating func writeCheckpoint(_ facts: SessionFacts, _ output: inout LinkOutput, atOnce: Bool) {
        guard let since = dirtySince, applying == nil, let processed else { return }
        let isDue = output.now.milliseconds(since: since) >= ReplicationLimits.checkpointMilliseconds
        guard isDue || atOnce else { return }
        apply([], checkpoint: processed, [], [], 0, 0, facts, &output)
    }

    /// Tells a source that does not pull from here where this database stands now.
    mutating func refreshAcknowledgement(_ facts: SessionFacts, _ output: inout LinkOutput) {
        guard !facts.serves, completedPage > 0, let deadline = refreshDeadline(facts), deadline <= output.now else {
            return
        }
        acknowledge(facts, nil, &output)
    }

    private func refreshDeadline(_ facts: SessionFacts) -> Instant? {
        guard !facts.serves, completedPage > 0, acknowledged != facts.local else { return nil }
        return acknowledgedAt.advanced(byMilliseconds: ReplicationLimits.emptyPageMilliseconds)
    }

    func nextDeadline(_ facts: SessionFacts) -> Instant? {
        var deadlines = pages.compactMap(\.retryAt)
        if let dirtySince, applying == nil {
            deadlines.append(dirtySince.advanced(byMilliseconds: ReplicationLimits.checkpointMilliseconds))
        }
        if let refresh = refreshDeadline(facts) { deadlines.append(refresh) }
        return deadlines.min()
    }

    /// Gives back all that is held: the feed has ended.
    func endWork(_ facts: SessionFacts, _ output: inout LinkOutput) {
        let bytes =
            pages.reduce(0) { $0 + $1.creditBytes } + inbox.reduce(0) { $0 + $1.creditBytes }
            + (applying?.creditBytes ?? 0)
        output.credit.giveBack(bytes)
        output.credit.endWaiting(inbox.count { $0.isLarge } + (applying?.large ?? 0))
        if output.assembling == feed { output.assembling = nil }
        output.add(.releaseAllClaims(database: facts.database))
    }
}
