import KithDocument
import KithTestSupport
import Testing

@testable import KithReplication

/// Databases of which one side takes a part.
@Suite struct FilterTests {
    static let seeds: [UInt64] = [1, 2, 3, 4, 5, 6]
    /// What has the text in its body, as the store of these tests evaluates a selector.
    private static let red = FeedFilter.selector(Array("red".utf8))

    private func pair(_ seed: UInt64) -> (World, Node, Node) {
        let world = World(seed: seed)
        return (world, world.addNode(), world.addNode())
    }

    private func take(_ side: LinkSide, _ filter: FeedFilter?, pulls: Bool = true, pushes: Bool = true) {
        side.input(.direct(database: "db", FeedDirections(pulls: pulls, pushes: pushes, filter: filter)))
    }

    /// A full node and one that takes a part of it, connected and in sync.
    private func connected(_ seed: UInt64, documents: Int) -> (World, full: Node, part: Node, LinkSide, LinkSide) {
        let (world, full, part) = pair(seed)
        fill(full, documents)
        let (left, right) = world.connect(full, part)
        take(right, Self.red)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        return (world, full, part, left, right)
    }

    private func fill(_ node: Node, _ count: Int) {
        for number in 0..<count {
            node.store.put("doc-\(number)", number.isMultiple(of: 3) ? "{\"color\":\"red\"}" : "{\"color\":\"blue\"}")
        }
    }

    @Test("A part holder gets what matches, gives all of its own, and keeps what matches", arguments: seeds)
    func selector(seed: UInt64) {
        let (world, full, part, left, right) = connected(seed, documents: 2000)
        #expect(part.store.documents == 667)
        #expect(left.status?.peerIsPart == true && right.status?.peerIsPart == false)
        part.put("own-red", "{\"color\":\"red\"}")
        part.put("own-blue", "{\"color\":\"blue\"}")
        #expect(world.run { full.store.body("own-blue") != nil && part.store.body("own-blue") == nil }, "seed \(seed)")
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(full.store.body("own-red") != nil && part.store.body("own-red") != nil)
        #expect(part.store.left.map(\.string) == ["own-blue"])
    }

    @Test("A part by ids has those documents, deleted ones too", arguments: seeds)
    func ids(seed: UInt64) {
        let (world, full, part) = pair(seed)
        fill(full, 300)
        full.store.delete("doc-7")
        let (left, right) = world.connect(full, part)
        take(right, .documents(["doc-7", "doc-8", "later"].map { DocumentID(unchecked: $0) }))
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(part.store.documents == 2 && part.store.body("doc-7") == nil && part.store.body("doc-8") != nil)
        full.put("later", "{}")
        full.put("never", "{}")
        #expect(world.run { part.store.body("later") != nil && left.isInSync && right.isInSync }, "seed \(seed)")
        #expect(part.store.documents == 3)
    }

    @Test("What stops matching leaves, is no deletion, and comes back when it matches again", arguments: seeds)
    func leaving(seed: UInt64) {
        let (world, full, part, left, right) = connected(seed, documents: 30)
        full.put("doc-3", "{\"color\":\"blue\"}")
        full.delete("doc-6")
        #expect(world.run { part.store.left.count == 2 && left.isInSync && right.isInSync }, "seed \(seed)")
        #expect(part.store.leaves("doc-3").isEmpty && part.store.leaves("doc-6").isEmpty)
        #expect(full.store.body("doc-3") == "{\"color\":\"blue\"}" && full.store.leaves("doc-6").count == 1)
        full.put("doc-3", "{\"color\":\"red\",\"n\":2}")
        #expect(world.run { part.store.body("doc-3") == full.store.body("doc-3") && right.isInSync }, "seed \(seed)")
    }

    @Test("An edit that was not sent stays when its document leaves, and goes once the source has it", arguments: seeds)
    func unsentEdit(seed: UInt64) {
        let (world, full, part) = pair(seed)
        fill(full, 10)
        var (left, right) = world.connect(full, part)
        take(right, Self.red, pushes: false)
        #expect(world.run { right.isInSync })
        part.put("doc-3", "{\"color\":\"red\",\"mine\":1}")
        full.put("doc-3", "{\"color\":\"blue\"}")
        world.run(10_000)
        #expect(part.store.body("doc-3")?.contains("mine") == true && part.store.left.isEmpty, "seed \(seed)")
        take(right, Self.red)
        #expect(world.run { full.store.body("doc-3")?.contains("mine") == true }, "seed \(seed)")
        #expect(world.run { part.store.left.map(\.string) == ["doc-3"] && left.isInSync && right.isInSync })
        // The same over links that come and go.
        part.store.put("doc-9", "{\"color\":\"green\"}")
        left.input(.disconnected)
        right.input(.disconnected)
        (left, right) = world.connect(full, part)
        take(right, Self.red)
        #expect(world.run { full.store.body("doc-9") == "{\"color\":\"green\"}" && right.isInSync }, "seed \(seed)")
        #expect(part.store.body("doc-9") == nil)
    }

