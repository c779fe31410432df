import KithDocument
import KithNode
import KithStore
import KithSystem
import KithVirtualDisk

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
            if isRefused(operation, node, running) { return }
            carriedOut.add(operation.kind.rawValue)
            return create(name, on: node, running)
        default: break
        }
        if operation.kind.isWriting, isRefused(operation, node, running) { return }
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

    /// Whether the node takes no write from clients since it is a reader, as it must be then alone.
    private func isRefused(_ operation: Operation, _ node: SimulatedNode, _ running: Node) -> Bool {
        var isRefused = false
        do throws(ControlError) { try running.requireWriter() } catch {
            isRefused = true
            if error.code != .forbidden {
                world.fail(Violation(.noErrorFromInside, "node \(node.index): \(error.message)"))
            }
        }
        if isRefused != running.isReader {
            world.fail(Violation(.access, "node \(node.index) \(isRefused ? "refuses" : "takes") a client's write"))
        }
        guard isRefused else { return false }
        note(.readerRefused)
        line(node, "reader", operation.kind.rawValue)
        return true
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
            let isWritten = try self.perform(call, on: node, in: transaction)
            call.hasRun = isWritten
            return isWritten
        } completion: { result in
            guard node.incarnation == incarnation, !node.machine.disk.isWithoutPower else { return }
            node.calls[call.number] = nil
            self.checked { try self.answered(call, node, result) }
        }
    }

    /// The work of a client's transaction.
    /// - Returns: whether it wrote.
    private func perform(
        _ call: ClientCall, on node: SimulatedNode, in transaction: WriteTransaction
    ) throws(StoreError) -> Bool {
        let operation = call.operation
        let id: DocumentID
        do { id = try DocumentID(operation.document) } catch {
            throw StoreError(.invalid, operation.document, "\(error)")
        }
        let over = try transaction.reader.leaves(of: id)
        func note(
            _ written: Written, _ kind: DocumentModel.WriteKind, _ body: [(path: String, value: String)]?,
            isSettling: Bool = false, isThere: () throws(StoreError) -> Bool
        ) throws(StoreError) -> Bool {
            if written.isUnchanged {
                if try !isThere(), !node.isDamaged, !node.isOutsider {
                    world.fail(
                        Violation(
                            .acknowledgedDurability,
                            "\(id) on node \(node.index): a \(operation.kind.rawValue) changed nothing, and what it says is "
                                + "not there"))
                }
                return false
            }
            let leaves = try transaction.reader.leaves(of: id)
            call.made = (
                written.sequence, leaves,
                ClientWrite(over: over, revision: written.revision, kind: kind, body: body, isSettling: isSettling)
            )
            // Taken back, and told all the same.
            if sabotage == .acknowledgesNothing { throw StoreError(.conflict, operation.document, "") }
            return true
        }
        call.asked = model[Model.Place(node: node.index, database: call.database)][id]
        func put(_ body: ClientBody, initial: Bool = false) throws(StoreError) -> Bool {
            let canonical: [UInt8]
            do { canonical = try CanonicalJSON.object(from: body.text) } catch {
                world.fail(Violation(.fidelity, "a client's document was not taken: \(error)"))
                throw StoreError(.invalid, operation.document, "")
            }
            model[call.database, id].notePaths(body.fields.map(\.path))
            return try note(
                try transaction.put(id, canonical, initial: initial), initial ? .initial : .edit, body.stored
            ) { () throws(StoreError) in
                guard let present = try transaction.reader.get(id) else { return false }
                return initial || !present.isDeleted && present.body == canonical
            }
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
        case .delete: return try note(try transaction.delete(id), .deletion, nil) { false }
        case .resolve:
            guard let present = try transaction.reader.get(id) else {
                throw StoreError(.notFound, operation.document, "")
            }
            return try note(
                try transaction.resolve(id, keep: present.revision), .deletion, nil, isSettling: true
            ) { () throws(StoreError) in
                try transaction.reader.leaves(of: id).count { $0.revision.kind.isLive } == 1
            }
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
            let place = Model.Place(node: node.index, database: operation.database)
            switch error.code {
            case .notFound where !call.mustBeThere(in: model[place]): break
            case .conflict where operation.kind == .resolve || sabotage == .acknowledgesNothing: break
            case _ where node.isDamaged || hasBadDisk(node):
                note(.writeRefused)
                // What a disk did not confirm may be there all the same when it is read again.
                if call.made != nil || call.isPurge { node.doubtful.append(call) }
            default: throw Violation(.noErrorFromInside, "node \(node.index): \(error)")
            }
            if sabotage == .acknowledgesNothing, let made = call.made {
                try model.acknowledge(made.write.revision, of: DocumentID(unchecked: operation.document), at: place)
            }
        }
    }

    /// Whether a disk fault is on now, or was a moment ago, or the power went within the call.
    func hasBadDisk(_ node: SimulatedNode) -> Bool {
        !node.machine.hasGoodDisk || now < node.badDiskUntil || node.machine.disk.isWithoutPower
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
            do throws(StoreError) {
                let made = try running.catalog.create(database)
                guard made.isNew else { return }
                running.queue.async { running.added(made.database) }
            } catch { self.refused("create", by: node, error) }
        }
    }

    private func drop(_ name: String, _ number: Int, on node: SimulatedNode, _ running: Node) {
        guard let database = try? DatabaseName(name), let process = node.process else { return }
        let asked = now
        process.makeQueue("client").async {
            node.databases[number]?.keepsReader = false
            // Where it is not dropped it is looked at as before.
            defer { node.databases[number]?.keepsReader = true }
            do throws(StoreError) { guard try running.catalog.drop(database) else { return } } catch {
                self.refused("drop", by: node, error)
                // It may have gone so far that there is nothing left.
                guard running.catalog[name] == nil else { return }
            }
            node.databases[number] = nil
            self.forget(Model.Place(node: node.index, database: number), at: asked)
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
        if isCompaction { node.compactions.insert(number) }
        process.makeQueue("client").async {
            defer { if isCompaction { node.compactions.remove(number) } }
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
            if let failure { self.refused(operation.kind.rawValue, by: node, failure) }
        }
    }

    /// S20: nothing but a disk that fails hinders what an admin asks of a node.
    private func refused(_ request: String, by node: SimulatedNode, _ error: StoreError) {
        guard !hasBadDisk(node), !node.isDamaged else { return }
        world.fail(Violation(.noErrorFromInside, "node \(node.index): \(request): \(error)"))
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
        guard let running = node.node, running.isAdmin, let number = ObservedDatabase.number(database) else { return }
        let (json, incarnation) = (policyJSON(policy), node.incarnation)
        // Until all are told some merge by this and some by what was said before.
        model.policies[number] = nil
        running.queue.async {
            running.setPolicy(json, of: database) { [weak self] error in
                guard let self, node.incarnation == incarnation else { return }
                guard let error else { return lastPolicies[number] = (json, node.index) }
                if !hasBadDisk(node) {
                    world.fail(Violation(.noErrorFromInside, "node \(node.index): policy: \(error.message)"))
                }
            }
        }
    }
}
