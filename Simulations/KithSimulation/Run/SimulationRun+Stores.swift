import KithDocument
import KithReplication
import KithStore
import KithTestSupport

// The work of the stores: real, but done at a moment that the seed chooses, and told a moment later.

extension SimulationRun {
    /// Puts work in the line of a database.
    func submit(_ work: SimulatedDatabase.Work, to node: SimulatedNode, _ number: Int) {
        let lane = Self.isWrite(work) ? 0 : 1
        node.databases[number].lanes[lane].waiting.append(work)
        if !node.databases[number].lanes[lane].isBusy { schedule(node, number, lane) }
    }

    private static func isWrite(_ work: SimulatedDatabase.Work) -> Bool {
        switch work {
        case .client(_, let operation): operation.kind != .read
        case .link(_, _, let request): request.isWrite
        }
    }

    private func schedule(_ node: SimulatedNode, _ number: Int, _ lane: Int) {
        node.databases[number].lanes[lane].isBusy = true
        add(
            .execute(node: node.index, incarnation: node.incarnation, database: number, lane: lane),
            after: storeDelay())
    }

    /// Mostly a fast disk, and now and then one that keeps everybody waiting.
    private func storeDelay() -> Int {
        pauses.chance(1, in: 50) ? pauses.within(20_000...400_000) : pauses.within(20...2_000)
    }

    /// Does what is next in line.
    func execute(_ node: SimulatedNode, _ number: Int, _ lane: Int) throws {
        let database = node.databases[number]
        let group = takeGroup(of: database, lane)
        for work in group {
            switch work {
            case .client(let item, let operation):
                let result = try perform(operation, node, database)
                database.lanes[lane].answers.append(.client(item: item, operation, result))
            case .link(let id, let ticket, let request):
                let result = KithReplication.perform(request, on: database.replica)
                trace.line(now, node: node.index, "store", "c\(id) \(Self.word(request)) \(Self.word(result))")
                try checkResult(of: request, result, node, database)
                database.lanes[lane].answers.append(.link(id, ticket, result))
                if request.isWrite { database.lanes[lane].hasWritten = true }
            }
        }
        add(
            .answer(node: node.index, incarnation: node.incarnation, database: number, lane: lane),
            after: pauses.chance(1, in: 4) ? storeDelay() : pauses.below(100))
    }

    /// One request, or clients' writes that come one after the other.
    private func takeGroup(of database: SimulatedDatabase, _ lane: Int) -> [SimulatedDatabase.Work] {
        var count = 0
        let most = pauses.within(1...8)
        while count < min(most, database.lanes[lane].waiting.count) {
            guard case .client = database.lanes[lane].waiting[count] else { break }
            count += 1
        }
        let group = Array(database.lanes[lane].waiting.prefix(max(1, count)))
        database.lanes[lane].waiting.removeFirst(group.count)
        return group
    }

    /// Tells what was done.
    func answer(_ node: SimulatedNode, _ number: Int, _ lane: Int) throws {
        let database = node.databases[number]
        let answers = database.lanes[lane].answers
        let hasWritten = database.lanes[lane].hasWritten
        database.lanes[lane].answers = []
        database.lanes[lane].hasWritten = false
        database.lanes[lane].isBusy = false
        if !database.lanes[lane].waiting.isEmpty { schedule(node, number, lane) }
        // Who waits for the commit and who hears of it are told in no order that anybody promised.
        let tellsFirst = pauses.chance(1, in: 2)
        if hasWritten, tellsFirst { try tellCommit(node, database) }
        for answer in answers {
            switch answer {
            case .client(let item, let operation, let result): try acknowledge(operation, item: item, result, node)
            case .link(let id, let ticket, let result): try tell(node, id, .storeDone(ticket, result))
            }
        }
        if hasWritten, !tellsFirst { try tellCommit(node, database) }
    }