    @Test("Another filter begins anew, with none all comes", arguments: seeds)
    func changing(seed: UInt64) {
        let (world, full, part, left, right) = connected(seed, documents: 1500)
        take(right, .selector(Array("blue".utf8)))
        #expect(world.run { left.isInSync && right.isInSync && part.store.documents == 1000 }, "seed \(seed)")
        #expect(part.store.body("doc-3") == nil && part.store.body("doc-4") != nil)
        take(right, Self.red)
        #expect(world.run { left.isInSync && right.isInSync && part.store.documents == 500 }, "seed \(seed)")
        take(right, nil)
        #expect(world.run { left.isInSync && right.isInSync && part.store.digest == full.store.digest }, "seed \(seed)")
    }

    @Test("A restart goes on from the checkpoint, and nothing passes twice", arguments: seeds)
    func restart(seed: UInt64) {
        let (world, full, part, before, after) = connected(seed, documents: 900)
        var (left, right) = (before, after)
        world.run(2_000)
        let (delivered, listed) = (full.store.deliveredDocuments, full.store.listedChanges)
        left.input(.disconnected)
        right.input(.disconnected)
        full.put("new", "{\"color\":\"red\"}")
        part.directions["db"] = FeedDirections(pulls: true, pushes: true, filter: Self.red)
        (left, right) = world.connect(full, part)
        #expect(world.run { part.store.body("new") != nil && left.isInSync && right.isInSync }, "seed \(seed)")
        #expect(full.store.deliveredDocuments == delivered + 1)
        #expect(full.store.listedChanges - listed < 10)
    }

    @Test(
        "A document lost here, and one that should have left, are found by the comparison of ranges", arguments: seeds)
    func repair(seed: UInt64) {
        let (world, full, part, left, right) = connected(seed, documents: 600)
        part.store.lose("doc-3")
        full.store.put("doc-6", "{\"color\":\"blue\"}")
        part.put("kick", "{\"color\":\"red\"}")
        #expect(
            world.run(200_000) { part.store.body("doc-3") != nil && right.isInSync && left.isInSync }, "seed \(seed)")
        #expect(part.store.body("doc-6") == nil)
    }

    @Test("Between two parts nothing passes, and both get what they want of a full node", arguments: seeds)
    func betweenParts(seed: UInt64) {
        let world = World(seed: seed)
        let (full, one, other) = (world.addNode(), world.addNode(), world.addNode())
        fill(full, 200)
        one.directions["db"] = FeedDirections(pulls: true, pushes: true, filter: Self.red)
        other.directions["db"] = FeedDirections(pulls: true, pushes: true, filter: .selector(Array("blue".utf8)))
        let (a, _) = world.connect(full, one)
        let (b, _) = world.connect(full, other)
        let (c, d) = world.connect(one, other)
        one.put("from-one", "{\"color\":\"blue\"}")
        #expect(world.run { a.isInSync && b.isInSync && other.store.body("from-one") != nil }, "seed \(seed)")
        #expect(c.status?.state == .off && d.status?.state == .off && one.store.body("from-one") == nil)
        #expect(one.store.documents == 67 && other.store.documents == 134)
    }

    @Test("A peer that knows no filters sends nothing, and that is said")
    func oldPeer() {
        let (world, full, part) = pair(1)
        fill(full, 20)
        part.directions["db"] = FeedDirections(pulls: true, pushes: true, filter: Self.red)
        let (_, right) = world.connect(full, part) { node, configuration in
            if node === full { configuration.capabilities = [] }
        }
        part.put("own", "{}")
        #expect(world.run { full.store.body("own") != nil })
        world.run(30_000)
        #expect(part.store.documents == 1 && !right.isInSync)
        guard case .failed(let reason)? = right.status?.state else { return #expect(Bool(false), "\(right.statuses)") }
        #expect(reason.contains("knows no filters"))
    }

    @Test("A source reads its bodies for a comparison no more often than every two seconds")
    func restBetweenScans() {
        let (world, full, _, _, right) = connected(3, documents: 50)
        let (before, began) = (full.store.filteredScans, world.now)
        for number in 0..<40 {
            full.put("n-\(number)", "{\"color\":\"red\"}")
            world.run(500)
        }
        #expect(world.run { right.isInSync })
        let most = (world.now - began) / ReplicationLimits.filteredScanMilliseconds + 2
        #expect(UInt64(full.store.filteredScans - before) <= most)
    }

    @Test("A filter is read as it was written, and nothing else is")
    func coding() {
        let filters: [FeedFilter] = [
            .documents([]), .documents(["a", "b\u{e9}"].map { DocumentID(unchecked: $0) }), Self.red, .selector([]),
        ]
        for filter in filters { #expect(FeedFilter(bytes: filter.bytes) == filter) }
        let ascending = FeedFilter.documents(["b", "a"].map { DocumentID(unchecked: $0) }).bytes
        for bytes in [
            [], [3], [1, 200], ascending, [2] + [UInt8](repeating: 32, count: ReplicationLimits.filterBytes),
        ] {
            #expect(FeedFilter(bytes: bytes) == nil)
        }
    }
}
