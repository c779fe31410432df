import KithDocument
import KithTestSupport
import Testing

@testable import KithStore

@Suite struct DocumentTests {
    @Test func whatIsPutIsReadAndSurvivesReopening() throws {
        let test = try TestStore()
        let written = try test.put("a", #"{"b":1,"a":[1,2]}"#)
        #expect(!written.isUnchanged)
        #expect(written.sequence == 1)
        #expect(try test.body("a") == #"{"a":[1,2],"b":1}"#)
        try test.check()
        try test.reopen()
        #expect(try test.body("a") == #"{"a":[1,2],"b":1}"#)
        #expect(try test.get("a")?.revision == written.revision)
        #expect(try test.get("other") == nil)
    }

    @Test func anEqualBodyWritesNothing() throws {
        let test = try TestStore()
        let first = try test.put("a", #"{"x":1}"#)
        let summary = test.store.summary
        let second = try test.put("a", #"{ "x" : 1 }"#)
        #expect(second.isUnchanged)
        #expect(second.revision == first.revision)
        #expect(second.sequence == first.sequence)
        #expect(test.store.summary == summary)
        try test.reopen()
        #expect(try test.put("a", #"{"x":1}"#).isUnchanged)
        #expect(test.store.summary == summary, "an equal body begins no timeline")
    }

    @Test func anUpdateMovesTheDocumentToTheEndOfTheFeed() throws {
        let test = try TestStore()
        try test.put("a", #"{"x":1}"#)
        try test.put("b", #"{"x":1}"#)
        let third = try test.put("a", #"{"x":2}"#)
        #expect(third.sequence == 3)
        #expect(third.revision.generation == 2)
        #expect(try test.reader.feed(after: 0, limit: 10).map(\.document.string) == ["b", "a"])
        #expect(try test.reader.feed(after: 2, limit: 10).map(\.revision) == [third.revision])
        try test.check()
    }

    @Test func aDeletedDocumentIsReadAsDeletedAndCanBeMadeAgain() throws {
        let test = try TestStore()
        try test.put("a", #"{"x":1}"#)
        let deletion = try test.delete("a")
        let read = try #require(try test.get("a"))
        #expect(read.isDeleted)
        #expect(read.body.isEmpty)
        #expect(read.revision == deletion.revision)
        #expect(test.store.summary.deleted == 1)
        #expect(failure { try test.delete("a") } == .notFound)
        #expect(failure { try test.delete("never") } == .notFound)
        let again = try test.put("a", #"{"x":1}"#)
        #expect(again.revision.generation == 3)
        #expect(try test.body("a") == #"{"x":1}"#)
        #expect(test.store.summary.deleted == 0)
        try test.check()
    }

    @Test func aWrongRevisionIsAConflictAndWritesNothing() throws {
        let test = try TestStore()
        let first = try test.put("a", #"{"x":1}"#, if: .mustNotExist)
        #expect(failure { try test.put("a", #"{"x":2}"#, if: .mustNotExist) } == .conflict)
        let second = try test.put("a", #"{"x":2}"#, if: .revision(first.revision))
        let summary = test.store.summary
        #expect(failure { try test.put("a", #"{"x":3}"#, if: .revision(first.revision)) } == .conflict)
        #expect(failure { try test.put("b", #"{"x":3}"#, if: .revision(first.revision)) } == .conflict)
        #expect(failure { try test.delete("a", if: first.revision) } == .conflict)
        #expect(test.store.summary == summary)
        let deletion = try test.delete("a", if: second.revision)
        try test.put("a", #"{"x":4}"#, if: .revision(deletion.revision))
        try test.delete("a")
        try test.put("a", #"{"x":5}"#, if: .mustNotExist)
        try test.check()
    }

    @Test func idsAreComparedAsBytes() throws {
        let test = try TestStore()
        let long = String(repeating: "é", count: 256)
        let ids = ["caf\u{E9}", "cafe\u{301}", long, " ", "\u{1}\n", "a/b?c=d", "😀", "A", "a"]
        for (index, id) in ids.enumerated() { try test.put(id, "{\"n\":\(index)}") }
        for (index, id) in ids.enumerated() { #expect(try test.body(id) == "{\"n\":\(index)}") }
        #expect(test.store.summary.documents == UInt64(ids.count))
        let ordered = ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(try page(test, 2) == ordered.map { Array($0.utf8) })
        try test.check()
    }

    private func page(_ test: TestStore, _ limit: Int) throws -> [[UInt8]] {
        var ids: [[UInt8]] = []
        var last: DocumentID?
        while true {
            let page = try test.reader.documents(after: last, limit: limit)
            ids += page.map { Array($0.id.string.utf8) }
            guard page.count == limit else { return ids }
            last = page.last?.id
        }
    }

    @Test func exportLeavesDeletedDocumentsOut() throws {
        let test = try TestStore()
        for id in ["a", "b", "c"] { try test.put(id, #"{"x":1}"#) }
        try test.delete("b")
        #expect(try test.reader.documents(after: nil, limit: 9).map(\.id.string) == ["a", "c"])
        #expect(try test.reader.documents(after: nil, limit: 9, deleted: true).map(\.id.string) == ["a", "b", "c"])
    }

    @Test func aDocumentOfTwentyMebibytesIsStoredAndOneMoreByteIsNot() throws {
        let test = try TestStore()
        let head = Array(#"{"x":""#.utf8)
        let tail = Array(#""}"#.utf8)
        let filling = DocumentLimits.documentBytes - head.count - tail.count
        let body = head + [UInt8](repeating: UInt8(ascii: "x"), count: filling) + tail
        let id = try DocumentID("big")
        let written = try test.store.write { (transaction) throws(StoreError) in try transaction.put(id, body) }
        #expect(try test.reader.get(id)?.body == body)
        #expect(written.revision == (try test.get("big"))?.revision)
        let over = head + [UInt8](repeating: UInt8(ascii: "x"), count: filling + 1) + tail
        #expect(
            failure {
                try test.store.write { (transaction) throws(StoreError) in _ = try transaction.put(id, over) }
            } == .invalid)
        #expect(try test.reader.get(id)?.revision == written.revision)
    }

    @Test func historyKeepsTwentyAncestors() throws {
        let test = try TestStore()
        for number in 1...60 { try test.put("a", "{\"n\":\(number)}") }
        let history = try #require(try test.reader.history(DocumentID("a")))
        #expect(history.nodes.count == 21)
        #expect(history.nodes.last?.isLeaf == true)
        #expect(history.nodes.last?.isWinner == true)
        #expect(history.nodes.last?.id.generation == 60)
        #expect(history.nodes.dropLast().allSatisfy { $0.version == nil })
        try test.check()
    }

    @Test func initialDataIsOneRevisionEverywhereAndOutrankedByAnyEdit() throws {
        let one = try TestStore(seed: 1)
        let other = try TestStore(seed: 2)
        let id = try DocumentID("a")
        let body = try TestStore.canonical(#"{"x":1}"#)
        for test in [one, other] {
            let written = try test.store.write { (transaction) throws(StoreError) in
                try transaction.put(id, body, initial: true)
            }
            #expect(!written.isUnchanged)
            let again = try test.store.write { (transaction) throws(StoreError) in
                try transaction.put(id, Array("{}".utf8), initial: true)
            }
            #expect(again.isUnchanged)
            #expect(again.revision == written.revision)
        }
        #expect(try one.reader.summary().digest == (try other.reader.summary().digest))
        try one.put("a", #"{"x":2}"#)
        try other.pull(one)
        try one.pull(other)
        #expect(try other.body("a") == #"{"x":2}"#)
        #expect(one.store.summary.digest == other.store.summary.digest)
    }

    @Test func localDocumentsDoNotShowInTheFeed() throws {
        let test = try TestStore()
        try test.store.write { (transaction) throws(StoreError) in
            try transaction.putLocal("checkpoint", Array("{}".utf8))
        }
        #expect(try test.reader.local("checkpoint") == Array("{}".utf8))
        #expect(try test.reader.summary().position.sequence == 0)
        let removed = try test.store.write { (transaction) throws(StoreError) in
            (try transaction.deleteLocal("checkpoint"), try transaction.deleteLocal("checkpoint"))
        }
        #expect(removed == (true, false))
        #expect(try test.reader.local("checkpoint") == nil)
    }
}
