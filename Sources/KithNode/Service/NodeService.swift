import Dispatch
import KithDocument
import KithMerge
import KithReplication
import KithStore
import KithSystem
import KithTransport

/// The control interface of a running node. What belongs to the mesh is asked on the node's queue, what belongs to a
/// database on the database's.
struct NodeService: ControlService {
    let node: Node

    init(_ node: Node) { self.node = node }

    /// Asks the node on its queue.
    func onNode<Value: Sendable>(_ body: @escaping @Sendable (Node) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            node.queue.async { continuation.resume(returning: body(node)) }
        }
    }

    /// Asks the node on its queue for something that is done later: it calls back with nil then, or with what came between.
    func asking(
        _ body: @escaping @Sendable (Node, @escaping @Sendable (ControlError?) -> Void) -> Void
    ) async throws(ControlError) {
        try await outcome { (node, done: @escaping @Sendable (Result<Void, ControlError>) -> Void) in
            body(node) { failure in done(failure.map { .failure($0) } ?? .success(())) }
        }
    }

    /// The same for what has a result.
    func outcome<Value: Sendable>(
        _ body: @escaping @Sendable (Node, @escaping @Sendable (Result<Value, ControlError>) -> Void) -> Void
    ) async throws(ControlError) -> Value {
        let node = node
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, ControlError>, Never>) in
            node.queue.async { body(node) { continuation.resume(returning: $0) } }
        }
        return try result.get()
    }

    /// Asks the node on its queue, when it has asked its peers and the disk.
    func onFreshNode<Value: Sendable>(_ body: @escaping @Sendable (Node) -> Value) async -> Value {
        let node = node
        return await withCheckedContinuation { continuation in
            node.queue.async { node.freshen { continuation.resume(returning: body(node)) } }
        }
    }

    /// Returns when all that is known of the group is on disk.
    func requireKeptMembership() async throws(ControlError) {
        try await asking { node, done in
            node.whenMembershipIsKept { isKept in
                let message = "it holds now but can't be written to disk: see the log, and say it again"
                done(isKept ? nil : ControlError(.failed, message))
            }
        }
    }

    /// The database of a name.
    func database(_ name: String) throws(ControlError) -> DatabaseExecutor {
        if let database = node.catalog[name] { return database }
        if let failure = node.catalog.failure(of: name) { throw ControlError(failure) }
        throw .unknownDatabase(name)
    }

    func status() async throws(ControlError) -> ControlStatus { await onFreshNode { $0.status() } }

    func statusUpdates() async throws(ControlError) -> AsyncStream<ControlStatus> {
        let node = node
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            node.queue.async {
                node.freshen { continuation.yield(node.status()) }
                let watcher = node.addWatcher(.status { continuation.yield($0) })
                node.keepAsking(for: watcher)
                continuation.onTermination = { _ in node.queue.async { node.watchers[watcher] = nil } }
            }
        }
    }

    func mesh() async throws(ControlError) -> ControlMesh { await onNode { $0.mesh() } }

    func wait(for condition: ControlWait) async throws(ControlError) -> ControlWaitResult {
        // A database that is not here yet is waited for: on a new node it comes with the first link.
        let node = node
        let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<Node.WaitOutcome, Never>) in
            node.queue.async { node.wait(for: condition) { continuation.resume(returning: $0) } }
        }
        switch outcome {
        case .holds(let result): return result
        case .lacks(let what): throw ControlError(.notYet, what)
        }
    }

    func pause(peer: String?, milliseconds: Int64?) async throws(ControlError) -> ControlPause {
        let until = milliseconds.map { SystemClock().wallMilliseconds + $0 }
        let id = try await find(peer)
        try await asking { node, done in node.setPause(id, until: until, then: done) }
        return ControlPause(peer: id?.description, until: until)
    }

    func resume(peer: String?) async throws(ControlError) {
        let id = try await find(peer)
        try await asking { node, done in
            do throws(ControlError) { try node.endPause(id, then: done) } catch { done(error) }
        }
    }

    /// The peer of a name; nil for nil.
    func find(_ peer: String?) async throws(ControlError) -> NodeID? {
        guard let peer else { return nil }
        return try await onNode { node in Result { () throws(ControlError) in try node.find(peer) } }.get()
    }

    func invite(_ request: ControlInvite) async throws(ControlError) -> ControlInvitation {
        // Whoever holds the root's key may make an admin anywhere, should the last one be lost.
        guard let role = Role(request.role), role == .admin || node.identity.admin != nil else {
            throw ControlError(.forbidden, "only an admin can invite; this node is a \(node.role)")
        }
        try requireMembership()
        do throws(TransportError) {
            var root: GroupRoot?
            if role == .admin {
                if let key = request.rootKey {
                    root = try IdentityStore.readRoot(key)
                } else {
                    root = try node.identities.loadRoot(of: node.identity.trust)
                }
            }
            let code = try node.desk.invite(role: role, validMilliseconds: request.validMilliseconds, root: root)
            return ControlInvitation(
                code: code.text, role: request.role,
                expiresAt: SystemClock().wallMilliseconds + request.validMilliseconds
            )
        } catch {
            throw ControlError(.forbidden, error.message)
        }
    }

    func databases() async throws(ControlError) -> [ControlStatus.Database] {
        await onFreshNode { $0.databaseStatus() }
    }

    func createDatabase(_ name: String) async throws(ControlError) {
        try node.requireWriter()
        do throws(StoreError) {
            let (database, isNew) = try node.catalog.create(try DatabaseName(name))
            guard isNew else {
                throw StoreError(.conflict, name, "there is a database \(name) already")
            }
            await onNode { $0.added(database) }
        } catch {
            throw error.code == .conflict ? ControlError(.exists, error.message) : ControlError(error)
        }
    }

    func deleteDatabase(_ name: String) async throws(ControlError) -> [KeptFile] {
        if node.catalog.failure(of: name) == nil { _ = try database(name) }
        do throws(StoreError) { try node.catalog.requireUnreserved(try DatabaseName(name)) } catch {
            throw ControlError(error)
        }
        // The links let go first, so that nothing of them is under way in the file.
        await onNode { $0.removed(name) }
        do throws(StoreError) {
            let database = try DatabaseName(name)
            guard try node.catalog.drop(database) else { throw StoreError(.notFound, name, "") }
            node.damage.note(database, nil)
            return (try? KeptFile.all(of: node.catalog.file(of: database))) ?? []
        } catch {
            throw error.code == .notFound ? .unknownDatabase(name) : ControlError(error)
        }
    }

    func policy(of name: String) async throws(ControlError) -> [UInt8] {
        _ = try database(name)
        return node.membership.policy(of: name)?.json ?? Array("{\"default\":\"latest\"}".utf8)
    }

    func setPolicy(_ policy: [UInt8], of name: String) async throws(ControlError) -> [UInt8] {
        _ = try database(name)
        guard node.identity.admin != nil else {
            throw ControlError(.forbidden, "only an admin can set a policy; this node is a \(node.role)")
        }
        try requireMembership()
        let json: [UInt8]
        do throws(DocumentError) { json = try MergePolicies.validated(policy) } catch {
            throw ControlError(.invalid, error.message)
        }
        try await asking { node, done in node.setPolicy(json, of: name, then: done) }
        return json
    }

    func setLogLevel(_ level: String, area: String?) async throws(ControlError) {
        guard node.log.configure(area.map { "\($0)=\(level)" } ?? level) else {
            let areas = Log.Area.allCases.map(\.rawValue).joined(separator: ", ")
            let levels = Log.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError(.usage, "log levels are \(levels); areas are \(areas)")
        }
    }

    func stop() async throws(ControlError) { node.requestStop() }
}

extension ControlError {
    /// What a database answered.
    init(_ error: StoreError) {
        let code: Code =
            switch error.code {
            case .notFound, .closed: .notFound
            case .conflict: .conflict
            case .invalid: .invalid
            case .storageFull: .storageFull
            case .readOnly, .locked, .clockBeyondRange, .inputOutput, .outOfMemory, .moved, .missing,
                .cancelled:
                .unavailable
            case .damaged, .newerFile, .foreignFile, .networkFileSystem, .cannotOpen, .internalError: .failed
            }
        self.init(code, error.message)
    }
}
