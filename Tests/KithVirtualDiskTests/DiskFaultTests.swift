import CSQLite
import KithSystem
import KithTestSupport
import KithVirtualDisk
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What programs see, and what SQLite sees, of each fault of a disk.
@Suite struct DiskFaultTests {
    private let disk = VirtualDisk()
    private var path: String { disk.directory + "/a" }

    private func file(_ size: Int = 0) throws -> any OpenFile {
        let file = try disk.files.open(path, .create)
        if size > 0 { try file.write([UInt8](repeating: 1, count: size), at: 0) }
        try file.synchronize()
        try disk.files.synchronize(directory: disk.directory)
        return file
    }

    private func cut(_ survival: Survival, seed: Int = 1) {
        var generator = SeededGenerator(seed: UInt64(seed))
        disk.cutPower(survival, &generator)
    }

    private func database(_ journal: Database.Journal = .delete) throws -> Database { try Database(path, journal) }

    /// A closed database of some pages with the numbers from 1 to 100.
    private func fill(_ journal: Database.Journal = .delete) throws {
        let numbers = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<100)"
        try database(journal).run("CREATE TABLE t(a, b); \(numbers) INSERT INTO t SELECT i, zeroblob(300) FROM n")
    }

    private func isSound() -> Bool { (try? database().text("PRAGMA integrity_check")) == "ok" }

    @Test("Who looks from outside meets no fault, uses none up, and is not counted")
    func spared() throws {
        let file = try file(8)
        let changes = disk.changes
        var asked = 0
        disk.plan = { _ in
            asked += 1
            return .failed(EIO)
        }
        disk.capacity = 8
        disk.isReadOnly = true
        disk.sparesCalls = true
        try file.write([2, 2], at: 7)
        try disk.files.makeDirectory(disk.directory + "/b")
        disk.sparesCalls = false
        #expect(disk.content(of: path)?.suffix(2) == [2, 2])
        #expect(asked == 0 && disk.changes == changes)
        #expect(throws: SystemError(EIO)) { try file.write([3], at: 0) }
        disk.plan = nil
        #expect(throws: SystemError(EROFS)) { try disk.files.makeDirectory(disk.directory + "/c") }
    }

    // MARK: Power cuts

    @Test("Of what nobody synchronised some writes survive, later ones without earlier ones too")
    func lostAndReordered() throws {
        var left: Set<[UInt8]> = []
        for seed in 1...60 {
            disk.put(path, [0, 0, 0])
            let file = try disk.files.open(path, .write)
            for place in 0..<3 { try file.write([9], at: place) }
            cut(.some, seed: seed)
            left.insert(disk.content(of: path) ?? [])
        }
        #expect(left.count == 8, "\(left)")
    }

    @Test("A write is torn where a sector ends", arguments: [(Survival.torn, 512), (.tornPages, 4_096)])
    func torn(_ survival: Survival, _ sector: Int) throws {
        var lengths: Set<Int> = []
        for seed in 1...100 {
            disk.put(path, [UInt8](repeating: 0, count: 16_384))
            let file = try disk.files.open(path, .write)
            try file.write([UInt8](repeating: 9, count: 12_000), at: 100)
            cut(survival, seed: seed)
            let content = try #require(disk.content(of: path))
            let first = try #require(content.firstIndex(of: 9))
            let end = try #require(content.lastIndex(of: 9)) + 1
            #expect(content[first..<end].allSatisfy { $0 == 9 })
            #expect(first == 100 && end % sector == 0 || first % sector == 0 && end == 12_100, "\(first) \(end)")
            lengths.insert(end - first)
        }
        #expect(lengths.count >= (sector == 512 ? 20 : 4), "\(lengths)")
    }

    @Test func thePowerGoesBeforeTheCallThatIsNamed() throws {
        let file = try file()
        disk.powerGoesBefore = disk.changes + 2
        try file.write([1], at: 0)
        try file.synchronize()
        #expect(throws: SystemError(EIO)) { try file.write([2], at: 0) }
        #expect(throws: SystemError(EIO)) { try disk.files.open(path, .read) }
        cut(.everything)
        #expect(disk.content(of: path) == [1])
        // Once.
        try disk.files.open(path, .write).write([3], at: 0)
    }

    // MARK: Calls that fail

    @Test func aFullDiskTakesWhatFitsAndMoreWhenThereIsRoom() throws {
        let file = try file(10)
        disk.capacity = 15
        #expect(throws: SystemError(ENOSPC)) { try file.write([2, 2, 2, 2, 2, 2, 2, 2], at: 10) }
        #expect(disk.content(of: path)?.count == 15)
        // What is there can be changed.
        try file.write([3], at: 14)
        #expect(disk.files.space(of: disk.directory) == StorageSpace(free: 0, total: 15))
        disk.capacity = nil
        try file.write([2, 2, 2, 2, 2, 2, 2, 2], at: 10)
        #expect(disk.content(of: path)?.count == 18)
    }

    @Test("A call that fails fails with its error", arguments: [DiskCall.Operation.read, .write, .synchronize])
    func failing(_ operation: DiskCall.Operation) throws {
        try fill()
        let database = try database()
        disk.plan = { $0.operation == operation ? .failed(EIO) : .done }
        let error = #expect(throws: Database.Failure.self) { try database.run("UPDATE t SET a = a + 1") }
        #expect(error?.code == SQLITE_IOERR)
        disk.plan = nil
        #expect(try self.database().number("SELECT sum(a) FROM t") == 5_050)
        #expect(isSound())
    }

    @Test func whatWaitedForASynchronisationThatFailedIsNeverDurable() throws {
        let file = try file(3)
        try file.write([7], at: 1)
        disk.plan = { $0.operation == .synchronize ? .failed(EIO) : .done }
        #expect(throws: SystemError(EIO)) { try file.synchronize() }
        disk.plan = nil
        // It can be read, and a later one succeeds.
        #expect(try file.read(3, at: 0) == [1, 7, 1])
        try file.synchronize()
        try file.write([8], at: 2)
        try file.synchronize()
        cut(.everything)
        #expect(disk.content(of: path) == [1, 1, 8])
    }

    @Test func aFileSystemForReadingOnlyTakesNoChange() throws {
        try fill()
        let database = try database()
        let file = try disk.files.open(path, .write)
        disk.isReadOnly = true
        #expect(throws: SystemError(EROFS)) { try file.write([1], at: 0) }
        #expect(throws: SystemError(EROFS)) { try disk.files.open(path, .write) }
        #expect(throws: SystemError(EROFS)) { try disk.files.open(disk.directory + "/b", .create) }
        #expect(throws: SystemError(EROFS)) { try disk.files.remove(path) }
        #expect(throws: SystemError(EROFS)) { try disk.files.makeDirectory(disk.directory + "/d") }
        try file.synchronize()
        #expect(throws: Database.Failure.self) { try database.run("UPDATE t SET a = 0") }
        // Who opens it then can read.
        #expect(try self.database().number("SELECT sum(a) FROM t") == 5_050)
        let error = #expect(throws: Database.Failure.self) { try self.database().run("UPDATE t SET a = 0") }
        #expect(error?.code == SQLITE_READONLY)
        disk.isReadOnly = false
        try self.database().run("UPDATE t SET a = 0")
    }

    // MARK: Silent damage

    @Test func aLostWriteLeavesAPageAsItWas() throws {
        try fill()
        var isLost = false
        disk.plan = { call in
            guard call.operation == .write, call.range.lowerBound == 8_192, call.path.hasSuffix("/a") else {
                return .done
            }
            isLost = true
            return .pretended
        }
        try database().run("UPDATE t SET a = 0")
        disk.plan = nil
        let sum = try database().number("SELECT sum(a) FROM t")
        #expect(isLost && sum > 0 && sum < 5_050)
    }

    @Test func aMisdirectedWriteLandsElsewhere() throws {
        let file = try file(9_000)
        disk.plan = { $0.operation == .write ? .misdirected(to: 4_096) : .done }
        try file.write([5, 6], at: 0)
        disk.plan = nil
        #expect(try file.read(2, at: 0) == [1, 1] && file.read(3, at: 4_096) == [5, 6, 1])
    }

    @Test func aPageOfZerosIsNoPage() throws {
        try fill()
        disk.zero(path, 8_192..<12_288)
        #expect(!isSound())
    }

    @Test func aFlippedBitIsOneBit() throws {
        try fill()
        let before = try #require(disk.content(of: path))
        disk.flip(path, bit: 8_192 * 8 + 3)
        let after = try #require(disk.content(of: path))
        #expect(zip(before, after).filter { $0 != $1 }.count == 1 && after[8_192] == before[8_192] ^ 8)
        #expect(!isSound())
        disk.flip(path, bit: 8_192 * 8 + 3)
        #expect(isSound())
    }

    @Test func aStalePageHasWhatItHad() throws {
        try fill()
        let earlier = disk.copied()
        try database().run("UPDATE t SET a = 0")
        disk.makeStale(path, 8_192..<12_288, from: earlier)
        let sum = try database().number("SELECT sum(a) FROM t")
        #expect(sum > 0 && sum < 5_050)
        #expect(isSound())
    }

    @Test func damageOutlivesAPowerCut() throws {
        let file = try file(3)
        try file.write([7], at: 1)
        disk.rot(path, 0..<2) { $0 = 99 }
        cut(.nothing)
        #expect(disk.content(of: path) == [99, 99, 1])
    }

    // MARK: Logs

    /// A database as a process that was killed leaves it, with three commits in the log.
    private func leaveLog() throws {
        let process = disk.start()
        let database = try Database(path, .wal, layer: process.layer)
        try database.run("CREATE TABLE t(a); PRAGMA wal_checkpoint; INSERT INTO t VALUES (1)")
        try database.run("INSERT INTO t VALUES (2)")
        try database.run("INSERT INTO t VALUES (4)")
        process.kill()
    }

    private func sum() throws -> Int { try database(.wal).number("SELECT coalesce(sum(a), 0) FROM t") }

    @Test func aTruncatedLogHasTheCommitsBeforeItsEnd() throws {
        try leaveLog()
        let size = try #require(disk.content(of: path + "-wal")?.count)
        disk.truncate(path + "-wal", to: size - 1)
        #expect(try sum() == 3)
    }

    @Test func aLogThatIsMissingIsMissed() throws {
        try leaveLog()
        disk.lose(path + "-wal")
        #expect(try sum() == 0)
    }

    @Test func aLogOfAnotherTimeShowsThatTime() throws {
        try leaveLog()
        let earlier = disk.copied()
        try database(.wal).run("INSERT INTO t VALUES (8)")
        #expect(try sum() == 15)
        disk.replace(path, from: earlier)
        disk.replace(path + "-wal", from: earlier)
        #expect(try sum() == 7)
    }

    @Test("The index of a log is made anew, whatever is there", arguments: ["missing", "of another time"])
    func theIndexIsMadeAnew(_ what: String) throws {
        try leaveLog()
        #expect(disk.exists(path + "-shm"))
        if what == "missing" {
            disk.lose(path + "-shm")
        } else {
            disk.put(path + "-shm", [UInt8](repeating: 7, count: 70_000))
        }
        #expect(try sum() == 7)
    }

    // MARK: Time

    @Test func callsTakeTheTimeThatIsSet() throws {
        let file = try file(3)
        #expect(disk.takeElapsed() == 0)
        disk.speed = DiskSpeed(read: 1, write: 10, kibibyte: 2, synchronize: 5_000)
        try file.write([UInt8](repeating: 0, count: 4_096), at: 0)
        _ = try file.read(1, at: 0)
        try file.synchronize()
        #expect(disk.takeElapsed() == 18 + 1 + 5_000)
        #expect(disk.takeElapsed() == 0)
        disk.plan = { $0.operation == .synchronize ? .delayed(microseconds: 3_000_000) : .done }
        try file.write([9], at: 0)
        try file.synchronize()
        #expect(disk.takeElapsed() == 10 + 5_000 + 3_000_000)
        cut(.nothing)
        #expect(disk.content(of: path)?.first == 9)
    }
}
