import KithDocument
import KithHTTPCore
import KithNode
import KithQuery
import KithStore
import KithTestSupport
import Synchronization

/// A service without a node behind it: documents in memory, enough of each operation to see that the router asks for
/// the right one and tells its answer.
final class ControlMemoryService: ControlService {
    struct Document {
        var revision: RevisionID
        var body: [UInt8]
        var sequence: UInt64
    }

    struct State {
        var databases: [String: [String: Document]] = ["db": [:]]
        var sequence: UInt64 = 0
        var calls: [String] = []
        /// Thrown by the next call.
        var failure: ControlError?
        var exportFailure: ControlError?
        var policy = Array(#"{"default":"latest"}"#.utf8)
        var updates: [AsyncStream<ControlStatus>.Continuation] = []
    }

    let state = Mutex(State())

    var calls: [String] { state.withLock { $0.calls } }

    func failAtTheEndOfAnExport(with error: ControlError) { state.withLock { $0.exportFailure = error } }

    func fail(with error: ControlError) { state.withLock { $0.failure = error } }

    private func note(_ call: String) throws(ControlError) {
        let failure = state.withLock { state in
            state.calls.append(call)
            return state.failure.take()
        }
        if let failure { throw failure }
    }

    static func revision(_ generation: UInt64) -> RevisionID {
        RevisionID(generation: generation, digest: Digest128(high: generation, low: 7))
    }

    static let shownStatus: ControlStatus = {
        var status = ControlStatus(generatedAt: 1_000)
        status.node.name = "den"
        status.checks = [.init(code: "CONFLICTS", level: .warning, summary: "s", action: "a", since: nil)]
        return status
    }()

    func status() async throws(ControlError) -> ControlStatus {
        try note("status")
        return Self.shownStatus
    }

    func identity() async throws(ControlError) -> NodeIdentity {
        try note("identity")
        return NodeIdentity(
            id: "id", name: "den", group: "home", role: "writer", fingerprint: "f", machine: .same, directory: "/d")
    }

    func keepMachine() async throws(ControlError) { try note("keepMachine") }

    func statusUpdates() async throws(ControlError) -> AsyncStream<ControlStatus> {
        try note("statusUpdates")
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            continuation.yield(Self.shownStatus)
            state.withLock { $0.updates.append(continuation) }
        }
    }

    func mesh() async throws(ControlError) -> ControlMesh {
        try note("mesh")
        return ControlMesh(generatedAt: 5, nodes: [.init(id: "aa", name: "den")])
    }

    func mute(_ code: HealthCode, milliseconds: Int64) async throws(ControlError) -> Int64 {
        try note("mute \(code.rawValue) \(milliseconds)")
        return milliseconds
    }

    func unmute(_ code: HealthCode?) async throws(ControlError) { try note("unmute \(code?.rawValue ?? "-")") }

    func metrics() async throws(ControlError) -> ControlMetrics {
        try note("metrics")
        return ControlMetrics(status: Self.shownStatus, counters: NodeCounters())
    }

    func wait(for condition: ControlWait) async throws(ControlError) -> ControlWaitResult {
        try note("wait \(condition.peers) \(condition.database ?? "-") \(condition.timeoutMilliseconds)")
        return ControlWaitResult(peers: condition.peers, inSync: condition.database.map { _ in true })
    }

    func pause(peer: String?, milliseconds: Int64?) async throws(ControlError) -> ControlPause {
        try note("pause \(peer ?? "-") \(milliseconds.map(String.init) ?? "-")")
        return ControlPause(peer: peer, until: milliseconds)
    }

    func resume(peer: String?) async throws(ControlError) { try note("resume \(peer ?? "-")") }

    func invite(_ request: ControlInvite) async throws(ControlError) -> ControlInvitation {
        try note("invite \(request.role) \(request.validMilliseconds) \(request.rootKey?.count ?? 0)")
        return ControlInvitation(code: "CODE", role: request.role, expiresAt: 0)
    }

