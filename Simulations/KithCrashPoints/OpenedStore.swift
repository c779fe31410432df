import KithDocument
import KithStore
import KithTestSupport
import KithVirtualDisk

/// An open database on a virtual disk, with a clock that stands and randomness from a seed.
final class OpenedStore {
    private(set) var store: Store!
    private(set) var reader: StoreReader!
    let file: DatabaseFile

    static let name = try! DatabaseName("things")
    static let peer = try! DatabaseName("peer")

    static func file(_ disk: VirtualDisk, _ name: DatabaseName = name) -> DatabaseFile {
        DatabaseFile(name, in: disk.directory, on: disk.files)
    }

    static func environment(seed: UInt64) -> StoreEnvironment {
        let source = Source(SeededGenerator(seed: seed))
        return StoreEnvironment(now: { 1_700_000_000_000 }, random: { source.generator.next() })
    }

    private final class Source {
        var generator: SeededGenerator

        init(_ generator: SeededGenerator) { self.generator = generator }
    }

    static func node(_ seed: UInt64) -> NodeID {
        NodeID(bytes: (0..<32).map { UInt8(truncatingIfNeeded: UInt64($0) &* 7 &+ seed) })!
    }

    init(_ disk: VirtualDisk, _ name: DatabaseName = name, seed: UInt64, migrations: Migrations = .current) throws {
        file = Self.file(disk, name)
        store = try Store(
            file, environment: Self.environment(seed: seed), options: StoreOptions(), migrations: migrations)
        reader = try store.makeReader()
    }

    func close() {
        reader = nil
        store = nil
    }

    func put(_ id: String, _ json: String) throws {
        let (id, body) = (try DocumentID(id), try CanonicalJSON.object(from: Array(json.utf8)))
        _ = try store.write { (transaction) throws(StoreError) in try transaction.put(id, body, if: .any) }
    }

    func delete(_ id: String) throws {
        let id = try DocumentID(id)
        _ = try store.write { (transaction) throws(StoreError) in try transaction.delete(id, if: nil) }
    }

    func purge(_ id: String) throws {
        let id = try DocumentID(id)
        try store.write { (transaction) throws(StoreError) in try transaction.purge(id) }
    }

    func body(_ id: String) throws -> String? {
        guard let document = try reader.get(DocumentID(id), revision: nil), !document.isDeleted else { return nil }
        return String(decoding: document.body, as: UTF8.self)
    }

    /// All that is to outlive a crash, by names: documents, those that are deleted too, what was purged, and how far it has
    /// got with the peer.
    func contents() throws -> [String: String] {
        var contents: [String: String] = [:]
        for change in try reader.changes(after: 0, limit: .max).changes {
            contents[change.document.string] = try body(change.document.string) ?? Self.deleted
        }
        for id in try reader.exclusions() { contents[Self.purged(id.string)] = "" }
        contents[Self.checkpoint] = try reader.checkpoint(of: Self.node(7)).map { "\($0.sequence)" }
        return contents
    }

    static let deleted = "deleted"
    static let checkpoint = "checkpoint"
    static func purged(_ id: String) -> String { "purge of \(id)" }

    /// Takes what another one has, as one batch with the checkpoint.
    func pull(_ source: OpenedStore, as node: NodeID) throws {
        let page = try source.reader.changes(after: 0, limit: 100)
        let wants = try reader.missing(in: page.changes)
        let sent = try source.reader.deliveries(for: wants, maximumBytes: 1 << 20)
        let batch = ReceivedBatch(source: node, deliveries: sent.deliveries, checkpoint: page.through)
        _ = try store.write { (transaction) throws(StoreError) in try transaction.apply(batch) }
    }
}
