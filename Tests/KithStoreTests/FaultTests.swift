import CSQLite
import KithDocument
import KithTestSupport
import Testing

@testable import KithStore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a database does on a disk that fails.
@Suite struct FaultTests {
    /// Does random things to a database and keeps account of what was acknowledged.
    private final class Work {
        let test: TestStore
        var generator: SeededGenerator
        private(set) var acknowledged: [String: String] = [:]
        private(set) var failures: [StoreError.Code] = []

        init(_ test: TestStore, seed: UInt64) {
            self.test = test
            generator = SeededGenerator(seed: seed)
        }

        func step() throws {
            let id = "d\(generator.below(30))"
            do {
                if acknowledged[id] != nil, generator.below(6) == 0 {
                    try test.delete(id)
                    acknowledged[id] = nil
                } else {
                    let filling = String(repeating: "x", count: Int(generator.below(9_000)))
                    let body = "{\"n\":\(generator.below(1_000_000)),\"x\":\"\(filling)\"}"
                    try test.put(id, body)
                    acknowledged[id] = body
                }
            } catch let error as StoreError {
                failures.append(error.code)
            }
            if generator.below(20) == 0 { try? test.store.truncateLog() }
        }

        /// What was acknowledged, and nothing else, is in the database.
        func verify(in other: TestStore, _ comment: Comment, _ location: SourceLocation = #_sourceLocation) throws {
            for number in 0..<30 {
                let id = "d\(number)"
                #expect(try other.body(id) == acknowledged[id], "\(comment) \(id)", sourceLocation: location)
            }
            try other.check(location)
        }
    }

    @Test(arguments: 1...20) func aFullDiskAtAnyPointLosesNothingAcknowledgedAndPasses(seed: UInt64) throws {
        let faults = FaultFileSystem()
        let test = try TestStore(seed: seed, vfs: faults.name)
        let work = Work(test, seed: seed)
        for _ in 0..<20 { try work.step() }
        let start = Int(work.generator.below(40))
        faults.fail([.write], start..<start + 30, with: SQLITE_FULL)
        for _ in 0..<40 {
            try work.step()
            // Reading goes on meanwhile.
            _ = try test.reader.feed(after: 0, limit: 100)
        }
        #expect(work.failures.allSatisfy { $0 == .storageFull }, "seed \(seed): \(work.failures)")
        faults.succeed()
        let before = work.failures.count
        for _ in 0..<20 { try work.step() }
        #expect(work.failures.count == before, "seed \(seed): still failing with room again")
        try work.verify(in: test, "seed \(seed)")
        let copy = try TestStore(seed: 99, directory: faults.afterPowerCut(of: test.directory))
        #expect(copy.store.findings.lostLog == nil)
        try work.verify(in: copy, "seed \(seed), after a power cut")
    }

    @Test(arguments: 1...12) func aDiskThatFailsForAWhileLosesNothingAcknowledged(seed: UInt64) throws {
        let faults = FaultFileSystem()
        let test = try TestStore(seed: seed, vfs: faults.name)
        let work = Work(test, seed: seed)
        for _ in 0..<20 { try work.step() }
        let kinds: [(Set<FaultFileSystem.Operation>, Int32)] = [
            ([.sync], SQLITE_IOERR | 4 << 8), ([.write], SQLITE_IOERR | 3 << 8), ([.read], SQLITE_IOERR | 1 << 8),
            ([.truncate, .sync, .write], SQLITE_IOERR | 6 << 8),
        ]
        let (operations, code) = kinds[Int(seed) % kinds.count]
        let start = Int(work.generator.below(10))
        faults.fail(operations, start..<start + 12, with: code)
        for _ in 0..<40 { try work.step() }
        #expect(work.failures.allSatisfy { $0 == .inputOutput }, "seed \(seed): \(work.failures)")
        #expect(!work.failures.isEmpty || operations == [.read], "seed \(seed): the fault came too late")
        faults.succeed()
        let before = work.failures.count
        for _ in 0..<20 { try work.step() }
        #expect(work.failures.count == before, "seed \(seed): still failing: \(work.failures.suffix(3))")
        let again = try TestStore(seed: 99, directory: faults.afterPowerCut(of: test.directory))
        try work.verify(in: again, "seed \(seed), after a power cut")
    }

