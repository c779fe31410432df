import KithDocument
import KithMerge
import KithSystem
import KithTestSupport
import Testing

@testable import KithStore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A directory that goes with its object.
final class TemporaryDirectory {
    let path: String

    init() {
        var template = Array("/tmp/kith-store-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { fatalError("no temporary directory") }
        path = String(cString: made)
    }

    deinit {
        for name in (try? LocalFileSystem().names(in: path)) ?? [] {
            unlink(path + "/" + name)
        }
        rmdir(path)
    }

    /// Copies all files as they are, as a crash or a backup of the whole directory would find them.
    func copy() -> TemporaryDirectory {
        let copy = TemporaryDirectory()
        for name in (try? LocalFileSystem().names(in: path)) ?? [] where !name.hasSuffix("-shm") {
            copy.write(name, read(name))
        }
        return copy
    }

    func read(_ name: String) -> [UInt8] { TestFile.bytes(of: path + "/" + name) ?? [] }

    func remove(_ name: String) { unlink(path + "/" + name) }

    func write(_ name: String, _ bytes: [UInt8]) {
        guard let file = fopen(path + "/" + name, "wb") else { fatalError("can't write \(name)") }
        defer { fclose(file) }
        fwrite(bytes, 1, bytes.count, file)
    }
}

/// A store with a clock and randomness that the test owns.
final class TestStore {
    final class World {
        var now: Int64 = 1_700_000_000_000
        /// The clock that only goes forward.
        var monotonic: UInt64 = 0
        var generator: SeededGenerator

        init(seed: UInt64) { generator = SeededGenerator(seed: seed) }
    }

    let directory: TemporaryDirectory
    let world: World
    let options: StoreOptions
    let vfs: String?
    let node: NodeID
    private(set) var store: Store!
    private(set) var reader: StoreReader!

    static let name = try! DatabaseName("things")

    init(
        seed: UInt64 = 1, directory: TemporaryDirectory = TemporaryDirectory(), options: StoreOptions = StoreOptions(),
        vfs: String? = nil
    ) throws {
        self.directory = directory
        self.options = options
        self.vfs = vfs
        world = World(seed: seed)
        node = NodeID(bytes: (0..<32).map { UInt8(truncatingIfNeeded: UInt64($0) &* 7 &+ seed) })!
        store = try Self.open(directory, world, options, vfs)
        reader = try store.makeReader()
    }

    static func open(
        _ directory: TemporaryDirectory, _ world: World, _ options: StoreOptions, _ vfs: String? = nil
    ) throws -> Store {
        try Store(
            DatabaseFile(name, in: directory.path, on: LocalFileSystem(layer: vfs)),
            environment: StoreEnvironment(
                now: { world.now }, random: { world.generator.next() }, monotonic: { world.monotonic }),
            options: options)
    }

    /// Closes, as a process that ends does.
    func close() {
        reader = nil
        store = nil
    }

    /// Closes and opens again.
    func reopen() throws {
        close()
        store = try Self.open(directory, world, options, vfs)
        reader = try store.makeReader()
    }

    @discardableResult
    func put(_ id: String, _ json: String, if precondition: Precondition = .any) throws -> Written {
        let id = try DocumentID(id)
        let body = try Self.canonical(json)
        return try store.write { (transaction) throws(StoreError) in try transaction.put(id, body, if: precondition) }
    }

    @discardableResult
    func delete(_ id: String, if revision: RevisionID? = nil) throws -> Written {
        let id = try DocumentID(id)
        return try store.write { (transaction) throws(StoreError) in try transaction.delete(id, if: revision) }
    }

    func purge(_ id: String) throws {
        let id = try DocumentID(id)
        try store.write { (transaction) throws(StoreError) in try transaction.purge(id) }
    }

    func get(_ id: String, revision: RevisionID? = nil) throws -> StoredDocument? {
        try reader.get(DocumentID(id), revision: revision)
    }

