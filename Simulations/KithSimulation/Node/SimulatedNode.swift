import KithDocument
import KithNode
import KithStore
import KithSystem
import KithTestSupport
import KithVirtualDisk
import Synchronization

/// A node of the plan: the machine that it is on, its process, and what the simulation watches of it.
final class SimulatedNode: @unchecked Sendable {
    // Sendable: a run has one thread.

    let index: Int
    /// The machine that its disk is in.
    var machine: SimulatedMachine
    var process: SimulatedProcess?
    var node: Node?
    /// Who it is; another after a `wipe`.
    var id: NodeID
    /// By the number of the database.
    var databases: [Int: ObservedDatabase] = [:]
    /// What clients have asked for and have not been told of, by the number of the call.
    var calls: [Int: ClientCall] = [:]
    /// Writes that clients were told have failed, and that the next start may find done: the disk did not say.
    var doubtful: [ClientCall] = []
    /// Compactions that its process was asked for and that have not ended.
    var compactions: Set<UInt64> = []
    /// How much its process had done when that was looked at last.
    var workSeen = 0
    /// Counts the processes.
    private(set) var incarnation = 0

    /// It is not a node yet, or any more: a spare machine, one that joins later, one that has left.
    var isAbsent = false
    /// It breaks rules on purpose, or is no member any more: what is its alone need not reach anybody.
    var isOutsider = false
    /// A disk that may hold anything: nothing is expected of this node until it is made anew.
    var isDamaged = false
    /// It was copied or moved, so it is held until somebody says which it is.
    var isMoved = false
    /// When another node ceased to have its identity: until links to that one are given up, they are taken for its own.
    var hadCopyAt: UInt64?
    var isHostile = false
    /// It is not healed with the others, and starts no more.
    var isLeftBehind = false
    /// Who has taken its place, once it is hostile.
    var hostile: HostileMember?
    /// The version of the protocol that it plays from its next start on, and since when; nil for its own.
    var version: (skew: VersionSkew, since: UInt64)?
    /// Since when it is no member any more.
    var outsiderSince: UInt64?
    /// By node that was revoked when this one was first seen to know of it.
    var knowsOutsiders: [Int: UInt64] = [:]
    /// Databases of which a power cut broke off some call: whether a write is there becomes known when they are opened.
    var interrupted: Set<Int> = []
    /// When its last process ended. What a failing disk was asked last may be done at the next start, however late that is.
    private(set) var endedAt: UInt64 = .max

    /// Its disk pretends to synchronise, or did since it was last made sure.
    var isPretending = false
    /// Until then calls of its disk may fail, or just did.
    var badDiskUntil: UInt64 = 0

    init(_ index: Int, on machine: SimulatedMachine, id: NodeID) {
        self.index = index
        self.machine = machine
        self.id = id
    }

    var isRunning: Bool { node != nil }

    /// The directory of the node on its machine's disk.
    var directory: String { machine.disk.directory + "/node" }

    var machineIDFile: String { machine.disk.directory + "/machine-id" }

    func begin(_ process: SimulatedProcess, _ node: Node) {
        self.process = process
        self.node = node
    }

    func countProcess() -> Int {
        incarnation += 1
        return incarnation
    }

    /// Its machine has the content of another disk from now on, and what went wrong with its own does so no more.
    func take(_ other: VirtualDisk) {
        machine.disk.restore(other)
        machine.trouble.endMisdirecting()
        isPretending = machine.trouble.pretends
        isDamaged = false
        isMoved = false
        doubtful = []
        interrupted = []
        calls = [:]
    }

    /// Its process is gone.
    func end() {
        endedAt = machine.world.now
        process?.end()
        process = nil
        node = nil
        hostile = nil
        databases = [:]
        compactions = []
    }
}

/// A database of a running node as the simulation watches it.
final class ObservedDatabase: @unchecked Sendable {
    // Sendable: a run has one thread.

    let number: Int
    let executor: DatabaseExecutor
    private let disk: VirtualDisk
    private var reader: StoreReader?
    /// Whether the reader stays open from one look to the next. Not while the file is exchanged or closed: its node's own
    /// connection is to be the last one, and a look that comes in between must not stay with the old file.
    var keepsReader = true { didSet { if !keepsReader { reader = nil } } }

    init(_ number: Int, _ executor: DatabaseExecutor, on disk: VirtualDisk) {
        self.number = number
        self.executor = executor
        self.disk = disk
    }

    private var pulled = 0

    /// Revisions that came from peers and were new, since this was asked last.
    func takePulled() -> Int {
        let now = executor.traffic.stored
        defer { pulled = now }
        return now - pulled
    }

    static func name(_ number: Int) -> String { "db\(number)" }

    static func number(_ name: String) -> Int? { name.hasPrefix("db") ? Int(name.dropFirst(2)) : nil }

    /// A reader of the simulation's own, beside those of the node. No fault of the disk strikes it, nor does it use one up.
    func withReader<Value>(_ body: (StoreReader) throws(StoreError) -> Value) throws(StoreError) -> Value {
        disk.sparesCalls = true
        defer { disk.sparesCalls = false }
        if let reader { return try body(reader) }
        let reader = try executor.file.makeReader()
        if keepsReader { self.reader = reader }
        return try body(reader)
    }
}

extension StoreReader {
    /// All leaves of a document with what is known of their ancestry, ascending; empty when nothing is known.
    func leaves(of change: Change) throws(StoreError) -> [Delivery.Item] {
        try leaves(of: change.document, change.leaves.map(\.id))
    }

    /// The same of what is there now.
    func leaves(of id: DocumentID) throws(StoreError) -> [Delivery.Item] {
        guard let history = try history(id) else { return [] }
        return try leaves(of: id, history.nodes.filter(\.isLeaf).map(\.id))
    }

    private func leaves(of id: DocumentID, _ leaves: [RevisionID]) throws(StoreError) -> [Delivery.Item] {
        let want = Want(document: id, revisions: leaves, known: [])
        return try deliveries(for: [want], maximumBytes: .max).deliveries.first?.items ?? []
    }
}

/// A write that a client has asked for. What it did is known with the commit, or, where the power went in the middle of
/// that, with the next start.
final class ClientCall: @unchecked Sendable {
    // Sendable: a run has one thread.

    let number: Int
    let operation: Operation
    let database: Int
    /// What the write made of the document, as its transaction saw it.
    var made: (sequence: UInt64, leaves: [Delivery.Item], write: ClientWrite)?
    var isPurge: Bool { operation.kind == .purge }
    /// The leaves that a purge removed.
    var purged: [RevisionID] = []
    /// How the document stood for the model when the transaction began.
    var asked: ReplicaModel.State?
    /// Whether the transaction did its work; the commit is still to come.
    var hasRun = false

    init(_ number: Int, _ operation: Operation) {
        self.number = number
        self.operation = operation
        database = operation.database
    }

    /// Whether what it was about was there, from when its transaction began to now.
    func mustBeThere(in replica: ReplicaModel) -> Bool {
        guard let asked, let now = replica[DocumentID(unchecked: operation.document)], now.sequence == asked.sequence
        else { return false }
        return switch operation.kind {
        case .purge: true
        case .touch: asked.isOpen
        default: asked.isLive
        }
    }
}

extension Sequence<ClientCall> {
    /// As they were asked for, and so as they wrote.
    var inOrder: [ClientCall] { sorted { $0.number < $1.number } }
}

/// A generator behind a reference, for the closures that the product takes.
final class RandomSource: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(_ generator: SeededGenerator) { self.generator = Mutex(generator) }

    func next() -> UInt64 { generator.withLock { $0.next() } }
}
