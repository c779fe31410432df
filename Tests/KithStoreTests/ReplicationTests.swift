import KithDocument
import KithTestSupport
import Testing

@testable import KithStore

@Suite struct ReplicationTests {
    @Test func twoStoresThatEditedDifferentFieldsEndWithBoth() throws {
        let (one, other) = (try TestStore(seed: 1), try TestStore(seed: 2))
        try one.put("a", #"{"x":1,"y":1}"#)
        try other.pull(one)
        try one.put("a", #"{"x":2,"y":1}"#)
        try other.put("a", #"{"x":1,"y":2}"#)
        try one.pull(other)
        try other.pull(one)
        try one.pull(other)
        for test in [one, other] {
            #expect(try test.body("a") == #"{"x":2,"y":2}"#)
            #expect(test.store.summary.conflicts == 0)
            try test.check()
        }
        #expect(one.store.summary.digest == other.store.summary.digest)
        #expect(try one.get("a")?.revision == (try other.get("a")?.revision))
    }

    @Test func whatIsThereIsNotPulledAgain() throws {
        let (one, other) = (try TestStore(seed: 1), try TestStore(seed: 2))
        for number in 0..<250 { try one.put("d\(number)", "{\"n\":\(number)}") }
        #expect(try other.pull(one, limit: 37, maximumBytes: 1000) == 250)
        try one.reopen()
        try other.reopen()
        #expect(try other.pull(one) == 0)
        #expect(try one.pull(other) == 0)
        #expect(one.store.summary.digest == other.store.summary.digest)
        #expect(try other.reader.checkpoint(of: one.node) == one.reader.summary().position)
        let again = try other.reader.missing(in: one.reader.changes(after: 0, limit: 1000).changes)
        #expect(again.isEmpty)
    }

    @Test func whatWasMergedOtherwiseGivesWayAndWhatTheSourceHasNotSeenDoesNot() throws {
        let writers = try (1...4).map { try TestStore(seed: $0) }
        let reader = try TestStore(seed: 5)
        for (number, writer) in writers.enumerated() { try writer.put("d", "{\"f\(number)\":1}") }
        // One after the other gives three merges above each other, two by two gives two.
        for writer in writers { try reader.pull(writer) }
        try writers[0].pull(writers[1])
        try writers[2].pull(writers[3])
        try writers[0].pull(writers[2])
        let source = writers[0]
        try reader.pull(source)
        let (own, its) = (try #require(try reader.get("d")).revision, try #require(try source.get("d")).revision)
        #expect(own.generation == 4 && its.generation == 3)

        let changes = try source.reader.changes(after: 0, limit: 10).changes
        #expect(try reader.reader.missing(in: changes).isEmpty)
        let wants = try reader.reader.missing(in: changes, givesWay: true)
        #expect(wants.map(\.revisions) == [changes[0].leaves.map(\.id)] && wants.allSatisfy(\.known.isEmpty))
        // Though something is missing that is left out each time that it comes, as an old closed leaf is.
        let leaves =
            changes[0].leaves + [AnnouncedLeaf(id: try #require(RevisionID("2-" + String(repeating: "0", count: 32))))]
        let more = Change(sequence: changes[0].sequence, document: changes[0].document, leaves: leaves)
        #expect(try reader.reader.missing(in: [more], givesWay: true).map(\.revisions) == [leaves.map(\.id)])
        let sent = try source.reader.deliveries(for: wants, maximumBytes: 1 << 20).deliveries
        try reader.apply(source.node, sent)
        #expect(try reader.get("d")?.revision == own, "only a batch that gives way does")

        // An edit that the source has not got stays, with the same leaves delivered.
        let editor = try TestStore(seed: 6, directory: reader.directory.copy())
        let edited = try editor.put("d", #"{"f0":2}"#)
        try editor.apply(source.node, sent, givesWay: true)
        #expect(try editor.get("d")?.revision == edited.revision)
        try editor.check()

        try reader.apply(source.node, sent, givesWay: true)
        #expect(try reader.get("d")?.revision == its)
        #expect(try reader.body("d") == (try source.body("d")))
        #expect(reader.store.summary.digest == source.store.summary.digest)
        #expect(try reader.reader.missing(in: changes, givesWay: true).isEmpty)
        try reader.check()
        try reader.reopen()
        #expect(try reader.get("d")?.revision == its)
    }

    /// The history that leads from a deletion to what replaced it is known to one, and was cut on the way to the other.
    @Test func aDeletionReplacedLongAgoDoesNotKeepDigestsApart() throws {
        let (one, other) = (try TestStore(seed: 1), try TestStore(seed: 2))
        let between = try TestStore(seed: 3, options: StoreOptions(revisionLimit: 3))
        try one.put("a", #"{"x":0}"#)
        try one.delete("a")
        try other.pull(one)
        for number in 1...6 { try one.put("a", "{\"x\":\(number)}") }
        try between.pull(one)
        try other.pull(between)
        try one.pull(other)
        try other.pull(one)
        for test in [one, between, other] {
            #expect(try test.body("a") == #"{"x":6}"#)
            try test.check()
        }
        #expect(one.store.summary.digest == other.store.summary.digest)
    }

    @Test func histories() throws {
        for seed in UInt64(1)...60 { try history(seed) }
    }

    /// A few nodes write at random and pull from each other at random; then they pull round until nothing is new.
    private func history(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let nodes = try (0..<generator.within(2...4)).map {
            try TestStore(seed: seed &* 10 + UInt64($0), options: StoreOptions(durability: .relaxed))
        }
        for _ in 0..<generator.within(10...60) {
            let node = generator.pick(nodes)
            node.world.now += Int64(generator.below(2000)) - 500
            let id = "d\(generator.below(3))"
            switch generator.below(10) {
            case 0: _ = failure { try node.delete(id) }
            case 1...5:
                var object = "{"
                for key in ["a", "b", "c"] where generator.chance(2, in: 3) {
                    object += (object == "{" ? "" : ",") + "\"\(key)\":\(generator.below(4))"
                }
                try node.put(id, object + "}")
            case 6 where generator.chance(1, in: 3): try node.reopen()
            default: try node.pull(generator.pick(nodes), limit: generator.within(1...4))
            }
        }
        var (rounds, isQuiet) = (0, false)
        while !isQuiet {
            rounds += 1
            try #require(rounds < 20, "seed \(seed) does not come to rest")
            isQuiet = true
            for (index, node) in nodes.enumerated() where try node.pull(nodes[(index + 1) % nodes.count]) > 0 {
                isQuiet = false
            }
        }
        #expect(Set(nodes.map(\.store.summary.digest)).count == 1, "seed \(seed)")
        for node in nodes {
            try node.check()
            for id in ["d0", "d1", "d2"] {
                #expect(try node.body(id) == (try nodes[0].body(id)), "seed \(seed)")
                #expect(try node.get(id)?.revision == (try nodes[0].get(id)?.revision), "seed \(seed)")
                #expect(try outline(node, id) == (try outline(nodes[0], id)), "seed \(seed)")
            }
        }
    }

    /// The history of a document as lines.
    private func outline(_ test: TestStore, _ id: String) throws -> [String] {
        try (test.reader.history(DocumentID(id))?.nodes ?? []).map { node in
            let parent = node.parent?.description ?? "-"
            let version = node.version.map { "\($0.entries)" } ?? "ancestor"
            return "\(node.id) \(parent) \(node.kind) \(node.isWinner) \(node.mergedParents) \(version)"
        }
    }
}
