import KithDocument
import KithReplication
import KithStore
import KithTestSupport

@testable import KithNode

/// A node of a `StoreMesh`: a directory, and while it runs the stores in it.
final class MeshNode {
    unowned let mesh: StoreMesh
    let number: Int
    /// Changed by a test that makes a copy a new node.
    private(set) var id: NodeID
    let directory: String
    private(set) var names: [String]
    private var stores: [String: Open] = [:]
    private var openings = 0

    private struct Open {
        let number: Int
        let store: Store
        let reader: StoreReader
    }

    var registries: [String: WantRegistry] = [:]
    private(set) var isRunning = false
    /// What was found since the beginning: somebody else wrote in this opening's timeline.
    private(set) var rollbacks = 0
    private var incarnation = 0
    private var lastWrite: [String: UInt64] = [:]
    private var writers: UInt64

    init(_ mesh: StoreMesh, number: Int, _ names: [String]) throws {
        self.mesh = mesh
        self.number = number
        self.names = names
        id = NodeID(bytes: [UInt8](repeating: UInt8(number), count: 32))!
        writers = UInt64(number) << 32
        directory = mesh.folder.path + "/node-\(number)"
        try TestFolder.make(directory)
    }

    // MARK: Its life

    func start() throws {
        guard !isRunning else { return }
        isRunning = true
        incarnation += 1
        registries = [:]
        for name in names { try open(name) }
    }

    private func open(_ name: String) throws {
        let environment = StoreEnvironment(
            now: { [unowned mesh] in StoreMesh.wallClockStart + Int64(mesh.now) },
            random: { [unowned mesh] in mesh.random.next() })
        let store = try Store(
            DatabaseFile(try DatabaseName(name), in: directory), environment: environment,
            options: StoreOptions(durability: .relaxed))
        openings += 1
        stores[name] = Open(number: openings, store: store, reader: try store.makeReader())
    }

    /// Ends the process, as a stop of the node does or, for `kill`, as it was: what a crash leaves lies in the directory.
    func stop(kill: Bool = false) {
        guard isRunning else { return }
        mesh.disconnectAll(of: self)
        let left = kill ? snapshot() : nil
        isRunning = false
        incarnation += 1
        stores = [:]
        registries = [:]
        if let left { restore(left) }
    }

