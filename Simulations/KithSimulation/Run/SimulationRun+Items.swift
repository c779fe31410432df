import KithDocument
import KithStore

// The items of the plan: what clients ask, and what goes wrong.

extension SimulationRun {
    func carryOut(_ action: Action, item: Int) throws {
        switch action {
        case .operation(let operation):
            guard operation.node < nodes.count, case let node = nodes[operation.node], node.isRunning else {
                trace.line(now, node: operation.node, "no-node", operation.kind.rawValue)
                return
            }
            submit(.client(item: item, operation), to: node, operation.database)
        case .fault(let fault): try carryOut(fault)
        }
    }

    // What clients ask.

    /// Carries out a client's operation in the store, and takes up in the model what it did.
    func perform(
        _ operation: Operation, _ node: SimulatedNode, _ database: SimulatedDatabase
    ) throws -> ClientResult {
        do {
            switch operation.kind {
            case .compact, .verify, .backupCheck, .policy, .create, .drop: return .refused("not carried out")
            default: carriedOut.add(operation.kind.rawValue)
            }
            let id = try DocumentID(operation.document)
            let result = try write(operation, id, node, database)
            trace.line(
                now, node: node.index, "client", "\(operation.kind.rawValue) \(operation.document) \(Self.word(result))"
            )
            return result
        } catch let error as StoreError {
            switch error.code {
            case .notFound, .conflict:
                trace.line(
                    now, node: node.index, "client", "\(operation.kind.rawValue) \(operation.document) \(error.code)")
                return .refused(error.code.rawValue)
            default: throw Violation(.noErrorFromInside, "node \(node.index): \(error)")
            }
        } catch let error as DocumentError {
            throw Violation(.fidelity, "a client's document was not taken: \(error.message)")
        }
    }

    private func write(
        _ operation: Operation, _ id: DocumentID, _ node: SimulatedNode, _ database: SimulatedDatabase
    ) throws -> ClientResult {
        let store = database.store
        let place = Model.Place(node: node.index, database: database.number)
        func run(
            _ kind: DocumentModel.WriteKind, _ body: [(path: String, value: String)]?, isSettling: Bool = false,
            _ work: @escaping (WriteTransaction) throws(StoreError) -> Written
        ) throws -> ClientResult {
            let written = try store.write(work)
            database.lanes[0].hasWritten = true
            if written.isUnchanged { return .unchanged }
            guard written.sequence > model[place].sequence else {
                throw Violation(
                    .monotonicSequences, "a write on node \(node.index) got the old sequence \(written.sequence)")
            }
            let told = ClientWrite(revision: written.revision, kind: kind, body: body, isSettling: isSettling)
            try observe(node, database, write: told)
            guard model[place.database, id][written.revision] != nil else {
                throw Violation(
                    .acknowledgedDurability, "\(id) on node \(node.index) has no \(written.revision) after its write")
            }
            return .written(written.revision)
        }
        func put(_ body: ClientBody, initial: Bool = false) throws -> ClientResult {
            model[database.number, id].notePaths(body.fields.map(\.path))
            let canonical = try CanonicalJSON.object(from: body.text)
            if sabotage == .acknowledgesNothing { return try pretend(to: operation, canonical, store) }
            return try run(initial ? .initial : .edit, body.stored) { (transaction) throws(StoreError) in
                try transaction.put(id, canonical, initial: initial)
            }
        }
        switch operation.kind {
        case .put: return try put(ClientBody(pairs: operation.paddedFields))
        case .initial: return try put(ClientBody(pairs: operation.paddedFields), initial: true)
        case .set, .unset, .touch:
            let present = try database.reader.get(id)
            var body = ClientBody(stored: present.flatMap { $0.isDeleted ? nil : $0.body } ?? [])
            if operation.kind == .touch, present == nil { return .refused("not_found") }
            if operation.kind == .set { body.set(operation.path, operation.fields) }
            if operation.kind == .unset { body.remove(operation.path) }
            return try put(body)
        case .delete:
            return try run(.deletion, nil) { (transaction) throws(StoreError) in try transaction.delete(id) }
        case .resolve:
            guard let present = try database.reader.get(id) else { return .refused("not_found") }
            return try run(.deletion, nil, isSettling: true) { (transaction) throws(StoreError) in
                try transaction.resolve(id, keep: present.revision)
            }
        case .purge:
            try store.write { (transaction) throws(StoreError) in try transaction.purge(id) }
            database.lanes[0].hasWritten = true
            model[place].purge(id)
            model[place.database, id].isPurgedSomewhere = true
            try observe(node, database)
            return .unchanged
        case .read: return .read(try read(id, place, database))
        case .compact, .verify, .backupCheck, .policy, .create, .drop: return .unchanged
        }
    }

    /// A write that is taken back and acknowledged all the same.
    private func pretend(to operation: Operation, _ body: [UInt8], _ store: Store) throws -> ClientResult {
        let id = try DocumentID(operation.document)
        var pretended: RevisionID?
        _ = try? store.write { (transaction) throws(StoreError) in
            pretended = try transaction.put(id, body).revision
            throw StoreError(.internalError, "", "")
        }
        return pretended.map { .written($0) } ?? .unchanged
    }

    /// What a client reads, checked against what the node holds.
    private func read(_ id: DocumentID, _ place: Model.Place, _ database: SimulatedDatabase) throws -> RevisionID? {
        let read = try database.reader.get(id)
        var revision = read?.revision
        if sabotage == .winnerByArrival, let state = model[place][id] {
            let live = state.leaves.filter { $0.revision.kind.isLive }
            revision = live.min { $0.revision.id < $1.revision.id }?.revision.id ?? revision
        }
        try model.checkRead(id, at: place, revision: revision, body: read?.body, isDeleted: read?.isDeleted ?? true)
        return revision
    }

    /// The client is told.
    func acknowledge(_ operation: Operation, item: Int, _ result: ClientResult, _ node: SimulatedNode) throws {
        guard case .written(let revision) = result else { return }
        counts.acknowledged += 1
        trace.line(now, node: node.index, "ack", "\(operation.document) \(revision)")
        let id = DocumentID(unchecked: operation.document)
        try model.acknowledge(revision, of: id, at: Model.Place(node: node.index, database: operation.database))
    }

    private static func word(_ result: ClientResult) -> String {
        switch result {
        case .written(let revision): revision.description
        case .unchanged: "unchanged"
        case .read(let revision): revision?.description ?? "nothing"
        case .refused(let reason): reason
        }
    }
}