    private func tellCommit(_ node: SimulatedNode, _ database: SimulatedDatabase) throws {
        let summary = SimulatedReplica.summary(database.store.summary)
        for link in node.links {
            try tell(
                node, link.connection, .localCommit(database: SimulatedDatabase.name(database.number), summary))
        }
    }

    // The omniscient view.

    /// Takes up in the model what a commit changed.
    func observe(_ node: SimulatedNode, _ database: SimulatedDatabase, write: ClientWrite? = nil) throws {
        let place = Model.Place(node: node.index, database: database.number)
        do {
            let page = try database.reader.changes(after: model[place].sequence, limit: 100_000)
            for change in page.changes {
                let leaves = try database.leaves(of: change)
                guard leaves.count == change.leaves.count else {
                    throw Violation(.atomicApply, "\(change.document) on node \(node.index) has a leaf without content")
                }
                try model.see(change.document, at: place, sequence: change.sequence, leaves: leaves, write: write)
                unchecked.append((place, change.document))
            }
            let summary = database.store.summary
            guard summary.position.sequence >= model[place].sequence else {
                throw Violation(
                    .monotonicSequences,
                    "node \(node.index) went from \(model[place].sequence) to \(summary.position.sequence)")
            }
            model[place].sequence = summary.position.sequence
            model[place].noteDigest(summary.digest, at: now)
        } catch let error as StoreError {
            throw Violation(.noErrorFromInside, "node \(node.index): \(error)")
        }
    }

    private func checkResult(
        of request: StoreRequest, _ result: StoreResult, _ node: SimulatedNode, _ database: SimulatedDatabase
    ) throws {
        if case .failed(let error) = result {
            throw Violation(.noErrorFromInside, "node \(node.index): \(error.code): \(error.message)")
        }
        guard case .apply(let batch) = request, case .applied(let outcome) = result else { return }
        if let refusal = outcome.refused.first {
            throw Violation(
                .noErrorFromInside, "node \(node.index) refused \(refusal.document): \(refusal.reason)")
        }
        counts.revisionsPulled += outcome.stored
        try observe(node, database)
        if let checkpoint = batch.checkpoint {
            try model.checkCheckpoint(
                of: Model.Place(node: index(of: batch.source), database: database.number),
                at: Model.Place(node: node.index, database: database.number), checkpoint)
        }
    }

    // For the trace.

    private static func word(_ request: StoreRequest) -> String {
        switch request {
        case .open: "open"
        case .missing(let changes): "missing \(changes.count)"
        case .apply(let batch): "apply \(batch.deliveries.count) \(batch.checkpoint?.sequence ?? 0)"
        case .resume(let position): "resume \(position.sequence)"
        case .changes(let after, _): "changes \(after)"
        case .deliveries(let wants, _): "deliveries \(wants.count)"
        case .rangeDigests: "ranges"
        case .changesInRanges(let ranges): "in-ranges \(ranges.count)"
        case .exclusions: "exclusions"
        case .digest(let documents): "digest \(documents.count)"
        }
    }

    private static func word(_ result: StoreResult) -> String {
        switch result {
        case .opened(let summary, let checkpoint): "at \(summary.position.sequence) \(checkpoint?.sequence ?? 0)"
        case .missing(let wants): "\(wants.count)"
        case .applied(let outcome): "at \(outcome.summary.position.sequence) new \(outcome.stored)"
        case .resumed(let point, _): "\(point)"
        case .changes(let page): "\(page.changes.count) to \(page.through.sequence)"
        case .deliveries(let page): "\(page.deliveries.count) rest \(page.rest.count) gone \(page.gone.count)"
        case .rangeDigests(let digests): "\(digests.ranges.count)"
        case .changesInRanges(let changes): "\(changes.count)"
        case .exclusions(let documents): "\(documents.count)"
        case .digest(let digest, _): "\(digest.description.prefix(8))"
        case .failed(let error): "failed \(error.code)"
        }
    }
}
