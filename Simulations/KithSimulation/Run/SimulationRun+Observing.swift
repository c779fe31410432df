import KithDocument
import KithNode
import KithReplication
import KithStore
import KithVirtualDisk

// What the simulation sees of the nodes: every commit, every checkpoint, every line that they would log. The nodes know
// nothing of it.

extension SimulationRun {
    /// Adds a line to the trace.
    func line(_ node: SimulatedNode?, _ event: StaticString, _ detail: String) {
        trace.line(now, node: node?.index ?? -1, event, detail)
    }

    func watch(_ node: SimulatedNode, _ running: Node) {
        for executor in running.catalog.databases { watch(node, executor) }
    }

    /// A database was made or opened: it is looked at once that is done.
    func lookForDatabases(of node: SimulatedNode) {
        let incarnation = node.incarnation
        world.after(0) {
            guard let running = node.node, node.incarnation == incarnation else { return }
            self.watch(node, running)
        }
    }

    private func watch(_ node: SimulatedNode, _ executor: DatabaseExecutor) {
        guard let number = ObservedDatabase.number(executor.name.string), number < plan.databases,
            node.databases[number]?.executor !== executor
        else { return }
        let database = ObservedDatabase(number, executor, on: node.machine.disk)
        node.databases[number] = database
        executor.observe(.max) { [weak self, unowned node, weak database] _ in
            if let database { self?.committed(node, database) }
        }
        checked { try opened(node, database) }
    }

    /// Whether some node has sent, or may have, what others refuse with reason.
    var hasWrongPeers: Bool { hadWrongPeers || nodes.contains { $0.isHostile } }

    /// Runs a check of something that must hold.
    func checked(_ body: () throws -> Void) {
        do { try body() } catch let violation as Violation { world.fail(violation) } catch {
            world.fail(Violation(.noErrorFromInside, "\(error)"))
        }
    }

    /// A commit is done, and nobody has heard of it yet.
    private func committed(_ node: SimulatedNode, _ database: ObservedDatabase) {
        // The power went with a call that it could do without: nobody will hear of it before it is opened again.
        if node.machine.disk.isWithoutPower { return }
        checked {
            try observe(node, database)
            try checkCheckpoints(node, database)
        }
    }

    /// Takes up in the model what a node shows now.
    /// - Parameter isOpening: whether what is new was written by the process before.
    func observe(_ node: SimulatedNode, _ database: ObservedDatabase, isOpening: Bool = false) throws {
        let place = Model.Place(node: node.index, database: database.number)
        guard !node.isDamaged, !node.isOutsider else { return learn(node, at: place) }
        let summary = database.executor.summary
        // Sequences are told from those of the same number in a timeline that was cut off. Of a disk that was put back or
        // copied the timeline counts only once something was written under it.
        if summary.position.sequence > model[place].sequence { model[place].timeline = summary.position.timeline }
        do {
            try takeUp(node.calls.values.filter { $0.database == database.number && $0.hasRun }, at: place)
            let after = model[place].sequence
            let page = try database.withReader { (reader) throws(StoreError) in
                try reader.changes(after: after, limit: 1_000_000)
            }
            guard page.through.sequence >= summary.position.sequence else {
                throw Violation(
                    .acknowledgedDurability,
                    "node \(node.index) tells of \(summary.position.sequence), and who reads gets \(page.through.sequence)"
                )
            }
            for change in page.changes {
                if HostileMember.isOwn(change.document) {
                    try checkHostile(change, node, database)
                    continue
                }
                let leaves = try database.withReader { (reader) throws(StoreError) in try reader.leaves(of: change) }
                guard leaves.count == change.leaves.count else {
                    throw Violation(.atomicApply, "\(change.document) on node \(node.index) has a leaf without content")
                }
                try see(change.document, at: place, sequence: change.sequence, leaves: leaves, write: nil)
            }
            guard summary.position.sequence >= model[place].sequence else {
                throw Violation(
                    .monotonicSequences,
                    "node \(node.index) went from \(model[place].sequence) to \(summary.position.sequence)")
            }
            if !isOpening { try checkTimeline(of: node, database, summary.position) }
            model[place].sequence = summary.position.sequence
            model[place].lasts[summary.position.timeline] = summary.position.sequence
            // S20: between members nothing is refused.
            if summary.refused > 0, !hasWrongPeers {
                throw Violation(.noErrorFromInside, "node \(node.index) has refused \(summary.refused) documents")
            }
            model[place].noteDigest(summary.digest, at: now)
            counts.revisionsPulled += database.takePulled()
            line(
                node, "commit",
                "db\(database.number) at \(summary.position.sequence) \(summary.digest)")
        } catch let error as StoreError {
            guard hasBadDisk(node) else { throw Violation(.noErrorFromInside, "node \(node.index): \(error)") }
        }
    }

