import KithDocument
import KithSystem
import KithTestSupport
import KithVirtualDisk
import Testing

@testable import KithStore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Copies of databases, and databases from copies.
struct BackupTests {
    /// Puts a copy in the place of a database.
    private func restore(_ store: TestStore, from path: String) throws {
        store.close()
        let part = Restoring.prepare(store.file)
        store.directory.write(String(part.split(separator: "/").last!), TestFile.bytes(of: path) ?? [])
        _ = try Restoring.ready(store.file, environment: store.environment)
        _ = try Restoring.install(store.file, at: "1")
        try store.reopen()
    }

    @Test func aCopyHasAllThatIsThereAndOnlyItsOwnerReadsIt() throws {
        let store = try TestStore()
        try store.fill()
        let path = store.directory.path + "/copy"
        try Backup.write(store.file, to: path)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try Backup.check(path) == store.store.summary)
        #expect(!store.directory.names().contains { $0.hasPrefix("copy-") })
    }

    @Test func aCopyThatIsGivenUpLeavesNoFile() throws {
        let store = try TestStore()
        try store.fill()
        let path = store.directory.path + "/copy"
        #expect(failure { try Backup.write(store.file, to: path, isCancelled: { true }) } == .cancelled)
        #expect(!store.directory.names().contains { $0.hasPrefix("copy") })
    }

    @Test func aDiskThatIsTooSmallForACopyKeepsTheOneBefore() throws {
        let disk = VirtualDisk()
        defer { disk.discard() }
        let file = DatabaseFile(try DatabaseName("notes"), in: disk.directory, on: disk.files)
        let environment = StoreEnvironment(now: { 1_000 }, random: { 7 })
        var store: Store? = try Store(file, environment: environment)
        let body = Array(#"{"text":"\#(String(repeating: "x", count: 3_000))"}"#.utf8)
        for number in 0..<100 {
            try store?.write { transaction throws(StoreError) in
                _ = try transaction.put(DocumentID(unchecked: "d\(number)"), body)
            }
        }
        let path = disk.directory + "/copy"
        try Backup.replace(path, with: file, number: 1)
        let before = try Backup.check(path, on: disk.files)
        let names = try disk.files.list(disk.directory).sorted()
        disk.capacity = try disk.files.list(disk.directory).reduce(100_000) {
            $0 + Int(disk.files.stamp(of: "\(disk.directory)/\($1)")?.size ?? 0)
        }
        #expect(failure { try Backup.replace(path, with: file, number: 2) } == .storageFull)
        disk.capacity = nil
        #expect(try disk.files.list(disk.directory).sorted() == names)
        #expect(try Backup.check(path, on: disk.files) == before)
        store = nil
    }

    @Test func whatIsNoWholeCopyIsRefused() throws {
        let store = try TestStore()
        try store.fill()
        let path = store.directory.path + "/copy"
        try Backup.write(store.file, to: path)
        let whole = TestFile.bytes(of: path) ?? []
        store.directory.write("copy", Array(whole[..<(whole.count / 2)]))
        #expect(failure { _ = try Backup.check(path) } == .damaged)
        store.directory.write(
            "copy", Array("no database at all, and longer than a header of one would have to be".utf8))
        #expect(failure { _ = try Backup.check(path) } == .damaged)
        store.directory.write("copy", [])
        #expect(failure { _ = try Backup.check(path) } == .damaged)
        var newer = whole
        newer[63] = 200
        store.directory.write("copy", newer)
        #expect(failure { _ = try Backup.check(path) } == .newerFile)
        var foreign = whole
        foreign[68] = 1
        store.directory.write("copy", foreign)
        #expect(failure { _ = try Backup.check(path) } == .foreignFile)
    }

    @Test func aRestoredDatabaseGetsBackWhatItForgot() throws {
        let store = try TestStore(seed: 5)
        let peer = try TestStore(seed: 6)
        try store.fill(200)
        try peer.setPolicy("manual", number: 1)
        try peer.pull(store)
        try store.pull(peer)
        let path = store.directory.path + "/copy"
        try Backup.write(store.file, to: path)
        let copied = store.store.summary
        for number in 0..<100 { try store.put("late-\(number)", #"{"n":\#(number)}"#) }
        try peer.pull(store)
        try store.pull(peer)

        try restore(store, from: path)
        #expect(store.store.summary.digest == copied.digest)
        #expect(store.store.summary.position.timeline != copied.position.timeline)
        #expect(store.store.summary.position.sequence == copied.position.sequence + 1)
        #expect(try store.get("late-5") == nil)
        try store.pull(peer)
        #expect(try store.body("late-99") == #"{"n":99}"#)
        #expect(try store.reader.summary().digest == peer.reader.summary().digest)
        // And what is written from now on is new to the peer.
        try store.put("after", "{}")
        try peer.pull(store)
        #expect(try peer.body("after") == "{}")
        #expect(try store.findings() == [])
        #expect(store.directory.names().contains("things.sqlite3.replaced-1"))
    }

    @Test func oneReplacedFileIsKept() throws {
        let store = try TestStore()
        try store.put("a", "{}")
        let path = store.directory.path + "/copy"
        try Backup.write(store.file, to: path)
        for number in 1...3 {
            store.close()
            store.directory.write("things.sqlite3.part", TestFile.bytes(of: path) ?? [])
            _ = try Restoring.ready(store.file, environment: store.environment)
            let kept = try Restoring.install(store.file, at: "\(number)")
            #expect(kept == store.file.path + ".replaced-\(number)")
            try store.reopen()
        }
        #expect(store.directory.names().filter { $0.contains("replaced") } == ["things.sqlite3.replaced-3"])
    }

    @Test func aReplacementThatWasCutOffIsEitherNotBegunOrFinished() throws {
        // The steps of a replacement one after the other, with a crash after each.
        for step in 0...4 {
            let store = try TestStore()
            try store.put("old", "{}")
            let old = store.store.summary.digest
            let path = store.directory.path + "/copy"
            try Backup.write(store.file, to: path)
            try store.put("newer", "{}")
            let newer = store.store.summary.digest
            let crashed = store.directory.copy()
            store.close()
            crashed.write("things.sqlite3.part", TestFile.bytes(of: path) ?? [])
            let base = crashed.path + "/things.sqlite3"
            if step > 0 { #expect(rename(base + ".part", base + ".next.replaced-9") == 0) }
            if step > 1 { #expect(rename(base + "-wal", base + ".replaced-9-wal") == 0) }
            if step > 2 { #expect(link(base, base + ".replaced-9") == 0) }
            if step > 3 { #expect(rename(base + ".next.replaced-9", base) == 0) }
            #expect(try Store.names(in: crashed.path) == [TestStore.name])
            let again = try TestStore(directory: crashed)
            #expect(try again.reader.summary().digest == (step == 0 ? newer : old), "step \(step)")
            #expect(!crashed.names().contains { $0.contains(".part") || $0.contains(".next") }, "\(crashed.names())")
            #expect(try again.findings() == [])
        }
    }

    @Test func aReplacementWhereNoDatabaseWasIsFinished() throws {
        let store = try TestStore()
        try store.put("old", "{}")
        let empty = TemporaryDirectory()
        try Backup.write(store.file, to: empty.path + "/things.sqlite3.next.replaced-9")
        #expect(try Store.names(in: empty.path) == [TestStore.name])
        let made = try TestStore(directory: empty)
        #expect(try made.body("old") == "{}")
    }

    @Test func theLongestNameFitsWithEveryEnding() throws {
        let name = try DatabaseName(String(repeating: "n", count: 238))
        let directory = TemporaryDirectory()
        let file = DatabaseFile(name, in: directory.path)
        let environment = StoreEnvironment(now: { 0 }, random: { UInt64.random(in: 1...UInt64.max) })
        _ = try Store(file, environment: environment).write { (transaction) throws(StoreError) in
            try transaction.putLocal("x", Array("{}".utf8))
        }
        try Backup.write(file, to: Restoring.prepare(file))
        _ = try Restoring.ready(file, environment: environment)
        let kept = try Restoring.install(file, at: "2026-11-30T06-10-00.000Z")
        #expect(kept != nil)
        #expect(try Store(file, environment: environment).makeReader().local("x") != nil)
    }

    @Test func aCopyOfTheLiveFileWithoutItsLogLacksTheLatestAndGetsThemFromAPeer() throws {
        let store = try TestStore(seed: 5)
        try store.fill(100)
        try store.store.truncateLog()
        let peer = try TestStore(seed: 6)
        try peer.setPolicy("manual", number: 1)
        for number in 0..<100 { try store.put("late-\(number)", "{}") }
        try peer.pull(store)
        let copy = TemporaryDirectory()
        copy.write("things.sqlite3", store.directory.read("things.sqlite3"))
        let started = try TestStore(seed: 7, directory: copy)
        // It looks sound, and lacks what the log has: that is why a copy is made by `kith backup`.
        #expect(try started.findings() == [])
        #expect(try started.get("late-99") == nil)
        try started.put("by-the-copy", "{}")
        try started.pull(peer)
        try peer.pull(started)
        #expect(try started.get("late-99") != nil)
        #expect(try started.reader.summary().digest == peer.reader.summary().digest)
    }
}