    @Test func afterAFailedSynchronisationTheFileIsOpenedAnewAndNothingIsClaimedThatIsNotOnDisk() throws {
        let faults = FaultFileSystem()
        let test = try TestStore(vfs: faults.name)
        try test.put("a", #"{"n":1}"#)
        let timeline = test.store.summary.position.timeline
        faults.fail([.sync], 0..<1, with: SQLITE_IOERR | 4 << 8)
        #expect(failure { try test.put("lost", #"{"n":2}"#) } == .inputOutput)
        #expect(test.store.summary.documents == 1)
        try test.put("b", #"{"n":3}"#)
        // A new opening, with a timeline of its own.
        #expect(test.store.summary.position.timeline != timeline)
        let copy = try TestStore(seed: 9, directory: faults.afterPowerCut(of: test.directory))
        #expect(try copy.body("a") == #"{"n":1}"#)
        #expect(try copy.body("b") == #"{"n":3}"#)
        #expect(try copy.body("lost") == nil)
        try copy.check()
    }

    @Test func aLogThatCanNotBeCopiedIsToldAndCommitsGoOn() throws {
        let faults = FaultFileSystem()
        let test = try TestStore(vfs: faults.name)
        let filling = String(repeating: "x", count: 1 << 20)
        // The disk takes the log and not the file: only the size of the file is asked about by truncating and extending.
        for number in 0..<12 { try test.put("d\(number)", "{\"x\":\"\(filling)\"}") }
        #expect(test.store.logFailure == nil)
        let path = test.store.file.path
        faults.refuse(path)
        for number in 12..<20 { try test.put("d\(number)", "{\"x\":\"\(filling)\"}") }
        #expect(test.store.logFailure?.code == .storageFull)
        faults.refuse(nil)
        try test.put("last", "{}")
        #expect(test.store.logFailure == nil)
        try test.check()
    }

    @Test(arguments: 1...10) func aPowerCutAtAnyWriteKeepsWhatWasAcknowledged(seed: UInt64) throws {
        let faults = FaultFileSystem()
        let test = try TestStore(seed: seed, vfs: faults.name)
        let work = Work(test, seed: seed)
        for _ in 0..<10 { try work.step() }
        faults.fail([.write, .sync, .truncate], 0..<0, with: SQLITE_OK)
        var cuts: [(TemporaryDirectory, acknowledged: [String: String])] = []
        let every = Int(work.generator.within(5...17))
        faults.before = { [unowned work] in
            if faults.calls % every == 0, cuts.count < 12 {
                cuts.append((faults.afterPowerCut(of: test.directory), work.acknowledged))
            }
        }
        for _ in 0..<30 { try work.step() }
        #expect(cuts.count > 3)
        for (directory, acknowledged) in cuts {
            let copy = try TestStore(seed: 99, directory: directory)
            #expect(copy.store.findings.lostLog == nil, "seed \(seed)")
            // The write under way may be there or not; all others are as they were acknowledged.
            var others = 0
            for number in 0..<30 where try copy.body("d\(number)") != acknowledged["d\(number)"] { others += 1 }
            #expect(others <= 1, "seed \(seed): \(others) documents are not as acknowledged")
            try copy.check()
        }
    }

    @Test func aPowerCutInTheMiddleOfAPullLeavesTheCheckpointBehindWhatIsStored() throws {
        let source = try TestStore(seed: 21)
        for number in 0..<60 { try source.put("d\(number)", "{\"n\":\(number)}") }
        let changes = try source.reader.changes(after: 0, limit: 100).changes
        let faults = FaultFileSystem()
        let puller = try TestStore(seed: 22, vfs: faults.name)
        faults.fail([.write, .sync, .truncate], 0..<0, with: SQLITE_OK)
        var cuts: [TemporaryDirectory] = []
        faults.before = { cuts.append(faults.afterPowerCut(of: puller.directory)) }
        try puller.pull(source, limit: 5)
        #expect(cuts.count > 24, "\(cuts.count) calls for twelve batches")
        var seen: Set<UInt64> = []
        for directory in cuts {
            let copy = try TestStore(seed: 23, directory: directory)
            let reached = try copy.reader.checkpoint(of: source.node)?.sequence ?? 0
            seen.insert(reached)
            for change in changes where change.sequence <= reached {
                #expect(try copy.reader.get(change.document) != nil, "\(change.document) before \(reached) is missing")
            }
            // At most the batch under way comes again.
            let stored = try copy.pull(source, limit: 5)
            #expect(stored <= 60 - Int(reached))
            #expect(copy.store.summary.digest == source.store.summary.digest)
        }
        #expect(seen.count > 10, "every border of a batch was met: \(seen.sorted())")
    }

    @Test func aFileThatCanNotBeWrittenIsToldAndLeftAsItWas() throws {
        let faults = FaultFileSystem()
        let test = try TestStore(vfs: faults.name)
        try test.put("a", #"{"n":1}"#)
        faults.fail([.write], 0..<100, with: SQLITE_READONLY)
        #expect(failure { try test.put("a", #"{"n":2}"#) } == .readOnly)
        #expect(try test.body("a") == #"{"n":1}"#)
        faults.succeed()
        try test.put("a", #"{"n":2}"#)
        try test.check()
    }

    @Test func aProbeWritesToTheDiskAndChangesNothing() throws {
        let faults = FaultFileSystem()
        let test = try TestStore(vfs: faults.name)
        try test.put("a", #"{"n":1}"#)
        let before = test.store.summary
        for _ in 0..<3 {
            faults.fail([.sync], 0..<0, with: SQLITE_OK)
            try test.store.probe()
            #expect(faults.calls > 0, "nothing was synchronised")
        }
        faults.fail([.write], 0..<100, with: SQLITE_FULL)
        #expect(failure { try test.store.probe() } == .storageFull)
        #expect(test.store.summary == before)
    }
}
