import KithSystem
import KithTestSupport
import KithVirtualDisk
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What becomes of what a process had open when it ends without being asked.
@Suite struct ProcessTests {
    private let disk = VirtualDisk()
    private var top: String { disk.directory }

    @Test func aKilledProcessChangesNothingMore() throws {
        let process = disk.start()
        let file = try process.open("\(top)/a", .create)
        try file.write([1, 2, 3], at: 0)
        process.kill()
        let changes = disk.changes
        #expect(throws: SystemError(EIO)) { try file.write([9], at: 0) }
        #expect(throws: SystemError(EIO)) { try file.read(3, at: 0) }
        #expect(throws: SystemError(EIO)) { try file.synchronize() }
        #expect(throws: SystemError(EIO)) { try file.lock() }
        #expect(throws: SystemError(EIO)) { try process.open("\(top)/b", .create) }
        #expect(throws: SystemError(EIO)) { try process.remove("\(top)/a") }
        #expect(throws: SystemError(EIO)) { try process.rename("\(top)/a", to: "\(top)/c") }
        #expect(throws: SystemError(EIO)) { try process.makeDirectory("\(top)/d") }
        #expect(throws: SystemError(EIO)) { try process.list(top) }
        // What it had written is there, synchronised or not: the machine goes on.
        #expect(disk.content(of: "\(top)/a") == [1, 2, 3])
        #expect(disk.list() == ["a"] && disk.changes == changes)
    }

    @Test func theLocksOfAKilledProcessFall() throws {
        let first = disk.start()
        let held = try first.open("\(top)/a", .create)
        #expect(try held.lock())
        let second = disk.start()
        let other = try second.open("\(top)/a", .create)
        #expect(try !other.lock())
        first.kill()
        #expect(try other.lock())
        withExtendedLifetime(held) {}
    }

    @Test("SQLite's objects of a killed process can be dropped at any time", arguments: Database.Journal.allCases)
    func droppedLater(_ journal: Database.Journal) throws {
        let path = "\(top)/a"
        let first = disk.start()
        var old: Database? = try Database(path, journal, layer: first.layer)
        try old?.run("CREATE TABLE t(a); INSERT INTO t VALUES (1); BEGIN; INSERT INTO t VALUES (2)")
        first.kill()
        let second = disk.start()
        let new = try Database(path, journal, layer: second.layer)
        #expect(try new.number("SELECT sum(a) FROM t") == 1)
        try new.run("INSERT INTO t VALUES (4)")
        #expect(throws: Database.Failure.self) { try old?.run("COMMIT") }
        old = nil
        try new.run("INSERT INTO t VALUES (8)")
        #expect(try new.number("SELECT sum(a) FROM t") == 13)
        #expect(try new.text("PRAGMA integrity_check") == "ok")
        #expect(throws: Database.Failure.self) { try Database(path, journal, layer: first.layer) }
    }

    @Test func allProcessesEndWithThePower() throws {
        let process = disk.start()
        disk.put("\(top)/a", [1])
        let file = try process.open("\(top)/a", .write)
        var generator = SeededGenerator(seed: 1)
        disk.cutPower(.everything, &generator)
        #expect(throws: SystemError(EIO)) { try file.write([2], at: 0) }
        #expect(throws: SystemError(EIO)) { try process.open("\(top)/a", .read) }
        #expect(try disk.start().open("\(top)/a", .read).read(1, at: 0) == [1])
    }
}