    // MARK: Replication

    func replication(of database: String) async throws(ControlError) -> DatabaseReplication {
        try note("replication \(database)")
        return DatabaseReplication()
    }

    func setReplication(
        _ change: ControlReplication, of database: String
    ) async throws(ControlError) -> DatabaseReplication {
        let paused = change.isPaused.map { "\($0)" } ?? "-"
        try note(
            "setReplication \(database) \(change.direction?.rawValue ?? "-") \(change.mode?.rawValue ?? "-") \(paused)")
        var settings = DatabaseReplication()
        settings.direction = change.direction ?? .both
        return settings
    }

    func pending(of database: String, at peer: String?, limit: Int) async throws(ControlError) -> ControlPending {
        try note("pending \(database) \(peer ?? "-") \(limit)")
        return ControlPending(isKnown: true, documents: ["a"], hasMore: false)
    }

    func resetCheckpoint(of database: String, with peer: String?) async throws(ControlError) {
        try note("reset \(database) \(peer ?? "-")")
    }

    func synchronise(_ database: String, timeoutMilliseconds: Int64) async throws(ControlError) -> ControlSync {
        try note("synchronise \(database) \(timeoutMilliseconds)")
        return ControlSync(database: database, peers: [.init(id: "aa", name: "den")])
    }

    // MARK: Members

    func members() async throws(ControlError) -> ControlMembers {
        try note("members")
        return ControlMembers(generatedAt: 5, members: [.init(id: "aa")])
    }

    func revoke(_ node: String, rootKey: [UInt8]?, isDryRun: Bool) async throws(ControlError) -> ControlRevocation {
        try note("revoke \(node) \(rootKey?.count ?? 0) \(isDryRun)")
        return ControlRevocation(id: node)
    }

    func setRole(_ role: String, of node: String) async throws(ControlError) -> ControlRoleChange {
        try note("role \(node) \(role)")
        return ControlRoleChange(id: node, role: role)
    }

    func databases() async throws(ControlError) -> [ControlStatus.Database] {
        try note("databases")
        return state.withLock { $0.databases.keys.sorted() }.map { name in
            var database = ControlStatus.Database()
            database.name = name
            return database
        }
    }

    func createDatabase(_ name: String) async throws(ControlError) {
        try note("create \(name)")
        let isNew = state.withLock { state in
            if state.databases[name] != nil { return false }
            state.databases[name] = [:]
            return true
        }
        if !isNew { throw ControlError(.exists, "there is a database \(name) already") }
    }

    func deleteDatabase(_ name: String) async throws(ControlError) -> [KeptFile] {
        try note("drop \(name)")
        if state.withLock({ $0.databases.removeValue(forKey: name) }) == nil { throw .unknownDatabase(name) }
        return []
    }

    private func find(_ id: DocumentID, _ database: String) throws(ControlError) -> Document {
        let found: Result<Document, ControlError> = state.withLock { state in
            guard let documents = state.databases[database] else { return .failure(.unknownDatabase(database)) }
            guard let document = documents[id.string] else {
                return .failure(.unknownDocument(id, database: database))
            }
            return .success(document)
        }
        return try found.get()
    }

    func document(_ id: DocumentID, in database: String, revision: RevisionID?, withMeta: Bool)
        async throws(ControlError) -> ControlDocument
    {
        try note("get \(id) \(revision?.description ?? "-") \(withMeta)")
        let document = try find(id, database)
        return ControlDocument(body: document.body, revision: document.revision)
    }

