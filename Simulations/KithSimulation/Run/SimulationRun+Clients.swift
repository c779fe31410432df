import KithDocument
import KithNode
import KithStore
import KithSystem

// What clients of the nodes do.

extension SimulationRun {
    func carryOut(_ operation: Operation) {
        guard operation.node < nodes.count, case let node = nodes[operation.node], let running = node.node,
            !node.isOutsider, !node.isDamaged
        else { return line(nil, "no-node", "\(operation.kind.rawValue) node \(operation.node)") }
        let name = ObservedDatabase.name(operation.database)
        switch operation.kind {
        case .policy:
            carriedOut.add(operation.kind.rawValue)
            return say(policy: operation.text, of: name, on: node)
        case .create:
            carriedOut.add(operation.kind.rawValue)
            return create(name, on: node, running)
        default: break
        }
        if running.isReader, operation.kind != .read {
            note(.readerRefused)
            return line(node, "reader", operation.kind.rawValue)
        }
        guard let executor = running.catalog[name], let database = node.databases[operation.database] else {
            return line(node, "no-database", operation.kind.rawValue)
        }
        carriedOut.add(operation.kind.rawValue)
        switch operation.kind {
        case .read: read(operation, node, database)
        case .drop: drop(name, operation.database, on: node, running)
        case .compact, .verify, .backupCheck: keepUp(operation, node, database, executor)
        default: write(operation, node, database, executor)
        }
    }

    // MARK: Writing

    private func write(
        _ operation: Operation, _ node: SimulatedNode, _ database: ObservedDatabase, _ executor: DatabaseExecutor
    ) {
        lastCall += 1
        let call = ClientCall(lastCall, operation)
        node.calls[call.number] = call
        let incarnation = node.incarnation
        executor.write { (transaction) throws(StoreError) -> Bool in
            call.made = nil
            call.purged = []
            call.hasRun = false
            let isWritten = try self.perform(call, in: transaction)
            call.hasRun = isWritten
            return isWritten
        } completion: { result in
            guard node.incarnation == incarnation else { return }
            node.calls[call.number] = nil
            self.checked { try self.answered(call, node, result) }
        }
    }

    /// The work of a client's transaction.
    /// - Returns: whether it wrote.
    private func perform(_ call: ClientCall, in transaction: WriteTransaction) throws(StoreError) -> Bool {
        let operation = call.operation
        let id: DocumentID
        do { id = try DocumentID(operation.document) } catch {
            throw StoreError(.invalid, operation.document, "\(error)")
        }
        func note(
            _ written: Written, _ kind: DocumentModel.WriteKind, _ body: [(path: String, value: String)]?,
            isSettling: Bool = false
        ) throws(StoreError) -> Bool {
            if written.isUnchanged { return false }
            let leaves = try transaction.reader.leaves(of: id)
            call.made = (
                written.sequence, leaves,
                ClientWrite(revision: written.revision, kind: kind, body: body, isSettling: isSettling)
            )
            // Taken back, and told all the same.
            if sabotage == .acknowledgesNothing { throw StoreError(.conflict, operation.document, "") }
            return true
        }
        func put(_ body: ClientBody, initial: Bool = false) throws(StoreError) -> Bool {
            let canonical: [UInt8]
            do { canonical = try CanonicalJSON.object(from: body.text) } catch {
                world.fail(Violation(.fidelity, "a client's document was not taken: \(error)"))
                throw StoreError(.invalid, operation.document, "")
            }
            model[call.database, id].notePaths(body.fields.map(\.path))
            return try note(
                try transaction.put(id, canonical, initial: initial), initial ? .initial : .edit, body.stored)
        }
        switch operation.kind {
        case .put: return try put(ClientBody(pairs: operation.paddedFields))
        case .initial: return try put(ClientBody(pairs: operation.paddedFields), initial: true)
        case .set, .unset, .touch:
            let present = try transaction.reader.get(id)
            var body = ClientBody(stored: present.flatMap { $0.isDeleted ? nil : $0.body } ?? [])
            if operation.kind == .touch, present == nil { throw StoreError(.notFound, operation.document, "") }
            if operation.kind == .set { body.set(operation.path, operation.fields) }
            if operation.kind == .unset { body.remove(operation.path) }
            return try put(body)
        case .delete: return try note(try transaction.delete(id), .deletion, nil)
        case .resolve:
            guard let present = try transaction.reader.get(id) else {
                throw StoreError(.notFound, operation.document, "")
            }
            return try note(
                try transaction.resolve(id, keep: present.revision), .deletion, nil, isSettling: true)
        case .purge:
            call.purged = try transaction.reader.leaves(of: id).map(\.revision.id)
            try transaction.purge(id)
            return true
        default: return false
        }
    }

