import KithDocument
import KithMerge
import KithTestSupport
import Testing

@testable import KithStore

@Suite struct PurgeTests {
    @Test func aPurgedDocumentIsGoneHereAndIsNotPulledAgain() throws {
        let (one, other) = (try TestStore(seed: 1), try TestStore(seed: 2))
        try one.put("a", #"{"x":1}"#)
        try one.put("b", #"{"x":1}"#)
        try other.pull(one)
        let before = one.store.summary.position.sequence
        try one.purge("a")
        #expect(one.store.summary.position.sequence == before + 1, "a new digest has a new sequence")
        #expect(try one.get("a") == nil)
        #expect(failure { try one.purge("a") } == .notFound)
        #expect(try one.reader.exclusions().map(\.string) == ["a"])
        #expect(try one.pull(other) == 0)
        #expect(try one.get("a") == nil)
        try one.check()
        try one.reopen()
        #expect(try one.pull(other) == 0)
        let gone = try one.reader.digest(of: [DocumentID("a")])
        #expect(gone == .zero)
        var without = other.store.summary.digest
        without -= try other.reader.digest(of: [DocumentID("a")])
        #expect(without == one.store.summary.digest, "the pair leaves the document out")
    }

    @Test func anotherLeafBringsThePurgedDocumentBack() throws {
        let (one, other) = (try TestStore(seed: 1), try TestStore(seed: 2))
        try one.put("a", #"{"x":1}"#)
        try other.pull(one)
        try one.purge("a")
        try other.put("a", #"{"x":2}"#)
        #expect(try one.pull(other) == 1)
        #expect(try one.body("a") == #"{"x":2}"#)
        #expect(try one.reader.exclusions().isEmpty)
        #expect(one.store.summary.digest == other.store.summary.digest)
        try one.check()
    }

    @Test func anEditAfterAPurgeDoesNotCoverWhatWasForgotten() throws {
        let (one, other) = (try TestStore(seed: 1), try TestStore(seed: 2))
        try one.put("a", #"{"x":1,"y":1}"#)
        try other.pull(one)
        try one.purge("a")
        one.world.now += 5000
        try one.put("a", #"{"x":2}"#)
        #expect(try one.reader.exclusions().isEmpty, "a leaf written here counts as another leaf")
        let version = try #require(try one.reader.load(DocumentID("a"))?.tree.leaves[0].content?.version)
        #expect(version[one.store.summary.position.timeline] == nil)
        try other.pull(one)
        try one.pull(other)
        #expect(try one.body("a") == #"{"x":2,"y":1}"#, "both were kept")
        #expect(one.store.summary.digest == other.store.summary.digest)

        // Edits of this timeline go on with fresh writers; those of the next need none.
        try one.put("a", #"{"x":3,"y":1}"#)
        #expect(try one.reader.load(DocumentID("a"))?.tree.leaves.last?.content?.version.entries.count == 3)
        try one.reopen()
        try one.put("a", #"{"x":4,"y":1}"#)
        let later = try #require(try one.reader.load(DocumentID("a"))?.tree.live.last?.content?.version)
        #expect(later[one.store.summary.position.timeline] != nil)
        try one.check()
    }

    @Test func initialDataComesBackAfterAPurge() throws {
        let test = try TestStore()
        let (id, body) = (try DocumentID("a"), try TestStore.canonical(#"{"x":1}"#))
        func load() throws -> Written {
            try test.store.write { (transaction) throws(StoreError) in try transaction.put(id, body, initial: true) }
        }
        let first = try load()
        try test.purge("a")
        #expect(try load().revision == first.revision)
        #expect(try test.reader.exclusions().isEmpty)
        try test.check()
    }
}