    func put(_ body: [UInt8], as id: DocumentID, in database: String, revision: RevisionID?)
        async throws(ControlError) -> ControlWritten
    {
        try note("put \(id) \(revision?.description ?? "-")")
        let result: Result<ControlWritten, ControlError> = state.withLock { state in
            guard state.databases[database] != nil else { return .failure(.unknownDatabase(database)) }
            let present = state.databases[database]?[id.string]
            if let revision, present?.revision != revision {
                return .failure(ControlError(.conflict, "\(id) has another revision; read it again"))
            }
            if let present, present.body == body {
                return .success(ControlWritten(id: id, revision: present.revision, isNew: false))
            }
            state.sequence += 1
            let written = Self.revision((present?.revision.generation ?? 0) + 1)
            state.databases[database]?[id.string] = Document(revision: written, body: body, sequence: state.sequence)
            return .success(ControlWritten(id: id, revision: written, isNew: true))
        }
        return try result.get()
    }

    func delete(_ id: DocumentID, in database: String, revision: RevisionID?)
        async throws(ControlError) -> ControlWritten
    {
        try note("delete \(id) \(revision?.description ?? "-")")
        let document = try find(id, database)
        state.withLock { _ = $0.databases[database]?.removeValue(forKey: id.string) }
        return ControlWritten(id: id, revision: Self.revision(document.revision.generation + 1), isNew: true)
    }

    func purge(_ id: DocumentID, in database: String) async throws(ControlError) -> Int {
        try note("purge \(id)")
        _ = try find(id, database)
        state.withLock { _ = $0.databases[database]?.removeValue(forKey: id.string) }
        return 1
    }

    func changes(of database: String, _ request: ControlChanges) async throws(ControlError) -> ControlStream {
        try note("changes \(request.since) \(request.limit.map(String.init) ?? "-") \(request.follows)")
        guard let documents = state.withLock({ $0.databases[database] }) else { throw .unknownDatabase(database) }
        let changes = documents.sorted { $0.value.sequence < $1.value.sequence }
        return ControlStream { writer in
            for (id, document) in changes where document.sequence > request.since {
                let line = ControlChanges.line(
                    sequence: document.sequence, id: DocumentID(unchecked: id), revision: document.revision,
                    deleted: false)
                try await writer.write(line)
            }
        }
    }

    func history(of id: DocumentID, in database: String) async throws(ControlError) -> ControlHistory {
        try note("history \(id)")
        let document = try find(id, database)
        return ControlHistory(id: id, revisions: [.init(id: document.revision, kind: .edit, parent: nil)])
    }

    func policy(of database: String) async throws(ControlError) -> [UInt8] {
        try note("policy")
        return state.withLock { $0.policy }
    }

    func setPolicy(_ policy: [UInt8], of database: String) async throws(ControlError) -> [UInt8] {
        try note("setPolicy")
        state.withLock { $0.policy = policy }
        return policy
    }

    func conflicts(in database: String) async throws(ControlError) -> ControlStream {
        try note("conflicts")
        return ControlStream { writer in
            let leaves = [Self.revision(2), Self.revision(1)]
            try await writer.write(
                ControlConflict(id: DocumentID(unchecked: "a"), winner: leaves[0], leaves: leaves).line)
        }
    }

    func resolve(_ id: DocumentID, in database: String, keeping revision: RevisionID)
        async throws(ControlError) -> ControlWritten
    {
        try note("resolve \(id) \(revision)")
        return ControlWritten(id: id, revision: revision, isNew: true)
    }

    func importDocuments(_ body: HTTPBodyReader, into database: String, _ request: ControlImport)
        async throws(ControlError) -> ControlStream
    {
        try note("import \(request.idField ?? "-") \(request.isInitial) \(request.isDryRun)")
        if state.withLock({ $0.databases[database] }) == nil { throw .unknownDatabase(database) }
        return ControlStream { writer in
            var lines = 0
            while let part = try await body.next() { lines += part.count { $0 == UInt8(ascii: "\n") } }
            try await writer.write(ControlImportEvent.failure(position: 2, id: nil, message: "no").line)
            try await writer.write(
                ControlImportEvent.done(read: lines, written: lines - 1, unchanged: 0, failed: 1).line)
        }
    }

