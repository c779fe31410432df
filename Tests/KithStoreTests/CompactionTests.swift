import KithDocument
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

        try store.store.updateCopy()
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