    /// Of a node of which nothing is expected, only what clients wrote is taken up: it may get to others.
    private func learn(_ node: SimulatedNode, at place: Model.Place) {
        for call in node.calls.values.sorted(by: { $0.number < $1.number }) where call.hasRun && !call.isPurge {
            guard call.database == place.database, let made = call.made else { continue }
            call.hasRun = false
            try? model.learnOnly(made.write, of: DocumentID(unchecked: call.operation.document), at: place, made.leaves)
        }
    }

    /// What transactions of clients did, in the order in which they did it.
    private func takeUp(_ calls: [ClientCall], at place: Model.Place) throws {
        for call in calls.inOrder {
            call.hasRun = false
            let id = DocumentID(unchecked: call.operation.document)
            if call.isPurge {
                purge(id, at: place, call.purged)
            } else if let made = call.made, made.sequence > model[place].sequence {
                try see(id, at: place, sequence: made.sequence, leaves: made.leaves, write: made.write)
            }
        }
    }

    private func purge(_ id: DocumentID, at place: Model.Place, _ leaves: [RevisionID]) {
        model.purge(id, at: place, leaves, besides: places(of: place.database))
    }

    private func see(
        _ id: DocumentID, at place: Model.Place, sequence: UInt64, leaves: [Delivery.Item], write: ClientWrite?
    ) throws {
        let before = model[place][id]
        try model.see(id, at: place, sequence: sequence, leaves: leaves, write: write)
        unchecked.append((place, id))
        markLeaves(id, at: place, leaves, before: before)
    }

    /// A database is open: what is there must be what was there.
    private func opened(_ node: SimulatedNode, _ database: ObservedDatabase) throws {
        let place = Model.Place(node: node.index, database: database.number)
        model[place].isAway = false
        // Peers hear only now of what could not be used when the process began.
        if model[place].carriedSince == nil || node.process.map({ $0.begun > 0 }) == true {
            model[place].carriedSince = now
        }
        guard !node.isDamaged, !node.isOutsider else { return }
        try settleDoubts(node, database)
        try checkReopened(node, database)
    }

    /// What a power cut or a failure of the disk broke off may have been done: then it is there whole.
    private func settleDoubts(_ node: SimulatedNode, _ database: ObservedDatabase) throws {
        let place = Model.Place(node: node.index, database: database.number)
        let open = (node.doubtful + node.calls.values).filter { $0.database == database.number }
        node.doubtful.removeAll { $0.database == database.number }
        node.calls = node.calls.filter { $0.value.database != database.number }
        let isInterrupted = node.interrupted.remove(database.number) != nil
        guard !open.isEmpty || isInterrupted || min(now, node.endedAt) < node.badDiskUntil else { return }
        for call in open.inOrder {
            call.hasRun = false
            let id = DocumentID(unchecked: call.operation.document)
            do throws(StoreError) {
                let history = try database.withReader { (reader) throws(StoreError) in try reader.history(id) }
                if call.isPurge, history == nil {
                    purge(id, at: place, call.purged)
                    // Of its leaves those that are closed and old may have gone with a later write.
                } else if let made = call.made, made.sequence > model[place].sequence,
                    history?.nodes.contains(where: { $0.id == made.write.revision }) == true
                {
                    note(.doubtWasDone)
                    checked {
                        try self.see(id, at: place, sequence: made.sequence, leaves: made.leaves, write: made.write)
                    }
                }
            } catch { return }
        }
        try observe(node, database, isOpening: true)
    }

    // MARK: The log

    /// A line that a node would write.
    func heard(_ bytes: [UInt8], from node: SimulatedNode) {
        checkSecrets(bytes, of: node)
        // Disks are numbered over all runs of a process.
        let directory = node.machine.disk.directory.utf8
        let bytes = bytes.holds("/virtual-disk-") ? bytes.replacing(directory, with: "/disk-\(node.index)".utf8) : bytes
        let text = String(decoding: bytes.dropLast(), as: UTF8.self)
        markLog(text)
        line(node, "log", text)
    }
}