    func exportDocuments(of database: String) async throws(ControlError) -> ControlStream {
        try note("export")
        guard let documents = state.withLock({ $0.databases[database] }) else { throw .unknownDatabase(database) }
        let failure = state.withLock { $0.exportFailure }
        return ControlStream { writer in
            for (_, document) in documents.sorted(by: { $0.value.sequence < $1.value.sequence }) {
                try await writer.write(document.body + [UInt8(ascii: "\n")])
            }
            if let failure { throw failure }
        }
    }

    func query(_ request: ControlQuery, in database: String) async throws(ControlError) -> ControlStream {
        try note("query \(database) \(request.text)")
        return ControlStream { try await $0.write(Array("{\"columns\":[]}\n".utf8)) }
    }

    func explain(_ request: ControlQuery, in database: String) async throws(ControlError) -> QueryExplanation {
        try note("explain \(database) \(request.text)")
        return QueryExplanation(sql: "SELECT 1", plan: ["SCAN"], indexes: [], suggestion: ["a"], notes: [])
    }

    func indexes(of database: String) async throws(ControlError) -> [IndexListing] {
        try note("indexes \(database)")
        return []
    }

    func createIndex(_ definition: IndexDefinition, in database: String) async throws(ControlError) -> ControlStream {
        try note("createIndex \(database) \(definition.json)")
        return ControlStream {
            try await $0.write(UpkeepEvent.indexed(database: database, index: definition.name).line)
        }
    }

    func dropIndex(_ index: String, in database: String) async throws(ControlError) {
        try note("dropIndex \(database) \(index)")
    }

    func refusedDocuments(in database: String) async throws(ControlError) -> ControlStream {
        try note("refused \(database)")
        return ControlStream { try await $0.write(Array("{}\n".utf8)) }
    }

    func supportReport() async throws(ControlError) -> [UInt8] {
        try note("support")
        return Array("== versions\n".utf8)
    }

    func verify(_ database: String) async throws(ControlError) -> ControlStream {
        try note("verify \(database)")
        return ControlStream { try await $0.write(UpkeepEvent.note("checked").line) }
    }

    func repair(_ database: String, waitingMilliseconds: Int64) async throws(ControlError) -> ControlStream {
        try note("repair \(database) \(waitingMilliseconds)")
        return ControlStream { try await $0.write(UpkeepEvent.repaired(.init(database: database)).line) }
    }

    func compact(_ database: String) async throws(ControlError) -> ControlStream {
        try note("compact \(database)")
        return ControlStream { try await $0.write(UpkeepEvent.compacted(database: database, before: 2, after: 1).line) }
    }

    func backup(_ database: String) async throws(ControlError) -> ControlFile {
        try note("backup \(database)")
        let parts = Shared([[UInt8]]([Array("one ".utf8), Array("two".utf8)]))
        return ControlFile(bytes: 7) { () throws(ControlError) in
            var part: [UInt8]?
            parts.change { parts in part = parts.isEmpty ? nil : parts.removeFirst() }
            return part
        }
    }

    func restore(
        _ database: String, from body: HTTPBodyReader, replaces: Bool
    ) async throws(ControlError) -> ControlRestored {
        var bytes = 0
        do throws(HTTPError) { while let part = try await body.next() { bytes += part.count } } catch {
            throw ControlError(.failed, error.message)
        }
        try note("restore \(database) \(bytes) \(replaces)")
        return ControlRestored(database: database, documents: 1, sequence: 2, kept: nil)
    }

    func setLogLevel(_ level: String, area: String?) async throws(ControlError) {
        try note("log \(level) \(area ?? "-")")
    }

    func stop() async throws(ControlError) { try note("stop") }

    func reload() async throws(ControlError) -> ControlReload {
        try note("reload")
        var reload = ControlReload()
        reload.changed = ["peer"]
        reload.needsRestart = ["listen"]
        return reload
    }
}
