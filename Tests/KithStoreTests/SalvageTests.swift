import KithDocument
import KithSystem
import KithTestSupport
import Testing

@testable import KithStore

/// Repairs of files that are damaged in one place or another, and what comes back from a peer.
struct SalvageTests {
    @Test func aReplacementThatWasDamagedTakesTheDatabasesPlaceNever() throws {
        let store = try TestStore()
        try store.put("a", #"{"n":1}"#)
        store.close()
        for name in ["things.sqlite3.next", "things.sqlite3.next.replaced-1"] {
            store.directory.write(name, [UInt8](repeating: 7, count: 9_000))
            try store.reopen()
            #expect(try store.body("a") == #"{"n":1}"#)
            #expect(store.directory.names().contains("things.sqlite3.damaged-next"))
            store.close()
        }
    }

    /// A database and another that has the same.
    private func pair(_ count: Int = 1_000) throws -> (TestStore, TestStore) {
        let store = try TestStore(seed: 5)
        try store.fill(count)
        let peer = try TestStore(seed: 6)
        try peer.setPolicy("manual", number: 1)
        try peer.pull(store)
        store.close()
        return (store, peer)
    }

    /// After a repair the peer's feed is taken from its beginning, as the checkpoint is gone.
    private func expectTheSame(_ store: TestStore, _ peer: TestStore) throws {
        #expect(try store.reader.checkpoint(of: peer.node) == nil)
        // As a node does when it opens a database: the policy is the group's.
        try store.setPolicy("manual", number: 1)
        try store.pull(peer)
        #expect(try store.reader.summary().digest == peer.reader.summary().digest)
        try store.check()
        #expect(try store.findings() == [])
    }

    @Test func destroyedLeavesOfTheTableCostTheDocumentsOnThemAlone() throws {
        let (store, peer) = try pair()
        let pages = try store.pages(of: "documents")
        for place in [3, pages.count / 2, pages.count - 1] { store.destroy(page: pages[place]) }
        let report = try store.repair()
        #expect(!report.damaged.isEmpty && report.damaged.count < 200, "\(report.damaged.count)")
        #expect(report.unnamed == 0)
        for lost in report.damaged { #expect(try store.get(lost.id) == nil) }
        try expectTheSame(store, peer)
    }

    @Test func aDestroyedRootOfTheTableCostsNothing() throws {
        let (store, peer) = try pair()
        store.destroy(page: try store.pages(of: "documents")[0])
        let report = try store.repair()
        #expect(report.damaged == [] && report.unnamed == 0)
        try expectTheSame(store, peer)
    }

    @Test func aDestroyedFirstPageCostsNoDocument() throws {
        let (store, peer) = try pair()
        let count = try peer.reader.summary().documents
        store.destroy(page: 1)
        let report = try store.repair()
        #expect(report.documents == count && !report.notes.isEmpty)
        try expectTheSame(store, peer)
    }

    @Test func aDestroyedStateCostsNothing() throws {
        let (store, peer) = try pair()
        store.destroy(page: try store.pages(of: "state")[0])
        let report = try store.repair()
        #expect(report.damaged == [])
        try expectTheSame(store, peer)
    }

    @Test(arguments: [
        "sqlite_autoindex_documents_1", "sqlite_autoindex_documents_2", "conflicts", "timelines", "checkpoints",
    ])
    func destroyedIndexesAndRecordsCostNoDocument(_ name: String) throws {
        let (store, peer) = try pair()
        for page in try store.pages(of: name) { store.destroy(page: page) }
        let report = try store.repair()
        #expect(report.damaged == [] && report.unnamed == 0)
        try expectTheSame(store, peer)
    }

    @Test func destroyedBodiesCostTheirRevisionsAlone() throws {
        let (store, peer) = try pair()
        for page in try store.pages(of: "bodies") { store.destroy(page: page) }
        let report = try store.repair()
        #expect(report.damaged.map(\.id) == (0..<5).map { "both-\($0)" })
        #expect(report.damaged.map(\.isRescued) == [true, true, true, true, true])
        #expect(try store.get("both-1")?.conflicts == [])
        try expectTheSame(store, peer)
        #expect(try store.get("both-1")?.conflicts.count == 1)
    }

    @Test func aFileCutInItsMiddleKeepsWhatIsBefore() throws {
        let (store, peer) = try pair()
        let bytes = store.directory.read("things.sqlite3")
        store.directory.write("things.sqlite3", Array(bytes[..<(bytes.count / 2 / 4_096 * 4_096)]))
        let report = try store.repair()
        #expect(report.documents > 100)
        try expectTheSame(store, peer)
    }

    @Test func whatWasPurgedDoesNotComeBackFromTheRestOfAPage() throws {
        let (store, _) = try pair(200)
        store.destroy(page: try store.pages(of: "documents")[0])
        try store.repair()
        #expect(try store.get("gone") == nil)
        #expect(try store.reader.summary().purged == 1)
    }

    @Test func theNewestThreeDamagedFilesAreKept() throws {
        let store = try TestStore()
        try store.fill(20)
        store.close()
        // The clock may have been put back before the last.
        for moment in ["2", "3", "4", "5", "1"] {
            let report = try Salvage.repair(store.file, at: moment, environment: store.environment) { _, _ in }
            #expect(report.keptPath == store.file.path + ".damaged-\(moment)")
            let removed = ["5": "2", "1": "3"][moment]
            #expect(report.notes.contains { $0.contains("damaged-\(removed ?? "")") } == (removed != nil))
        }
        let kept = try KeptFile.all(of: store.file)
        #expect(kept.map(\.path) == ["1", "4", "5"].map { store.file.path + ".damaged-" + $0 })
        #expect(kept.allSatisfy { $0.bytes > 0 })
        #expect(try KeptFile.all(in: store.directory.path) == kept)
    }

    @Test func theOldFileIsKeptAndTheSequencesGoOn() throws {
        let (store, _) = try pair(100)
        let before = store.directory.read("things.sqlite3")
        try store.tamper("UPDATE state SET digest = zeroblob(32)")
        try store.reopen()
        let last = store.store.summary.position
        let report = try store.repair()
        #expect(report.keptPath == store.directory.path + "/things.sqlite3.damaged-1")
        #expect(store.directory.read("things.sqlite3.damaged-1").count == before.count)
        let now = store.store.summary.position
        #expect(now.sequence == last.sequence + 1 && now.timeline != last.timeline)
        // Checkpoints of before are not known, those of now are.
        #expect(try store.reader.resume(at: last) == nil)
        #expect(try store.reader.resume(at: now) == now.sequence)
        #expect(try store.put("more", "{}").sequence == now.sequence + 1)
    }

    @Test func aDamagedLogCostsTheCommitsInItAlone() throws {
        let (store, peer) = try pair(200)
        try store.reopen()
        for number in 0..<50 { try store.put("late-\(number)", "{}") }
        let crashed = store.directory.copy()
        var log = crashed.read("things.sqlite3-wal")
        try #require(log.count > 40_000)
        for index in (log.count / 2)..<(log.count / 2 + 64) { log[index] ^= 0xFF }
        crashed.write("things.sqlite3-wal", log)
        let again = try TestStore(seed: 5, directory: crashed)
        #expect(try again.findings() == [])
        #expect(try again.get("late-49") == nil)
        try peer.pull(store)
        try again.pull(peer)
        #expect(try again.reader.summary().digest == peer.reader.summary().digest)
    }

    @Test func rowsInTheLogAreFoundToo() throws {
        let (store, peer) = try pair(200)
        try store.reopen()
        for number in 0..<50 { try store.put("late-\(number)", "{}") }
        try peer.pull(store)
        let crashed = store.directory.copy()
        let damaged = try TestStore(seed: 5, directory: crashed)
        damaged.close()
        for name in store.directory.names() { crashed.write(name, store.directory.read(name)) }
        crashed.write("things.sqlite3-shm", [])
        damaged.destroy(page: 1)
        // The log has a first page of its own; without a log that SQLite takes, the pages are all there is.
        let report = try damaged.repair()
        let count = try peer.reader.summary().documents
        #expect(report.documents == count)
    }

    @Test(.timeLimit(.minutes(5))) func anyDestroyedPageIsMendedFromAPeer() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<12 {
            let (store, peer) = try pair(400)
            let count = store.directory.read("things.sqlite3").count / 4_096
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                store.destroy(
                    page: Int.random(in: 1...count, using: &generator),
                    with: UInt8.random(in: 0...255, using: &generator))
            }
            let found = try store.findings()
            if found.isEmpty { continue }
            try store.repair()
            try store.setPolicy("manual", number: 1)
            try store.pull(peer)
            try store.check()
            #expect(try store.reader.summary().digest == peer.reader.summary().digest, "seed \(seed)")
        }
    }

    @Test func aRepairThatIsGivenUpLeavesTheDatabaseAsItWas() throws {
        let (store, _) = try pair(200)
        try store.tamper("UPDATE state SET digest = zeroblob(32)")
        let before = store.directory.read("things.sqlite3")
        #expect(
            failure {
                _ = try Salvage.repair(
                    store.file, at: "1", environment: store.environment, isCancelled: { true }
                ) { _, _ in }
            } == .cancelled)
        #expect(store.directory.read("things.sqlite3") == before)
        #expect(!store.directory.names().contains { $0.hasPrefix("things.sqlite3.") })
    }

    @Test func aFileOfAnotherProgramIsNotRepaired() throws {
        let (store, _) = try pair(100)
        try store.tamper("PRAGMA application_id=1")
        #expect(
            failure {
                _ = try Salvage.repair(store.file, at: "1", environment: store.environment) { _, _ in
                }
            } == .foreignFile)
    }
}

extension TemporaryDirectory {
    func names() -> [String] { (try? LocalFileSystem().names(in: path)) ?? [] }
}
