import CSQLite
import KithSystem
import KithTestSupport
import KithVirtualDisk
import Testing

/// The same calls give the same results on a virtual disk and on the file system of this machine.
@Suite struct ConformanceTests {
    private func differences(_ script: FileScript) -> [String] {
        let disk = VirtualDisk()
        defer { disk.discard() }
        let real = TemporaryDirectory()
        // Below the top of both, which is not the script's.
        for (files, top) in [(disk.files as any FileSystem, disk.directory), (LocalFileSystem(), real.path)] {
            try? files.makeDirectory(top + "/top")
        }
        let onDisk = script.run(on: disk.start(), in: disk.directory + "/top")
        let onReal = script.run(on: LocalFileSystem(), in: real.path + "/top")
        return zip(onDisk, onReal).filter { $0 != $1 }.map { "virtual \($0)\n   real \($1)" }
    }

    @Test("Calls drawn from a seed give the same on both", arguments: 1...60)
    func drawn(_ seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let found = differences(.random(400, &generator))
        #expect(found.isEmpty, "seed \(seed), of \(found.count) the first:\n\(found.first ?? "")")
    }

    @Test func theEdgesGiveTheSameOnBoth() {
        let long = String(repeating: "n", count: 256)
        let found = differences(
            FileScript(steps: [
                // Opening.
                .open(0, "a", .read), .open(0, "a", .write), .open(0, "a", .create), .open(1, "a", .createNew),
                .open(1, "b", .createNew), .open(2, "missing/a", .create), .open(2, "a/b", .create),
                .open(2, long, .create), .open(2, "", .read), .read(2, 1, at: 0), .open(2, "", .create),
                // Reading, writing, growing.
                .write(0, 10, at: 0), .read(0, 20, at: 0), .read(0, 5, at: 10), .read(0, 5, at: 100),
                .write(0, 1, at: 100), .read(0, 100, at: 5), .size("a"), .write(0, 0, at: 500), .size("a"),
                .open(3, "a", .read), .write(3, 1, at: 0), .write(3, 0, at: 0), .read(3, 3, at: 0), .synchronize(3),
                // Locks.
                .lock(0), .lock(3), .lock(0), .close(0), .lock(3), .open(0, "a", .write), .lock(0), .close(3), .lock(0),
                // Removed, and replaced, while it is open.
                .remove("a"), .read(0, 3, at: 0), .write(0, 3, at: 0), .read(0, 3, at: 0), .synchronize(0),
                .size("a"), .remove("a"), .open(3, "a", .create), .size("a"), .lock(3), .lock(0), .isSame("a", "b"),
                .write(1, 4, at: 0), .rename("b", "a"), .size("a"), .size("b"), .read(1, 4, at: 0), .rename("b", "a"),
                // Second names.
                .link("a", "b"), .isSame("a", "b"), .link("a", "b"), .link("missing", "c"), .rename("a", "b"),
                .isSame("a", "b"), .list(""), .remove("a"), .size("b"),
                // Directories.
                .makeDirectory("d"), .makeDirectory("d"), .makeDirectory("b"), .makeDirectory("missing/d"),
                .makeDirectory("b/d"), .makeDirectory("d/e"), .list("d"), .list("b"), .list("missing"),
                .remove("d"), .link("d", "f"), .rename("d", "d/e/f"), .rename("d/e", "d"), .rename("b", "d"),
                .rename("d", "b"), .rename("b", "d/b"), .rename("d/b", "d"), .rename("d", "d"), .makeDirectory("g"),
                .rename("g", "d"), .rename("d", "g"), .list("g"), .size("g/b"), .rename("g/e", "missing/e"),
                .rename("g/e", "g/b/e"), .open(2, "g", .write), .open(2, "g", .createNew),
                .synchronizeNames("g"), .synchronizeNames("missing"), .synchronizeNames("g/b"), .list(""),
                .rename("g", long), .rename(long, "g"), .remove(long),
            ]))
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test("SQLite does the same on both", arguments: Database.Journal.allCases)
    func sqlite(_ journal: Database.Journal) throws {
        let disk = VirtualDisk()
        defer { disk.discard() }
        let real = TemporaryDirectory()
        let process = disk.start()
        let onDisk = Self.story(process, disk.directory, journal)
        let onReal = Self.story(LocalFileSystem(layer: "unix"), real.path, journal)
        for (virtual, real) in zip(onDisk, onReal) { #expect(virtual == real) }
        #expect(onDisk.count == onReal.count && onDisk.count > 30)
    }

    /// Two connections that get into each other's way, on tables that grow and shrink.
    private static func story(_ files: any FileSystem, _ directory: String, _ journal: Database.Journal) -> [String] {
        var told: [String] = []
        let path = directory + "/things"
        func tell(_ what: String, _ body: () throws -> String) {
            do { told.append("\(what): \(try body())") } catch {
                told.append("\(what): \((error as? Database.Failure)?.code ?? -1)")
            }
            // The salts of a log, and the nonce of a journal, are each another one. How large the index of a log is made at
            // first is nobody's matter.
            for name in (try? files.list(directory).sorted()) ?? [] {
                let size = files.stamp(of: "\(directory)/\(name)")?.size ?? -1
                told.append("  \(name)" + (name.hasSuffix("-shm") ? "" : " \(size)"))
            }
        }
        var first: Database?
        var second: Database?
        tell("open") {
            first = try Database(path, journal, layer: files.layer)
            second = try Database(path, journal, layer: files.layer)
            return ""
        }
        func run(_ database: Database?, _ text: String) {
            tell("\(database === first ? 1 : 2) \(text)") {
                try database?.run(text)
                return "done"
            }
        }
        run(first, "CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
        run(
            first,
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<200) INSERT INTO t SELECT i, zeroblob(300) FROM n"
        )
        run(second, "BEGIN; SELECT count(*) FROM t")
        run(first, "UPDATE t SET b = zeroblob(500) WHERE a < 50")
        run(second, "DELETE FROM t WHERE a = 7")
        run(second, "COMMIT")
        run(first, "BEGIN IMMEDIATE; DELETE FROM t WHERE a > 100")
        run(second, "INSERT INTO t VALUES (1000, 1)")
        run(first, "ROLLBACK")
        run(second, "INSERT INTO t VALUES (1000, 1)")
        run(first, "PRAGMA wal_checkpoint(TRUNCATE)")
        run(first, "DELETE FROM t WHERE a > 20; VACUUM")
        tell("sum") { try second?.text("SELECT sum(a) || ' ' || count(*) FROM t") ?? "" }
        tell("check") { try second?.text("PRAGMA integrity_check") ?? "" }
        tell("close") {
            second = nil
            return ""
        }
        tell("close") {
            first = nil
            return ""
        }
        tell("content") { "\(try files.open(path, .read).read(1 << 20, at: 0).hashValue)" }
        tell("open") {
            first = try Database(path, journal, layer: files.layer)
            return try first?.text("SELECT sum(a) || ' ' || count(*) FROM t") ?? ""
        }
        return told
    }
}