    /// All files as they are, the log too, as a copy of the directory or a power cut finds them.
    func snapshot() -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in TestFolder.names(in: directory) where !name.hasSuffix("-shm") {
            files[name] = TestFolder.read("\(directory)/\(name)")
        }
        return files
    }

    /// Puts files in the place of all that there are. The node must not run.
    func restore(_ files: [String: [UInt8]]) {
        precondition(!isRunning, "node \(number) runs")
        for name in TestFolder.names(in: directory) { TestFolder.remove("\(directory)/\(name)") }
        for name in files.keys.sorted() { TestFolder.write(files[name]!, to: "\(directory)/\(name)") }
    }

    /// The node becomes a new one on the databases that it has.
    func becomeNew(_ number: UInt8) {
        precondition(!isRunning, "node \(number) runs")
        id = NodeID(bytes: [UInt8](repeating: number, count: 32))!
    }

    /// Carries one more database.
    func carry(_ name: String) throws {
        names.append(name)
        guard isRunning else { return }
        try open(name)
        mesh.tell(self, .carry(CarriedDatabase(name: name, summary: summary(name))))
    }

    /// Drops a database, and its file.
    func drop(_ name: String) throws {
        names.removeAll { $0 == name }
        guard isRunning else { return }
        mesh.tell(self, .drop(database: name))
        stores[name] = nil
        registries[name] = nil
        try Store.remove(DatabaseFile(try DatabaseName(name), in: directory))
    }

    // MARK: What it has

    func store(_ name: String = "db") -> Store { stores[name]!.store }

    func reader(_ name: String = "db") -> StoreReader { stores[name]!.reader }

    func summary(_ name: String = "db") -> ReplicaSummary { ReplicaSummary(store(name).summary) }

    var digest: Digest256 { store().summary.digest }

    var carried: [CarriedDatabase] { names.map { CarriedDatabase(name: $0, summary: summary($0)) } }

    /// The body of a document's winner; nil when nothing of it lives.
    func body(_ id: String, in name: String = "db") -> String? {
        guard let document = try? reader(name).get(DocumentID(unchecked: id)), !document.isDeleted else { return nil }
        return String(decoding: document.body, as: UTF8.self)
    }

    /// The ids of all documents that live, ascending.
    func living(_ name: String = "db") -> [String] {
        ((try? reader(name).feed(after: 0, limit: .max)) ?? []).filter { !$0.isDeleted }.map(\.document.string).sorted()
    }

    // MARK: Writing

    /// Writes a document, or the same with another body.
    /// - Returns: its revision, which is on disk.
    @discardableResult
    func put(_ id: String, _ json: String, in name: String = "db") throws -> RevisionID {
        let body = try CanonicalJSON.object(from: Array(json.utf8))
        return try write(name) { (transaction) throws(StoreError) in
            try transaction.put(DocumentID(unchecked: id), body)
        }.revision
    }

    @discardableResult
    func delete(_ id: String, in name: String = "db") throws -> RevisionID {
        try write(name) { (transaction) throws(StoreError) in try transaction.delete(DocumentID(unchecked: id)) }
            .revision
    }

    func purge(_ id: String, in name: String = "db") throws {
        try write(name) { (transaction) throws(StoreError) in try transaction.purge(DocumentID(unchecked: id)) }
    }

    /// Stores what somebody delivered.
    @discardableResult
    func apply(
        _ deliveries: [Delivery], of source: NodeID, in name: String = "db", checkpoint: Position? = nil
    ) throws -> ReceivedOutcome {
        let batch = ReceivedBatch(source: source, deliveries: deliveries, checkpoint: checkpoint)
        return try write(name) { (transaction) throws(StoreError) in try transaction.apply(batch) }
    }

    private func write<Value>(
        _ name: String, _ work: @escaping (WriteTransaction) throws(StoreError) -> Value
    ) throws -> Value {
        let value = try store(name).write(work)
        mesh.tell(self, .localCommit(database: name, summary(name)))
        return value
    }

    // MARK: Work for links

    /// Carries out store work: writes in order, the rest as it comes.
    func work(_ request: StoreRequest, _ name: String, _ done: @escaping (StoreResult) -> Void) {
        var time = mesh.now + mesh.delay()
        if request.isWrite {
            time = max(time, lastWrite[name] ?? 0)
            lastWrite[name] = time
        }
        let (asked, opening) = (incarnation, stores[name]?.number)
        mesh.schedule(at: time) { [unowned self] in
            guard incarnation == asked else { return }
            guard let open = stores[name], open.number == opening else {
                return done(.failed(ReplicaError(code: "not_found", message: "it was dropped", isTransient: false)))
            }
            done(carryOut(request, name, open.store, open.reader))
        }
    }

    private func carryOut(
        _ request: StoreRequest, _ name: String, _ store: Store, _ reader: StoreReader
    ) -> StoreResult {
        guard case .apply(let batch) = request else { return perform(request, on: ReaderReplica(reader)) }
        let received = ReceivedBatch(source: batch.source, deliveries: batch.deliveries, checkpoint: batch.checkpoint)
        do throws(StoreError) {
            let outcome = try store.write { (transaction) throws(StoreError) in try transaction.apply(received) }
            if outcome.isRollbackDetected { rollbacks += 1 }
            mesh.tell(self, .localCommit(database: name, summary(name)))
            return .applied(ReplicaOutcome(outcome))
        } catch {
            return .failed(ReplicaError(error))
        }
    }
}
