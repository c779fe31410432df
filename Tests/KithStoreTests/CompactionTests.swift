import CSQLite
import KithDocument
import KithQuery
import KithTestSupport
import Testing

@testable import KithStore

/// Giving back the space that a database does not use any more.
struct CompactionTests {
    @Test func whatIsWrittenWhileTheCopyIsMadeIsInIt() throws {
        let store = try TestStore()
        try store.fill(1_000)
        for number in 400..<900 { try store.delete("doc-\(number)") }
        try store.store.truncateLog()
        let before = store.store.sizes.file
        try Compaction.write(store.file)
        for number in 0..<20 { try store.put("late-\(number)", "{}") }
        try store.put("doc-3", #"{"changed":true}"#)
        try store.purge("doc-950")
        try store.purge("both-1")
        try store.purge("both-2")
        try store.put("both-2", "{}")
        let other = try TestStore(seed: 9)
        try other.setPolicy("manual", number: 1)
        try other.put("both-3", #"{"by":"a third"}"#)
        try store.pull(other)
        try store.setPolicy("latest", number: 2)
        let summary = store.store.summary

        try store.store.completeCopy()
        store.close()
        try Compaction.install(store.file)
        try store.reopen()
        #expect(store.store.summary == summary)
        try store.check()
        #expect(try store.findings() == [])
        #expect(try store.body("doc-3") == #"{"changed":true}"#)
        #expect(try store.get("doc-950") == nil)
        #expect(store.store.sizes.file < before, "\(store.store.sizes.file) of \(before)")
        #expect(store.directory.names().filter { $0.hasPrefix("things.sqlite3.") } == [])
    }

    /// Nobody writes while a copy is completed, so that must not take longer the more indexes and documents there are.
    @Test func aCopyIsCompletedByWhatHasChangedWhateverIndexesThereAre() throws {
        let store = try TestStore()
        for number in 0..<400 { try store.put("doc-\(number)", Self.indexed(number)) }
        try store.store.createIndex(IndexDefinition("tags", .elements(of: "tags", path: nil)))
        try store.store.createIndex(IndexDefinition("words", .text(["text"], TextIndexOptions())))
        try Compaction.write(store.file)
        for number in 0..<10 { try store.put("doc-\(number)", Self.indexed(number + 1)) }
        // The next document has the number that this one had, and this one another than before.
        try store.purge("doc-399")
        try store.put("late", Self.indexed(7))
        try store.put("doc-399", Self.indexed(9))
        let handle = store.store.transaction.connection.handle
        let before = sqlite3_total_changes(handle)
        try store.store.completeCopy()
        let changes = sqlite3_total_changes(handle) - before
        #expect(changes < 400, "\(changes) rows were written")
        store.close()
        try Compaction.install(store.file)
        try store.reopen()
        try store.check()
        #expect(try store.findings() == [])
        for condition in ["'t3' IN tags", "MATCH(words, 'word3')"] {
            let query = "SELECT RAW META().id FROM t WHERE \(condition)"
            #expect(try store.reader.explain(query).indexes.count == 1)
            let plain = "SELECT RAW META().id FROM t WHERE n % 20 = 3"
            #expect(
                try store.reader.query(query).rows().map(\.value).sorted()
                    == store.reader.query(plain).rows().map(\.value).sorted())
        }
    }

    private static func indexed(_ number: Int) -> String {
        #"{"n":\#(number),"tags":["t\#(number % 20)","all","n\#(number)"],"text":"word\#(number % 20) and more"}"#
    }

    @Test func aCompactionThatIsGivenUpLeavesTheDatabaseAsItWas() throws {
        let store = try TestStore()
        try store.fill()
        let summary = store.store.summary
        #expect(failure { try Compaction.write(store.file, isCancelled: { true }) } == .cancelled)
        #expect(store.store.summary == summary)
        #expect(store.directory.names().filter { $0.hasPrefix("things.sqlite3.") } == [])
    }

    @Test func workThatWouldFillTheDiskIsNotBegun() throws {
        let store = try TestStore()
        let code = failure { try store.file.requireSpace(.max, to: "compact") }
        #expect(code == .storageFull)
        try store.file.requireSpace(1, to: "compact")
    }
}