    /// The client is told.
    private func answered(_ call: ClientCall, _ node: SimulatedNode, _ result: Result<Bool, StoreError>) throws {
        let operation = call.operation
        switch result {
        case .success(let isWritten):
            if isWritten, call.isPurge {
                // What was not there is marked all the same, and no digest tells of that.
                let place = Model.Place(node: node.index, database: operation.database)
                model.purge(DocumentID(unchecked: operation.document), at: place, call.purged)
                return line(node, "purged", operation.document)
            }
            guard isWritten, let made = call.made else {
                return line(node, "client", "\(operation.kind.rawValue) \(operation.document) unchanged")
            }
            counts.acknowledged += 1
            line(node, "ack", "\(operation.document) \(made.write.revision)")
            // It may have been asked for before nothing was expected of the node any more.
            guard !node.isDamaged, !node.isOutsider else { return }
            let place = Model.Place(node: node.index, database: operation.database)
            let id = DocumentID(unchecked: operation.document)
            try model.acknowledge(made.write.revision, of: id, at: place)
        case .failure(let error):
            line(node, "client", "\(operation.kind.rawValue) \(operation.document) \(error.code.rawValue)")
            switch error.code {
            case .notFound, .conflict: break
            case _ where node.isDamaged || hasBadDisk(node):
                note(.writeRefused)
                // What a disk did not confirm may be there all the same when it is read again.
                if call.made != nil || call.isPurge { node.doubtful.append(call) }
            default: throw Violation(.noErrorFromInside, "node \(node.index): \(error)")
            }
            if sabotage == .acknowledgesNothing, let made = call.made {
                let place = Model.Place(node: node.index, database: operation.database)
                try model.acknowledge(made.write.revision, of: DocumentID(unchecked: operation.document), at: place)
            }
        }
    }

    /// Whether a disk fault is on now, or was a moment ago.
    func hasBadDisk(_ node: SimulatedNode) -> Bool {
        !node.machine.hasGoodDisk || now < node.badDiskUntil
    }

    // MARK: Reading

    private func read(_ operation: Operation, _ node: SimulatedNode, _ database: ObservedDatabase) {
        guard let id = try? DocumentID(operation.document) else { return }
        let place = Model.Place(node: node.index, database: operation.database)
        let incarnation = node.incarnation
        database.executor.read { (reader) throws(StoreError) in
            try reader.get(id)
        } completion: { result in
            guard node.incarnation == incarnation, !node.isDamaged else { return }
            self.checked {
                switch result {
                case .success(let read):
                    var revision = read?.revision
                    if self.sabotage == .winnerByArrival, let state = self.model[place][id] {
                        let live = state.leaves.filter { $0.revision.kind.isLive }
                        revision = live.min { $0.revision.id < $1.revision.id }?.revision.id ?? revision
                    }
                    try self.model.checkRead(
                        id, at: place, revision: revision, body: read?.body, isDeleted: read?.isDeleted ?? true)
                    self.line(node, "read", "\(operation.document) \(revision?.description ?? "nothing")")
                case .failure(let error):
                    guard self.hasBadDisk(node) else {
                        throw Violation(.noErrorFromInside, "node \(node.index): \(error)")
                    }
                    self.note(.readRefused)
                }
            }
        }
    }

    // MARK: Databases

    private func create(_ name: String, on node: SimulatedNode, _ running: Node) {
        guard let database = try? DatabaseName(name), let process = node.process else { return }
        process.makeQueue("client").async {
            guard let made = try? running.catalog.create(database), made.isNew else { return }
            running.queue.async { running.added(made.database) }
        }
    }

    private func drop(_ name: String, _ number: Int, on node: SimulatedNode, _ running: Node) {
        guard let database = try? DatabaseName(name), let process = node.process else { return }
        process.makeQueue("client").async {
            node.databases[number]?.keepsReader = false
            // Where it is not dropped it is looked at as before.
            defer { node.databases[number]?.keepsReader = true }
            guard (try? running.catalog.drop(database)) == true else { return }
            node.databases[number] = nil
            self.forget(Model.Place(node: node.index, database: number))
            self.model[Model.Place(node: node.index, database: number)].isAway = true
            running.queue.async { running.removed(name) }
        }
    }

    /// What a node's own admin does for a database.
    private func keepUp(
        _ operation: Operation, _ node: SimulatedNode, _ database: ObservedDatabase, _ executor: DatabaseExecutor
    ) {
        guard let process = node.process else { return }
        lastCall += 1
        let number = UInt64(lastCall)
        let isCompaction = operation.kind == .compact
        if isCompaction { node.compacting += 1 }
        let incarnation = node.incarnation
        process.makeQueue("client").async {
            defer { if isCompaction, node.incarnation == incarnation { node.compacting -= 1 } }
            var failure: StoreError?
            do throws(StoreError) {
                switch operation.kind {
                case .compact:
                    database.keepsReader = false
                    defer {
                        database.keepsReader = true
                        Compaction.discard(executor.file)
                    }
                    try Compaction.write(executor.file, isCancelled: { false })
                    try executor.takeCompactCopy()
                case .verify:
                    var found: StoreFinding?
                    let check = Verification(executor.file) { found = found ?? $0 }
                    _ = try check.run { _, _ in }
                    if let found { throw StoreError(.damaged, executor.name.string, found.message) }
                default: try Self.checkBackup(of: executor.file, number: number)
                }
            } catch { failure = error }
            self.line(node, "upkeep", "\(operation.kind.rawValue) \(failure?.code.rawValue ?? "done")")
            guard let failure, !self.hasBadDisk(node), !node.isDamaged else { return }
            self.world.fail(Violation(.noErrorFromInside, "node \(node.index): \(operation.kind.rawValue): \(failure)"))
        }
    }

    /// A copy that was made beside the work that goes on is a sound database.
    private static func checkBackup(of file: DatabaseFile, number: UInt64) throws(StoreError) {
        let copy = file.path + ".copy\(number)"
        defer { for end in ["", "-wal", "-shm", "-journal"] { try? file.fileSystem.remove(copy + end) } }
        try Backup.write(file, to: copy, isCancelled: { false })
        _ = try Backup.check(copy, on: file.fileSystem)
    }

    // MARK: What admins say

    private func say(policy: String, of database: String, on node: SimulatedNode) {
        guard let running = node.node, running.isAdmin else { return }
        let json = policyJSON(policy)
        running.queue.async {
            running.setPolicy(json, of: database) { _ in }
        }
    }
}
