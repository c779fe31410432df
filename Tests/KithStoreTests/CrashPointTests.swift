import KithDocument
import KithTestSupport
import KithVirtualDisk
import Testing

@testable import KithStore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The power goes at every change that a piece of work makes on the disk, and once more at every change of the recovery:
/// nothing acknowledged is lost, and the file is sound.
@Suite struct CrashPointTests {
    @Test("A power cut at any change loses nothing acknowledged", arguments: Work.allCases, Survival.allCases)
    func anywhere(_ work: Work, _ survival: Survival) throws {
        let trial = Trial(work, survival)
        let base = try trial.prepare()
        defer { base.discard() }
        var cuts = 0
        while try trial.cut(base, at: cuts) { cuts += 1 }
        #expect(cuts >= work.leastChanges, "\(work) made \(cuts) changes")
    }

    @Test("A power cut while a file is put aside leaves it in one place or the other", arguments: Survival.allCases)
    func whileAFileIsPutAside(_ survival: Survival) throws {
        let letter = Array("a letter that somebody kept here\n".utf8)
        let base = VirtualDisk()
        defer { base.discard() }
        base.put(base.directory + "/things.sqlite3", letter)
        var change = 0
        while true {
            let disk = base.copied()
            defer { disk.discard() }
            disk.plan = { $0.operation.isChange && $0.change >= change ? .powerGoes : .done }
            let file = DatabaseFile(try DatabaseName("things"), in: disk.directory, on: disk.files)
            try? Store.remove(file, keepingAt: "1")
            let wasReached = disk.changes > change
            disk.plan = nil
            var generator = SeededGenerator(seed: UInt64(change))
            disk.cutPower(survival, &generator)
            let places = [file.path, file.path + ".damaged-1"].map { disk.content(of: $0) }
            #expect(places.contains(letter), "\(survival), cut at change \(change)")
            if !wasReached {
                #expect(places == [nil, letter])
                break
            }
            change += 1
        }
        #expect(change >= 5, "it made \(change) changes")
    }

    enum Work: String, CaseIterable {
        case making, opening, writing, deleting, purging, receiving, merging, compacting, migrating, backingUp,
            restoring

        /// Below that the work did not do what it is called.
        var leastChanges: Int {
            switch self {
            case .opening: 3
            default: 5
            }
        }
    }
}

/// One kind of work, done again and again on copies of one disk.
private struct Trial {
    let work: CrashPointTests.Work
    let survival: Survival

    init(_ work: CrashPointTests.Work, _ survival: Survival) {
        self.work = work
        self.survival = survival
    }

    private static let documents = 12
    /// Whether every change of every recovery is tried, and not those of some.
    private let isLong = getenv("KITH_LONG_TESTS") != nil

