import KithDocument
import KithQuery
import KithTestSupport
import Testing

@testable import KithStore

/// A store that takes a part of another's documents.
@Suite struct FilterTests {
    private func selector(_ json: String) throws -> DocumentFilter {
        let bytes = try TestStore.canonical(json)
        return try DocumentFilter(selector: bytes, bytes: bytes)
    }

    private func documents(_ ids: String...) throws -> DocumentFilter {
        try DocumentFilter(ids.sorted().map { try DocumentID($0) }, bytes: ids.flatMap { Array($0.utf8) })
    }

    private func ids(_ test: TestStore) throws -> [String] {
        try test.reader.changes(after: 0, limit: 1000).changes.map(\.document.string).sorted()
    }

    @Test func whatMatchesComesAndWhatStopsMatchingLeavesWithoutATombstone() throws {
        let (full, part) = (try TestStore(), try TestStore())
        let mine = try selector(#"{"to":"den","n":{"$gt":1}}"#)
        for number in 0..<5 { try full.put("d\(number)", #"{"to":"den","n":\#(number)}"#) }
        try full.put("other", #"{"to":"attic","n":9}"#)
        try part.pull(full, matching: mine)
        #expect(try ids(part) == ["d2", "d3", "d4"])
        try full.put("d2", #"{"to":"attic","n":2}"#)
        try full.delete("d3")
        try part.pull(full, matching: mine)
        #expect(try ids(part) == ["d4"])
        #expect(try part.reader.summary().deleted == 0 && part.reader.summary().purged == 0)
        try part.check()
        try full.put("d2", #"{"to":"den","n":22}"#)
        try part.pull(full, matching: mine)
        #expect(try part.body("d2") == #"{"n":22,"to":"den"}"#)
        // What was dropped is nothing that anybody hears of.
        #expect(try full.pull(part) == 0)
        try part.check()
        try full.check()
    }

    @Test func anEditOrADeletionThatWasNotSentStaysUntilItHasArrived() throws {
        let (full, part) = (try TestStore(), try TestStore())
        let red = try selector(#"{"color":"red"}"#)
        for id in ["a", "b"] { try full.put(id, #"{"color":"red"}"#) }
        try part.pull(full, matching: red)
        try part.put("a", #"{"color":"red","mine":1}"#)
        try part.delete("b")
        for id in ["a", "b"] { try full.put(id, #"{"color":"blue"}"#) }
        try part.pull(full, matching: red)
        #expect(try ids(part) == ["a", "b"])
        #expect(try part.body("a") == #"{"color":"blue","mine":1}"#)
        try full.pull(part)
        #expect(try full.body("a") == #"{"color":"blue","mine":1}"#)
        try part.pull(full, matching: red)
        #expect(try ids(part).isEmpty)
        try part.check()
    }

    @Test func aDocumentWrittenAnewAfterItLeftHidesNothingOfWhatItWas() throws {
        let (full, part) = (try TestStore(), try TestStore())
        let red = try selector(#"{"color":"red"}"#)
        try part.put("a", #"{"color":"red","first":1}"#)
        try full.pull(part)
        try part.put("a", #"{"color":"blue","first":1}"#)
        try full.pull(part)
        try part.pull(full, matching: red)
        #expect(try part.get("a") == nil)
        part.world.now += 1_000
        try part.put("a", #"{"color":"red","second":2}"#)
        try full.pull(part)
        #expect(try full.body("a") == #"{"color":"red","first":1,"second":2}"#, "neither counts as seen by the other")
        #expect(try part.pull(full, matching: red) > 0)
        #expect(try part.body("a") == full.body("a"))
    }

    @Test func ownEditsThatComeBackAfterTheyLeftAreNoSignOfARollback() throws {
        let (full, part) = (try TestStore(), try TestStore())
        let (red, blue) = (try selector(#"{"color":"red"}"#), try selector(#"{"color":"blue"}"#))
        try part.put("a", #"{"color":"blue"}"#)
        try full.pull(part)
        try part.pull(full, matching: red)
        #expect(try part.get("a") == nil)
        let timeline = try part.reader.summary().position.timeline
        try part.pull(full, matching: blue)
        #expect(try part.body("a") != nil && part.reader.summary().position.timeline == timeline)
    }

    @Test func aCheckpointHoldsForOneFilterAndAnotherBeginsAnew() throws {
        let (full, part) = (try TestStore(), try TestStore())
        let (one, two) = (try documents("a"), try documents("b"))
        for id in ["a", "b", "c"] { try full.put(id, #"{"x":1}"#) }
        try part.pull(full, matching: one)
        #expect(try ids(part) == ["a"])
        #expect(try part.reader.checkpoint(of: full.node, filter: one) != nil)
        #expect(try part.reader.checkpoint(of: full.node) == nil)
        #expect(try part.reader.checkpoint(of: full.node, filter: two) == nil)
        try part.pull(full, matching: two)
        #expect(try ids(part) == ["b"])
        #expect(try part.reader.checkpoint(of: full.node, filter: one) == nil, "it would pass over what has left")
        try part.reopen()
        #expect(try part.reader.checkpoint(of: full.node, filter: two) != nil)
        try part.pull(full)
        #expect(try ids(part) == ["a", "b", "c"])
        #expect(try part.reader.checkpoint(of: full.node, filter: two) == nil)
        try part.store.write { (transaction) throws(StoreError) in try transaction.forgetCheckpoints(of: full.node) }
        #expect(try part.reader.checkpoint(of: full.node) == nil)
    }

    @Test func digestsAndRangesOfAPartAreThoseOfAStoreThatHasTheSame() throws {
        let (full, part) = (try TestStore(), try TestStore())
        let filters = [try selector(#"{"n":{"$mod":[3,0]}}"#), try documents("d1", "d7", "gone", "absent")]
        for number in 0..<60 { try full.put("d\(number)", #"{"n":\#(number)}"#) }
        try full.put("gone", #"{"n":3}"#)
        try full.delete("gone")
        for filter in filters {
            try part.pull(full, matching: filter)
            let (digest, summary) = try full.reader.matchingDigest(filter, without: [])
            #expect(try digest == part.reader.summary().digest && summary == full.reader.summary())
            #expect(try digest == part.reader.matchingDigest(filter, without: []).0)
            #expect(try full.reader.rangeDigests(matching: filter).ranges == part.reader.rangeDigests().ranges)
            let without = try part.reader.changes(after: 0, limit: 9).changes[0].document
            #expect(try digest != full.reader.matchingDigest(filter, without: [without]).0)
        }
        let all = try full.reader.changes(inRanges: Array(0...UInt16.max), matching: filters[1])
        #expect(all.count == 61 && all.filter(\.isMatching).map(\.document.string).sorted() == ["d1", "d7", "gone"])
    }

    @Test func aFilterThatCostsTooMuchMatchesNothingItCantAffordAndEndsItsPage() throws {
        let full = try TestStore()
        let elements = (0..<3_000).map { "{\"a\":\($0)}" }.joined(separator: ",")
        for number in 0..<12 { try full.put("d\(number)", #"{"list":[\#(elements)]}"#) }
        try full.put("small", #"{"list":[{"a":-1}]}"#)
        let conditions = (0..<40).map { "{\"a\":\($0 - 1000)}" }.joined(separator: ",")
        let hostile = try selector(#"{"list":{"$elemMatch":{"$or":[\#(conditions),{"a":-1}]}}}"#)
        var after: UInt64 = 0
        var (matching, pages): ([String], Int) = ([], 0)
        while true {
            let page = try full.reader.changes(after: after, limit: 100, matching: hostile)
            matching += page.changes.filter(\.isMatching).map(\.document.string)
            pages += 1
            after = page.through.sequence
            if page.isCaughtUp { break }
        }
        #expect(matching == ["small"] && pages > 1, "\(matching) \(pages)")
    }

    /// What leaves has no mark, and its number is given to the next document.
    @Test func whatLeavesWhileTheStoreIsCompactedDoesNotComeBack() throws {
        let (full, part) = (try TestStore(), try TestStore())
        let red = try selector(#"{"color":"red"}"#)
        for id in ["a", "b", "c"] { try full.put(id, #"{"color":"red","tags":["\#(id)"]}"#) }
        try part.pull(full, matching: red)
        try part.store.createIndex(IndexDefinition("tags", .elements(of: "tags", path: nil)))
        try Compaction.write(part.file)
        for id in ["a", "c"] { try full.put(id, #"{"color":"blue"}"#) }
        try part.pull(full, matching: red)
        try full.put("d", #"{"color":"red","tags":["d"]}"#)
        try part.pull(full, matching: red)
        let before = try part.findings().map(\.message)
        #expect(before == [])
        try part.store.completeCopy()
        part.close()
        try Compaction.install(part.file)
        try part.reopen()
        #expect(try ids(part) == ["b", "d"])
        #expect(try part.get("a") == nil)
        let after = try part.findings().map(\.message)
        #expect(after == [])
        try part.check()
    }

    @Test func whatIsNoSelectorIsAClearError() throws {
        for json in [#"{"a":{"$near":1}}"#, "[1]", "null", #"{"$and":3}"#] {
            let bytes = Array(json.utf8)
            let error = #expect(throws: StoreError.self) { try DocumentFilter(selector: bytes, bytes: bytes) }
            #expect(error?.code == .invalid && error?.message.contains("filter") == true, "\(json)")
        }
        #expect(throws: StoreError.self) { try DocumentFilter(selector: Array("{ \"a\": 1 ".utf8), bytes: []) }
    }
}
