import CSQLite
import KithDocument
import KithSystem
import KithTestSupport
import Testing

@testable import KithStore

/// A change of the format, with steps that are the test's own.
@Suite struct MigrationTests {
    private static let toTwo = Migration { (connection) throws(StoreError) in
        try connection.run("ALTER TABLE documents ADD COLUMN colour TEXT; UPDATE documents SET colour = 'red'")
    }
    private static let toThree = Migration { (connection) throws(StoreError) in
        try connection.run("CREATE TABLE marks(id TEXT PRIMARY KEY); INSERT INTO marks SELECT id FROM documents")
    }
    private static let fails = Migration { (connection) throws(StoreError) in
        try connection.run("DELETE FROM documents")
        throw StoreError(.invalid, "step", "the step failed")
    }
    private static let steps = Migrations(oldest: 1, steps: [toTwo, toThree])

    private func oldDatabase() throws -> TemporaryDirectory {
        let test = try TestStore()
        for number in 0..<50 { try test.put("d\(number)", "{\"n\":\(number)}") }
        test.close()
        return test.directory
    }

    private func open(_ directory: TemporaryDirectory, _ migrations: Migrations, vfs: String? = nil) throws -> Store {
        let world = TestStore.World(seed: 5)
        return try Store(
            DatabaseFile(TestStore.name, in: directory.path, on: LocalFileSystem(layer: vfs)),
            environment: StoreEnvironment(now: { world.now }, random: { world.generator.next() }),
            options: StoreOptions(), migrations: migrations)
    }

    private func version(_ directory: TemporaryDirectory, _ name: String = "things.sqlite3") throws -> Int64? {
        try Connection(path: directory.path + "/" + name, subject: "test", access: .write).number("PRAGMA user_version")
    }

    @Test func allStepsAreRunInOrderAndTheOldFileIsKept() throws {
        let directory = try oldDatabase()
        let before = try open(directory, .current).summary
        do {
            let store = try open(directory, Self.steps)
            #expect(store.summary == before)
            let reader = try store.makeReader()
            #expect(try reader.connection.number("SELECT count(*) FROM marks") == 50)
            #expect(try reader.connection.number("SELECT count(*) FROM documents WHERE colour = 'red'") == 50)
        }
        #expect(try version(directory) == 3)
        #expect(try version(directory, "things.sqlite3.before-1") == 1)
        #expect(try Store.names(in: directory.path) == [TestStore.name])
        // Once is enough.
        let copy = directory.read("things.sqlite3.before-1")
        _ = try open(directory, Self.steps)
        #expect(directory.read("things.sqlite3.before-1") == copy)

        // The copy is a database for the program before.
        let back = TemporaryDirectory()
        back.write("things.sqlite3", copy)
        let old = try TestStore(seed: 6, directory: back)
        #expect(old.store.summary == before)
        try old.check()
    }

    @Test func theProgramBeforeRefusesTheNewFileAndLeavesItAsItIs() throws {
        let directory = try oldDatabase()
        _ = try open(directory, Self.steps)
        let bytes = directory.read("things.sqlite3")
        do {
            _ = try open(directory, .current)
            Issue.record("a newer file was opened")
        } catch let error as StoreError {
            #expect(error.code == .newerFile)
            #expect(error.message.contains("things.sqlite3") && error.message.contains("upgrade"), "\(error)")
        }
        #expect(directory.read("things.sqlite3") == bytes)
    }

    @Test func ofTheCopiesTheLatestStays() throws {
        let directory = try oldDatabase()
        _ = try open(directory, Migrations(oldest: 1, steps: [Self.toTwo]))
        #expect(directory.names().contains("things.sqlite3.before-1"))
        _ = try open(directory, Self.steps)
        #expect(!directory.names().contains("things.sqlite3.before-1"))
        #expect(try version(directory, "things.sqlite3.before-2") == 2)
        try Store.remove(DatabaseFile(TestStore.name, in: directory.path))
        #expect(directory.names() == ["things.lock"])
    }

    @Test func aStepThatFailsLeavesTheFileForBothPrograms() throws {
        let directory = try oldDatabase()
        let before = try open(directory, .current).summary
        do {
            _ = try open(directory, Migrations(oldest: 1, steps: [Self.toTwo, Self.fails]))
            Issue.record("a failed step was passed over")
        } catch let error as StoreError {
            #expect(
                error.message.contains("stays in format 1") && error.message.contains("the step failed"), "\(error)")
        }
        #expect(try version(directory) == 1)
        let old = try TestStore(seed: 6, directory: directory)
        #expect(old.store.summary == before)
        try old.check()
        old.close()
        #expect(try open(directory, Self.steps).summary == before)
    }

    @Test(arguments: [SQLITE_FULL, SQLITE_IOERR | 3 << 8]) func aDiskThatFailsInTheMiddleLeavesTheOldFile(
        code: Int32
    ) throws {
        let directory = try oldDatabase()
        let before = try open(directory, .current).summary
        var failed = 0
        for number in 0..<40 {
            let faults = FaultFileSystem()
            let copy = directory.copy()
            // A commit of which only the synchronisation failed may be found done by the next start, as a whole.
            let isDefinite = code == SQLITE_FULL
            faults.fail(isDefinite ? [.write] : [.write, .sync], number..<1000, with: code)
            let error = failure { _ = try open(copy, Self.steps, vfs: faults.name) }
            faults.succeed()
            if error == nil { break }
            failed += 1
            #expect(error == .storageFull || error == .inputOutput, "\(String(describing: error))")
            #expect(!copy.names().contains { $0.hasSuffix(".new") })
            if isDefinite || failure({ _ = try TestStore(seed: 6, directory: copy) }) != .newerFile {
                let old = try TestStore(seed: 6, directory: copy)
                #expect(old.store.summary == before)
                old.close()
            }
            #expect(try open(copy, Self.steps).summary == before)
        }
        #expect(failed > 3)
    }

    @Test func aProcessKilledInTheMiddleLeavesTheOldFile() throws {
        let directory = try oldDatabase()
        let faults = FaultFileSystem()
        faults.fail([.write, .sync], 0..<0, with: SQLITE_OK)
        var states: [TemporaryDirectory] = []
        faults.before = { if states.count < 60 { states.append(directory.copy()) } }
        let before = try open(directory, Self.steps, vfs: faults.name).summary
        #expect(states.count > 5)
        for state in states {
            // A killed process leaves what it has written, synchronised or not.
            let store = try open(state, Self.steps)
            #expect(store.summary == before)
            #expect(try store.makeReader().connection.number("SELECT count(*) FROM marks") == 50)
        }
    }
}
