import CSQLite
import KithTestSupport
import KithVirtualDisk
import Testing

/// SQLite on a virtual disk behaves as on a real one: what it promises of each of its modes holds, and what it does not
/// promise is lost.
@Suite struct SQLiteOnDiskTests {
    @Test(
        "What was committed and synchronised outlives a power cut at any change", arguments: Database.Journal.allCases)
    func committedIsDurable(_ journal: Database.Journal) throws {
        for survival in Survival.allCases {
            // That a journal was removed is durable with EXTRA only.
            let found = try crashes(journal, journal == .delete ? "EXTRA" : "FULL", survival)
            #expect(found.damaged == 0 && found.lost == 0, "\(journal) \(survival): \(found)")
            #expect(found.crashes > 10)
        }
    }

    @Test func aLogThatIsNotSynchronisedAtEachCommitLosesCommits() throws {
        let found = try crashes(.wal, "NORMAL", .nothing)
        #expect(found.damaged == 0 && found.lost > 0, "\(found)")
    }

    @Test func aRemovedJournalThatIsNotNamedDurablyTakesItsCommitBack() throws {
        let found = try crashes(.delete, "FULL", .nothing)
        #expect(found.damaged == 0 && found.lost > 0, "\(found)")
    }

    @Test func withoutSynchronisingADatabaseIsDamaged() throws {
        var damaged = 0
        for survival in Survival.allCases { damaged += try crashes(.delete, "OFF", survival).damaged }
        #expect(damaged > 0)
    }

    @Test func aDiskThatIsFullTakesWritesAgainWhenThereIsRoom() throws {
        let disk = VirtualDisk()
        let database = try Database(disk.directory + "/a", .wal, "FULL")
        try database.run("CREATE TABLE t(a)")
        disk.capacity = disk.space.used + 20_000
        let error = #expect(throws: Database.Failure.self) {
            try database.run("INSERT INTO t VALUES (zeroblob(100000))")
        }
        #expect(error?.code == SQLITE_FULL && disk.space.used <= disk.capacity ?? 0)
        disk.capacity = nil
        try database.run("INSERT INTO t VALUES (zeroblob(100000))")
        #expect(try database.number("SELECT count(*) FROM t") == 1)
    }

    @Test("Who waits for another's lock waits for real, where no virtual time is driven")
    func aLockIsWaitedFor() throws {
        let disk = VirtualDisk()
        let path = disk.directory + "/a"
        let (writer, other) = (try Database(path, .wal), try Database(path, .wal))
        try other.run("CREATE TABLE t(a); PRAGMA busy_timeout=200")
        try writer.run("BEGIN IMMEDIATE")
        let watch = Stopwatch()
        let error = #expect(throws: Database.Failure.self) { try other.run("BEGIN IMMEDIATE") }
        #expect(error?.code == SQLITE_BUSY && watch.seconds >= 0.19)
    }

    @Test func whatRotsIsRottenAndWhatWasPutBackIsAsItWas() throws {
        let disk = VirtualDisk()
        let path = disk.directory + "/a"
        var database: Database? = try Database(path, .delete, "FULL")
        try database?.run("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        database = nil
        let backup = disk.copied()
        disk.rot(path, 4_096..<8_192) { $0 = 0x5a }
        #expect((try? Database(path, .delete, "FULL").text("PRAGMA integrity_check")) != "ok")
        disk.restore(backup)
        #expect(try Database(path, .delete, "FULL").number("SELECT sum(a) FROM t") == 1)
        // The two are apart from then on.
        try Database(path, .delete, "FULL").run("INSERT INTO t VALUES (2)")
        #expect(try Database(backup.directory + "/a", .delete, "FULL").number("SELECT count(*) FROM t") == 1)
    }

    @Test func whatADiskOnlyPretendedToWriteIsNotThere() throws {
        let disk = VirtualDisk()
        let path = disk.directory + "/a"
        let database = try Database(path, .wal, "FULL")
        try database.run("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        disk.plan = { $0.operation == .synchronize ? .pretended : .done }
        try database.run("INSERT INTO t VALUES (2)")
        disk.plan = nil
        var generator = SeededGenerator(seed: 3)
        disk.cutPower(.nothing, &generator)
        #expect(try Database(path, .wal, "FULL").number("SELECT sum(a) FROM t") == 1)
    }

    struct Found { var crashes = 0, damaged = 0, lost = 0 }

    /// Cuts the power at every change that twenty transactions make.
    private func crashes(_ journal: Database.Journal, _ synchronous: String, _ survival: Survival) throws -> Found {
        var found = Found()
        var generator = SeededGenerator(seed: 11)
        while true {
            let disk = VirtualDisk()
            let path = disk.directory + "/a"
            defer { disk.discard() }
            let crash = found.crashes * 3
            disk.plan = { $0.change >= crash && $0.operation.isChange ? .powerGoes : .done }
            let acknowledged = work(path, journal, synchronous)
            if acknowledged == 20, disk.changes <= crash { return found }
            found.crashes += 1
            disk.plan = nil
            disk.cutPower(survival, &generator)
            guard acknowledged >= 0 else { continue }
            guard let database = try? Database(path, journal, synchronous),
                (try? database.text("PRAGMA integrity_check")) == "ok"
            else {
                found.damaged += 1
                continue
            }
            guard let last = try? database.number("SELECT coalesce(max(a), 0) FROM t") else {
                // The table is gone that was acknowledged.
                found.lost += 1
                continue
            }
            let count = try database.number("SELECT count(*) FROM t")
            if count != last * 3 { found.damaged += 1 }
            if last < acknowledged { found.lost += 1 }
        }
    }

    /// - Returns: how many transactions were acknowledged; -1 where there was no table.
    private func work(_ path: String, _ journal: Database.Journal, _ synchronous: String) -> Int {
        guard let database = try? Database(path, journal, synchronous),
            (try? database.run("CREATE TABLE t(a INTEGER, b)")) != nil
        else { return -1 }
        for number in 1...20 {
            let rows = "INSERT INTO t VALUES (\(number), zeroblob(3000))"
            guard (try? database.run("BEGIN; \(rows); \(rows); \(rows); COMMIT")) != nil else { return number - 1 }
        }
        return 20
    }
}