    /// A disk with a database that was in use when its process ended, and a peer's database beside it.
    func prepare() throws -> VirtualDisk {
        let disk = VirtualDisk()
        guard work != .making else { return disk }
        try Self.fill(disk, "peer", seed: 7, by: "peer")
        let own = try Self.open(disk, seed: 1)
        for number in 0..<Self.documents { try own.put("d\(number)", #"{"by":"own","n":\#(number)}"#) }
        try own.put("shared", #"{"n":1,"x":1}"#)
        if work == .merging {
            // Both edit one document that both know.
            let peer = try Self.open(disk, "peer", seed: 7)
            try peer.pull(own, as: Self.node(1))
            try peer.put("shared", #"{"n":2,"x":1}"#)
            try own.put("shared", #"{"n":1,"x":2}"#)
        }
        if work == .restoring {
            try Backup.write(own.file, to: disk.directory + "/copy")
        }
        // Copied while it is open: as a process that is killed leaves it.
        return disk.copied()
    }

    /// Does the work on a copy of the disk until the power goes at that change, and looks at what is left.
    /// - Returns: whether it came to that change.
    func cut(_ base: VirtualDisk, at change: Int) throws -> Bool {
        let disk = base.copied()
        defer { disk.discard() }
        var ledger = Ledger(work == .making ? [:] : try Self.contents(base))
        disk.plan = { $0.operation.isChange && $0.change >= change ? .powerGoes : .done }
        try? run(disk, &ledger)
        let wasReached = disk.changes > change
        disk.plan = nil
        var generator = SeededGenerator(seed: UInt64(change))
        disk.cutPower(survival, &generator)
        let comment = "\(work) \(survival), cut at change \(change)"
        if isLong || change % 8 == 3 { try recover(disk, ledger, comment) }
        try look(at: disk, ledger, comment)
        return wasReached
    }

    /// Opens copies of what is left with the power going at each change of that too, and then for good.
    private func recover(_ disk: VirtualDisk, _ ledger: Ledger, _ comment: String) throws {
        var change = 0
        while true {
            let copy = disk.copied()
            defer { copy.discard() }
            copy.plan = { $0.operation.isChange && $0.change >= change ? .powerGoes : .done }
            _ = try? Self.open(copy, seed: 3, migrations: migrations)
            let wasReached = copy.changes > change
            copy.plan = nil
            var generator = SeededGenerator(seed: UInt64(change))
            copy.cutPower(survival, &generator)
            try look(at: copy, ledger, "\(comment), and at change \(change) of opening it")
            guard wasReached else { return }
            change += 1
        }
    }

    private func look(at disk: VirtualDisk, _ ledger: Ledger, _ comment: String) throws {
        let store: Opened
        do { store = try Self.open(disk, seed: 4, migrations: migrations) } catch {
            Issue.record("\(comment): it can't be opened: \(error)")
            return
        }
        #expect(store.store.findings.lostLog == nil, "\(comment)")
        var found: [String: String] = [:]
        for entry in try store.reader.feed(after: 0, limit: .max) {
            if let body = try store.body(entry.document.string) { found[entry.document.string] = body }
        }
        let missing = ledger.mistakes(found)
        #expect(missing.isEmpty, "\(comment): \(missing)")
        if let position = ledger.position {
            #expect(try store.reader.resume(at: position) != nil, "\(comment): what was told of is not known")
        }
        // A check knows the present format alone.
        if work != .migrating {
            var findings: [StoreFinding] = []
            _ = try Verification(store.file) { findings.append($0) }.run { _, _ in }
            #expect(findings.isEmpty, "\(comment): \(findings)")
        }
        // It goes on.
        try store.put("afterwards", "{}")
        #expect(try store.body("afterwards") == "{}")
    }

    private var migrations: Migrations { work == .migrating ? Self.steps : .current }

    private static let steps = Migrations(
        oldest: 1,
        steps: [
            Migration { (connection) throws(StoreError) in
                try connection.run("ALTER TABLE documents ADD COLUMN colour TEXT; UPDATE documents SET colour = 'red'")
            }
        ])

    /// Does the work, and keeps account.
    private func run(_ disk: VirtualDisk, _ ledger: inout Ledger) throws {
        if work == .restoring { return try restore(disk, &ledger) }
        var own: Opened? = try Self.open(disk, seed: 2, migrations: migrations)
        let store = own!
        switch work {
        case .making, .writing:
            for number in 0..<4 { try ledger.put(store, "d\(number)", #"{"by":"later","n":\#(number + 100)}"#) }
        case .opening, .migrating: break
        case .deleting: for number in 0..<3 { try ledger.take(store, "d\(number)") { try store.delete($0) } }
        case .purging: for number in 0..<3 { try ledger.take(store, "d\(number)") { try store.purge($0) } }
        case .receiving, .merging:
            let peer = try Self.open(disk, "peer", seed: 7)
            for entry in try peer.reader.feed(after: 0, limit: .max) {
                let id = entry.document.string
                ledger.mayBecome(id, try peer.body(id))
                if id == "shared" { ledger.mayBecome(id, #"{"n":2,"x":2}"#) }
            }
            try store.pull(peer, as: Self.node(7))
            for entry in try peer.reader.feed(after: 0, limit: .max) {
                ledger.has(entry.document.string, try store.body(entry.document.string))
            }
        case .compacting:
            try Compaction.write(store.file)
            try ledger.put(store, "d1", #"{"by":"meanwhile","n":1}"#)
            try store.store.completeCopy()
            let file = store.file
            store.close()
            own = nil
            try Compaction.install(file)
        case .backingUp: try Backup.write(store.file, to: disk.directory + "/copy")
        case .restoring: break
        }
        ledger.position = own.flatMap { try? $0.reader.summary().position }
        own?.close()
    }

    /// Puts the copy in the place of a database that went on: afterwards either is there, as a whole.
    private func restore(_ disk: VirtualDisk, _ ledger: inout Ledger) throws {
        let file = DatabaseFile(Self.name, in: disk.directory, on: disk.files)
        try Restoring.receive(file).write(disk.content(of: disk.directory + "/copy") ?? [])
        let environment = Self.environment(SeededGenerator(seed: 9))
        _ = try Restoring.ready(file, environment: environment)
        _ = try Restoring.install(file, at: "1")
    }

    // MARK: Stores

    private static let name = try! DatabaseName("things")

    private static func node(_ seed: UInt64) -> NodeID {
        NodeID(bytes: (0..<32).map { UInt8(truncatingIfNeeded: UInt64($0) &* 7 &+ seed) })!
    }

    private static func environment(_ generator: SeededGenerator) -> StoreEnvironment {
        let source = Source(generator)
        return StoreEnvironment(now: { 1_700_000_000_000 }, random: { source.generator.next() })
    }

    private final class Source {
        var generator: SeededGenerator

        init(_ generator: SeededGenerator) { self.generator = generator }
    }

    private static func open(
        _ disk: VirtualDisk, _ name: String? = nil, seed: UInt64, migrations: Migrations = .current
    ) throws -> Opened {
        try Opened(
            Store(
                DatabaseFile(name.map { try DatabaseName($0) } ?? Self.name, in: disk.directory, on: disk.files),
                environment: environment(SeededGenerator(seed: seed)), options: StoreOptions(), migrations: migrations))
    }

    private static func fill(_ disk: VirtualDisk, _ name: String, seed: UInt64, by writer: String) throws {
        let store = try open(disk, name, seed: seed)
        for number in 0..<documents { try store.put("p\(number)", #"{"by":"\#(writer)","n":\#(number)}"#) }
        store.close()
    }

    /// What a database on a disk holds, read from a copy.
    private static func contents(_ disk: VirtualDisk) throws -> [String: String] {
        let copy = disk.copied()
        defer { copy.discard() }
        let store = try open(copy, seed: 5)
        defer { store.close() }
        var contents: [String: String] = [:]
        for entry in try store.reader.feed(after: 0, limit: .max) {
            contents[entry.document.string] = try store.body(entry.document.string)
        }
        return contents
    }
}

/// What was acknowledged, and what one piece of work that is under way may have made of it.
private struct Ledger {
    private var acknowledged: [String: String]
    private var possible: [String: [String?]] = [:]
    /// Where the store stood when a peer may have been told of it.
    var position: Position?

    init(_ contents: [String: String]) { acknowledged = contents }

    mutating func put(_ store: Opened, _ id: String, _ body: String) throws {
        mayBecome(id, body)
        try store.put(id, body)
        has(id, body)
        position = try store.reader.summary().position
    }

    mutating func take(_ store: Opened, _ id: String, _ body: (String) throws -> Void) throws {
        mayBecome(id, nil)
        try body(id)
        has(id, nil)
    }

    mutating func mayBecome(_ id: String, _ body: String?) { possible[id, default: []].append(body) }

    mutating func has(_ id: String, _ body: String?) {
        possible[id] = nil
        acknowledged[id] = body
    }

    /// The documents that are not what they may be.
    func mistakes(_ found: [String: String]) -> [String] {
        Set(acknowledged.keys).union(possible.keys).union(found.keys).sorted().filter { id in
            guard found[id] != acknowledged[id] else { return false }
            return !(possible[id]?.contains { $0 == found[id] } ?? false) && id != "afterwards"
        }
    }
}

/// An open database.
private final class Opened {
    private(set) var store: Store!
    private(set) var reader: StoreReader!
    let file: DatabaseFile

    init(_ store: Store) throws {
        self.store = store
        file = store.file
        reader = try store.makeReader()
    }

    func close() {
        reader = nil
        store = nil
    }

    func put(_ id: String, _ json: String) throws {
        let (id, body) = (try DocumentID(id), try TestStore.canonical(json))
        _ = try store.write { (transaction) throws(StoreError) in
            try transaction.put(id, body, if: .any)
        }
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

    func pull(_ source: Opened, as node: NodeID) throws {
        let page = try source.reader.changes(after: 0, limit: 100)
        let wants = try reader.missing(in: page.changes)
        let sent = try source.reader.deliveries(for: wants, maximumBytes: 1 << 20)
        let batch = ReceivedBatch(source: node, deliveries: sent.deliveries, checkpoint: page.through)
        _ = try store.write { (transaction) throws(StoreError) in try transaction.apply(batch) }
    }
}