    /// The body of the winner; nil when there is none.
    func body(_ id: String) throws -> String? {
        guard let document = try get(id), !document.isDeleted else { return nil }
        return String(decoding: document.body, as: UTF8.self)
    }

    @discardableResult
    func apply(
        _ source: NodeID, _ deliveries: [Delivery], _ checkpoint: Position? = nil, givesWay: Bool = false,
        matching filter: DocumentFilter? = nil, leaving: [Change] = []
    ) throws -> ReceivedOutcome {
        let batch = ReceivedBatch(
            source: source, deliveries: deliveries, checkpoint: checkpoint, givesWay: givesWay, filter: filter,
            leaving: leaving)
        return try store.write { (transaction) throws(StoreError) in try transaction.apply(batch) }
    }

    @discardableResult
    func setPolicy(_ name: String, number: UInt64) throws -> Bool {
        try store.write { (transaction) throws(StoreError) in
            try transaction.setPolicy(StoredPolicy(number: number, name: name, statement: []))
        }
    }

    /// Pulls all that is new at the source since the checkpoint, or everything where the timeline is not known, in pages.
    /// - Returns: revisions stored.
    @discardableResult
    func pull(
        _ source: TestStore, limit: Int = 100, maximumBytes: Int = 1 << 20, matching filter: DocumentFilter? = nil
    ) throws -> Int {
        var stored = 0
        let checkpoint = try reader.checkpoint(of: source.node, filter: filter)
        var after = try source.reader.resume(at: checkpoint) ?? 0
        while true {
            let page = try source.reader.changes(after: after, limit: limit, matching: filter)
            var wants = try reader.missing(in: page.changes)
            while !wants.isEmpty {
                let sent = try source.reader.deliveries(for: wants, maximumBytes: maximumBytes)
                stored += try apply(source.node, sent.deliveries, matching: filter).stored
                wants = sent.rest
            }
            let leaving = try reader.held(of: page.changes.filter { !$0.isMatching })
            try apply(source.node, [], page.through, matching: filter, leaving: leaving)
            after = page.through.sequence
            if page.isCaughtUp { return stored }
        }
    }

    /// Checks what must hold at any time: the running numbers equal those counted from scratch.
    func check(_ location: SourceLocation = #_sourceLocation) throws {
        let summary = try reader.summary()
        #expect(summary == store.summary, sourceLocation: location)
        var digest = Digest256.zero
        var counted: (documents: UInt64, deleted: UInt64, conflicts: UInt64) = (0, 0, 0)
        let makesDigests = DocumentDigest()
        for entry in try reader.feed(after: 0, limit: .max) {
            let document = try #require(try reader.load(entry.document))
            if let part = makesDigests.digest(of: entry.document, document.tree) { digest += part }
            counted.documents += 1
            if document.live.isEmpty { counted.deleted += 1 }
            if document.live.count > 1 { counted.conflicts += 1 }
            let stored = try #require(try reader.get(entry.document))
            #expect(stored.isDeleted == document.live.isEmpty, sourceLocation: location)
            #expect(
                document.tree.live.count == document.live.count, "a live leaf has no body", sourceLocation: location)
            #expect(stored.revision == document.shownRevision, sourceLocation: location)
            #expect(stored.conflicts.count == max(0, document.live.count - 1), sourceLocation: location)
        }
        #expect(digest == summary.digest, sourceLocation: location)
        #expect(counted == (summary.documents, summary.deleted, summary.conflicts), sourceLocation: location)
        let ranges = try reader.rangeDigests()
        #expect(ranges.ranges.reduce(into: Digest256.zero) { $0 += $1.digest } == digest, sourceLocation: location)
    }

    static func canonical(_ json: String) throws -> [UInt8] {
        try CanonicalJSON.object(from: Array(json.utf8))
    }
}

/// The code of the store error that something throws.
func failure(_ body: () throws -> Void) -> StoreError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? StoreError)?.code
    }
}
