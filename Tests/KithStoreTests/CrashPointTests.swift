import KithCrashPoints
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
    @Test("A power cut at any change loses nothing acknowledged", arguments: CrashWork.allCases, Survival.allCases)
    func anywhere(_ work: CrashWork, _ survival: Survival) throws {
        let report = try CrashPoints.run(work, survival, Self.isLong ? .every(1) : .every(32))
        for failure in report.failures { Issue.record("\(failure)") }
    }

    /// Whether every change of every recovery is tried, as `kith-sim --crash-points` does in a release build.
    private static let isLong = getenv("KITH_LONG_TESTS") != nil

    @Test func aDiskThatOnlySaysThatItSynchronisesIsFoundOut() throws {
        let report = try CrashPoints.run(.writing, .nothing, .none) {
            $0.operation == .synchronize ? .pretended : .done
        }
        #expect(!report.failures.isEmpty)
    }

    /// Linux takes pages that it could not write for written, so that the next process reads what is not on disk and
    /// writes behind it.
    @Test func whatIsWrittenBehindAFailedSynchronisationOutlivesAPowerCut() throws {
        let disk = VirtualDisk()
        defer { disk.discard() }
        var numbers = SeededGenerator(seed: 7)
        func open(_ process: DiskProcess) throws -> Store {
            try Store(
                DatabaseFile(try DatabaseName("notes"), in: disk.directory, on: process),
                environment: StoreEnvironment(now: { 1_700_000_000_000 }, random: { numbers.next() }))
        }
        func put(_ id: String, _ store: Store) throws {
            _ = try store.write { (transaction) throws(StoreError) in
                try transaction.put(DocumentID(unchecked: id), Array(#"{"a":1}"#.utf8))
            }
        }
        let first = disk.start()
        let store = try open(first)
        try put("before", store)
        disk.plan = { $0.operation == .synchronize ? .failed(EIO) : .done }
        #expect(throws: StoreError.self) { try put("failed", store) }
        disk.plan = nil
        first.kill()
        let second = try open(disk.start())
        try put("acknowledged", second)
        var generator = SeededGenerator(seed: 1)
        disk.cutPower(.nothing, &generator)
        let reader = try open(disk.start()).makeReader()
        for id in ["before", "acknowledged"] { #expect(try reader.get(DocumentID(unchecked: id)) != nil, "\(id)") }
    }

    /// SQLite opens what can't be written for reading, and the connection would stay so.
    @Test func aDiskThatCanBeWrittenAgainIsWrittenTo() throws {
        let disk = VirtualDisk()
        defer { disk.discard() }
        var numbers = SeededGenerator(seed: 7)
        let store = try Store(
            DatabaseFile(try DatabaseName("notes"), in: disk.directory, on: disk.start()),
            environment: StoreEnvironment(now: { 1_700_000_000_000 }, random: { numbers.next() }))
        func put(_ id: String) throws {
            _ = try store.write { (transaction) throws(StoreError) in
                try transaction.put(DocumentID(unchecked: id), Array(#"{"a":1}"#.utf8))
            }
        }
        try put("before")
        disk.isReadOnly = true
        #expect(throws: StoreError.self) { try put("refused") }
        // The file is opened anew for this, which writes nothing.
        #expect(throws: StoreError.self) {
            try store.write { (transaction) throws(StoreError) in
                try transaction.delete(DocumentID(unchecked: "missing"))
            }
        }
        disk.isReadOnly = false
        try put("after")
        #expect(try store.ownReader().get(DocumentID(unchecked: "after")) != nil)
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
            disk.powerGoesBefore = change
            let file = DatabaseFile(try DatabaseName("things"), in: disk.directory, on: disk.files)
            try? Store.remove(file, keepingAt: "1")
            let wasReached = disk.changes > change
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
}
