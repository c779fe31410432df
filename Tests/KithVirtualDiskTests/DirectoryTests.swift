import KithSystem
import KithTestSupport
import KithVirtualDisk
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A disk has directories, and names are durable by directory.
@Suite struct DirectoryTests {
    private let disk = VirtualDisk()
    private var top: String { disk.directory }

    private func make(_ paths: String...) throws {
        for path in paths { try disk.files.makeDirectory("\(top)/\(path)") }
    }

    private func write(_ path: String, _ text: String = "x") throws {
        let file = try disk.files.open("\(top)/\(path)", .create)
        try file.write(Array(text.utf8), at: 0)
        try file.synchronize()
    }

    private func cut(_ survival: Survival = .nothing) {
        var generator = SeededGenerator(seed: 1)
        disk.cutPower(survival, &generator)
    }

    @Test func aDirectoryListsItsOwnNamesAlone() throws {
        try make("a", "a/b", "c")
        try write("a/one")
        try write("a/b/two")
        #expect(disk.list() == ["a", "c"])
        #expect(try disk.files.list("\(top)/a").sorted() == ["b", "one"])
        #expect(try disk.files.list("\(top)/a/b") == ["two"])
        #expect(try disk.files.list("\(top)/c") == [])
        #expect(throws: SystemError(ENOENT)) { try disk.files.list("\(top)/d") }
        #expect(throws: SystemError(ENOTDIR)) { try disk.files.list("\(top)/a/one") }
    }

    @Test func aNameIsDurableOnceItsDirectoryWasSynchronised() throws {
        try make("a", "b")
        try disk.files.synchronize(directory: top)
        try write("a/one")
        try write("b/two")
        try disk.files.synchronize(directory: "\(top)/a")
        cut()
        #expect(disk.exists("\(top)/a/one") && !disk.exists("\(top)/b/two") && disk.exists("\(top)/b"))
    }

    @Test func aDirectoryThatIsNotDurableTakesAllInItAlong() throws {
        try make("a")
        try write("a/one")
        try disk.files.synchronize(directory: "\(top)/a")
        cut()
        #expect(disk.list() == [])
    }

    @Test("A file that is moved to another directory is in one of them at least", arguments: ["from", "to", "neither"])
    func aMovedFileIsSomewhere(_ synchronized: String) throws {
        for seed in 1...20 {
            let disk = VirtualDisk()
            defer { disk.discard() }
            let (from, to) = ("\(disk.directory)/from", "\(disk.directory)/to")
            for directory in [from, to] { try disk.files.makeDirectory(directory) }
            disk.put("\(from)/file", [1])
            try disk.files.synchronize(directory: disk.directory)
            try disk.files.rename("\(from)/file", to: "\(to)/file")
            if synchronized != "neither" {
                try disk.files.synchronize(directory: "\(disk.directory)/\(synchronized)")
            }
            var generator = SeededGenerator(seed: UInt64(seed))
            disk.cutPower(.some, &generator)
            let (isOld, isNew) = (disk.exists("\(from)/file"), disk.exists("\(to)/file"))
            #expect(isOld || isNew)
            if synchronized == "from" { #expect(!isOld && isNew) }
            if synchronized == "to" { #expect(isNew) }
        }
    }

    @Test func aDirectoryMovesWithAllThatIsInIt() throws {
        try make("a", "a/b", "c")
        try write("a/b/one", "hello")
        try disk.files.rename("\(top)/a/b", to: "\(top)/c/d")
        #expect(disk.content(of: "\(top)/c/d/one") == Array("hello".utf8))
        #expect(!disk.exists("\(top)/a/b"))
        #expect(throws: SystemError(EINVAL)) { try disk.files.rename("\(top)/c", to: "\(top)/c/d/c") }
    }

    @Test("SQLite works in any directory", arguments: Database.Journal.allCases)
    func sqliteInADirectory(_ journal: Database.Journal) throws {
        try make("a", "a/b")
        try disk.files.synchronize(directory: top)
        try disk.files.synchronize(directory: "\(top)/a")
        let path = "\(top)/a/b/things"
        var database: Database? = try Database(path, journal, "EXTRA")
        try database?.run("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        try disk.files.synchronize(directory: "\(top)/a/b")
        try database?.run("INSERT INTO t VALUES (2)")
        cut()
        database = nil
        #expect(try Database(path, journal).number("SELECT sum(a) FROM t") == 3)
        #expect(disk.list() == ["a"])
    }

    @Test func aCopyAndWhatIsPutBackHaveAllDirectories() throws {
        try make("a", "a/b")
        try write("a/b/one", "1")
        let copy = disk.copied()
        try disk.files.remove("\(top)/a/b/one")
        #expect(copy.content(of: "\(copy.directory)/a/b/one") == [0x31])
        disk.restore(copy)
        #expect(disk.content(of: "\(top)/a/b/one") == [0x31])
    }
}
