import CSQLite
import KithDocument
import KithSystem
import KithTestSupport
import Testing

@testable import KithStore

/// Files that are not what they should be: each is a clear error or is read, and nothing traps.
@Suite struct DamageTests {
    /// A closed database with a little of everything.
    private func closedDatabase() throws -> TemporaryDirectory {
        let test = try TestStore()
        for number in 0..<60 {
            try test.put("d\(number)", "{\"n\":\(number),\"x\":\"\(String(repeating: "x", count: number * 40))\"}")
        }
        for number in 0..<10 { try test.put("d\(number)", "{\"n\":\(number),\"again\":true}") }
        for number in 10..<15 { try test.delete("d\(number)") }
        try test.purge("d20")
        try test.setPolicy("manual", number: 1)
        test.close()
        return test.directory
    }

    private func opening(_ directory: TemporaryDirectory) -> StoreError? {
        do {
            _ = try TestStore(directory: directory)
            return nil
        } catch { return error as? StoreError }
    }

    private typealias Work = (WriteTransaction) throws(StoreError) -> Written

    // In groups: a synchronisation for each would take the time of all.

    private static func put(_ number: Int) -> Work {
        { (transaction) throws(StoreError) in
            try transaction.put(DocumentID(unchecked: "d\(number)"), Array(#"{"n":2}"#.utf8))
        }
    }

    private static func delete(_ number: Int) -> Work {
        { (transaction) throws(StoreError) in try transaction.delete(DocumentID(unchecked: "d\(number)")) }
    }

    /// Everything that is done with a database; what it throws must be errors of the store.
    private func exercise(_ test: TestStore) throws {
        let every: [() throws -> Void] = [
            { _ = try test.reader.summary() },
            { for number in 0..<60 { _ = try test.get("d\(number)") } },
            { _ = try test.reader.feed(after: 0, limit: 1000) },
            { _ = try test.reader.changes(after: 0, limit: 1000) },
            { _ = try test.reader.conflicts(after: 0, limit: 1000) },
            { _ = try test.reader.documents(after: nil, limit: 1000, maximumBytes: 1 << 20) },
            { _ = try test.reader.rangeDigests() },
            { _ = try test.reader.exclusions() },
            { _ = try test.reader.policy() },
            { for number in 0..<60 { _ = try test.reader.history(DocumentID("d\(number)")) } },
            { try test.put("new", #"{"n":1}"#) },
            { for result in test.store.commit((0..<60).map(Self.put)) { _ = try result.get() } },
            { for result in test.store.commit((0..<60).map(Self.delete)) { _ = try result.get() } },
            { try test.store.write { (transaction) throws(StoreError) in _ = try transaction.maintain() } },
            { try test.store.truncateLog() },
            { _ = try test.reader.checkPages(until: PageCheck()) },
        ]
        for piece in every {
            do { try piece() } catch {
                let error = try #require(error as? StoreError, "\(error)")
                #expect(!error.message.isEmpty && error.message.unicodeScalars.count <= 200)
            }
        }
    }

    @Test func aFlippedByteAnywhereIsAnErrorOrIsRead() throws {
        let directory = try closedDatabase()
        let bytes = directory.read("things.sqlite3")
        var generator = SeededGenerator(seed: 11)
        var refused = 0
        // Every byte of the head once, and places all over.
        let places = Array(0..<100) + (0..<150).map { _ in generator.below(bytes.count) }
        for place in places {
            let copy = TemporaryDirectory()
            var damaged = bytes
            damaged[place] ^= UInt8(generator.within(1...255))
            copy.write("things.sqlite3", damaged)
            do {
                let test = try TestStore(seed: 3, directory: copy)
                try exercise(test)
            } catch let error as StoreError {
                refused += 1
                #expect(
                    [.damaged, .newerFile, .foreignFile, .cannotOpen].contains(error.code), "byte \(place): \(error)")
                #expect(error.message.contains("things"), "byte \(place): \(error)")
            }
        }
        #expect(refused > 5)
    }

    @Test func aPageOfNonsenseIsFoundByTheCheck() throws {
        let directory = try closedDatabase()
        var bytes = directory.read("things.sqlite3")
        let last = bytes.count / 4096 - 1
        for offset in 0..<4096 { bytes[last * 4096 + offset] = UInt8(truncatingIfNeeded: offset &* 7) }
        directory.write("things.sqlite3", bytes)
        let test = try TestStore(directory: directory)
        #expect(failure { _ = try test.reader.checkPages(until: PageCheck()) } == .damaged)
        #expect(test.reader.isBroken || true)
        let check = PageCheck()
        check.cancel()
        #expect(try !test.reader.checkPages(until: check))
    }

    @Test func aSoundFilePassesTheCheck() throws {
        let test = try TestStore(directory: try closedDatabase())
        #expect(try test.reader.checkPages(until: PageCheck()))
        #expect(!test.store.findings.isUnclean)
    }

    @Test func aFileThatWasCutIsRefusedWithItsName() throws {
        let directory = try closedDatabase()
        let bytes = directory.read("things.sqlite3")
        for length in [1, 20, 99, 100, 4095, 4096, 8192, bytes.count / 2, bytes.count - 4096, bytes.count - 1] {
            directory.write("things.sqlite3", Array(bytes[..<length]))
            let error = try #require(opening(directory), "\(length) bytes were taken for a database")
            #expect(error.code == .damaged, "\(length): \(error)")
            #expect(error.message.contains("things.sqlite3"), "\(length): \(error)")
            #expect(directory.read("things.sqlite3") == Array(bytes[..<length]), "\(length): it was changed")
        }
    }

    @Test func anEmptyFileIsNotTakenForANewDatabase() throws {
        let directory = try closedDatabase()
        directory.write("things.sqlite3", [])
        let error = try #require(opening(directory))
        #expect(error.code == .damaged && error.message.contains("is empty"), "\(error)")
        #expect(directory.read("things.sqlite3").isEmpty)
    }

    @Test func aFileThatIsNoDatabaseIsRefusedAndLeftAsItIs() throws {
        let directory = TemporaryDirectory()
        for content in [Array("hello\n".utf8), Array(repeating: 0, count: 8192), Array(repeating: 65, count: 8192)] {
            directory.write("things.sqlite3", content)
            let error = try #require(opening(directory))
            #expect([.damaged, .foreignFile].contains(error.code), "\(error)")
            #expect(error.message.contains("things.sqlite3"), "\(error)")
            #expect(directory.read("things.sqlite3") == content)
        }
    }

    @Test func aDatabaseThatIsMadeIsThereWholeOrNotAtAll() throws {
        let faults = FaultFileSystem()
        for number in 0..<40 {
            let directory = TemporaryDirectory()
            faults.fail([.write, .sync], number..<number + 1, with: SQLITE_FULL)
            let error = failure { _ = try TestStore(directory: directory, vfs: faults.name) }
            let names = directory.names()
            #expect(!names.contains { $0.contains(".new") }, "\(names)")
            if error != nil, !names.contains("things.sqlite3") { #expect(names.allSatisfy { $0 == "things.lock" }) }
            faults.succeed()
            let test = try TestStore(directory: directory, vfs: faults.name)
            try test.put("a", "{}")
        }
    }

    // MARK: The log

    /// A database whose process was killed: its file and its log, and what was acknowledged.
    private func killedDatabase() throws -> TemporaryDirectory {
        let test = try TestStore()
        for number in 0..<20 { try test.put("d\(number)", "{\"n\":\(number)}") }
        try test.store.truncateLog()
        for number in 0..<20 { try test.put("d\(number)", "{\"n\":\(number + 100)}") }
        return test.directory.copy()
    }

    private static let log = "things.sqlite3-wal"

    @Test func theLogOfAKilledProcessIsTaken() throws {
        let test = try TestStore(directory: try killedDatabase())
        #expect(test.store.findings == OpeningFindings(isUnclean: true, lostLog: nil))
        #expect(try test.body("d19") == #"{"n":119}"#)
    }

    @Test func aLogThatWasRemovedEmptiedCutOrSpoiltIsToldAndTheRestIsRead() throws {
        let spoil: [(String, (TemporaryDirectory, [UInt8]) -> Void)] = [
            ("is missing", { directory, _ in directory.remove(Self.log) }),
            ("was emptied", { directory, _ in directory.write(Self.log, []) }),
            ("is damaged", { directory, _ in directory.write(Self.log, Array("nothing".utf8)) }),
            (
                "pages that count",
                { directory, bytes in directory.write(Self.log, Array(bytes[..<(bytes.count / 2)])) }
            ),
            (
                "pages that count",
                { directory, bytes in
                    var bytes = bytes
                    bytes[bytes.count / 2] ^= 1
                    directory.write(Self.log, bytes)
                }
            ),
        ]
        for (words, change) in spoil {
            let directory = try killedDatabase()
            change(directory, directory.read(Self.log))
            let test = try TestStore(seed: 4, directory: directory)
            let lost = try #require(test.store.findings.lostLog, "\(words): nothing was noticed")
            #expect(lost.contains(words), "\(lost)")
            try test.check()
            try test.put("new", "{}")
            test.close()
            let again = try TestStore(seed: 5, directory: directory)
            #expect(again.store.findings.lostLog == nil, "it is told once")
        }
    }

    @Test func theLogOfAnotherFileIsRefusedAndNothingIsWrittenIntoTheFile() throws {
        let directory = try killedDatabase()
        let other = try TestStore(seed: 8)
        for number in 0..<40 { try other.put("e\(number)", "{}") }
        let foreign = other.directory.copy()
        let (file, own) = (directory.read("things.sqlite3"), directory.read(Self.log))
        directory.write(Self.log, foreign.read(Self.log))
        let error = try #require(opening(directory))
        #expect(error.code == .damaged && error.message.contains("is not the log of that file"), "\(error)")
        #expect(directory.read("things.sqlite3") == file)
        #expect(directory.read(Self.log) == foreign.read(Self.log))
        // Its own is put back.
        directory.write(Self.log, own)
        let test = try TestStore(seed: 4, directory: directory)
        #expect(try test.body("d19") == #"{"n":119}"#)
        try test.check()
    }

    @Test func aLogBesideAClosedDatabaseIsRefused() throws {
        let directory = try closedDatabase()
        directory.write(Self.log, try killedDatabase().read(Self.log))
        let error = try #require(opening(directory))
        #expect(error.message.contains("is not the log of that file"), "\(error)")
        directory.remove("things.lock")
        // Whoever put both there says so by removing what was noted of them.
        _ = opening(directory)
    }

    @Test func aLogWithoutItsFileIsRefused() throws {
        let directory = try killedDatabase()
        directory.remove("things.sqlite3")
        #expect(try Store.names(in: directory.path) == [TestStore.name])
        let error = try #require(opening(directory))
        #expect(error.code == .damaged && error.message.contains("is gone"), "\(error)")
        #expect(!directory.read(Self.log).isEmpty)
    }

    @Test func claimsOfTheLogAreReadAsTheyWereWritten() {
        for claim in [LogClaim.none, .empty, .closed, .log(salts: 0xFEDC_BA98_7654_3210, pages: 17)] {
            #expect(LogClaim(claim.text) == claim)
        }
        for text in ["", "log", "log x 1", "log 1", "log 1 2 3", "what"] { #expect(LogClaim(text) == .none) }
        let claim = LogClaim.log(salts: 7 << 32 | 1, pages: 5)
        #expect(claim.judge(.pages(salts: 7 << 32 | 1, count: 5)) == .fine)
        #expect(claim.judge(.pages(salts: 8 << 32 | 99, count: 0)) == .fine, "begun anew since")
        #expect(claim.judge(.pages(salts: 6 << 32 | 99, count: 9)) == .foreign, "an older one")
        #expect(LogClaim.closed.judge(.absent) == .fine)
        #expect(LogClaim.empty.judge(.absent) == .fine)
    }

    // MARK: The place

    @Test func aFileThatWasTakenAwayIsNotWrittenToAnyMore() throws {
        for name in ["things.sqlite3", Self.log] {
            let test = try TestStore()
            try test.put("a", #"{"n":1}"#)
            let bytes = test.directory.read(name)
            test.directory.remove(name)
            #expect(failure { try test.put("a", #"{"n":2}"#) } == .moved)
            #expect(failure { try test.store.probe() } == .moved)
            // Another file in its place is none of ours.
            test.directory.write(name, bytes)
            #expect(failure { try test.put("a", #"{"n":2}"#) } == .moved)
            #expect(try test.body("a") == #"{"n":1}"#)
        }
    }

    // MARK: Where it lies

    @Test func networkFileSystemsAreKnownByTheirNumbersAndTheirMounts() {
        func name(_ magic: UInt, _ type: String? = nil) -> String? { NetworkFileSystem.name(magic: magic) { type } }
        #expect(name(0x6969) == "NFS")
        #expect(name(0xFE53_4D42) == "SMB2")
        #expect(name(0x0102_1997) == "9p")
        #expect(name(0xEF53) == nil, "ext4")
        #expect(name(0x0102_1994) == nil, "tmpfs")
        #expect(name(0x6573_5546, "fuse.sshfs") == "fuse.sshfs")
        #expect(name(0x6573_5546, "fuseblk") == nil, "a local disk by FUSE")
        #expect(name(0x6573_5546) == nil)
        let mounts = """
            22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
            55 22 0:47 / /mnt/far rw,nosuid shared:30 - fuse.sshfs host:/home rw,user_id=0
            """
        #expect(NetworkFileSystem.type(ofDevice: "0:47", in: mounts) == "fuse.sshfs")
        #expect(NetworkFileSystem.type(ofDevice: "254:0", in: mounts) == "ext4")
        #expect(NetworkFileSystem.type(ofDevice: "0:48", in: mounts) == nil)
    }
}
