import KithDocument
import KithTestSupport
import Testing

@testable import KithReplication

/// Databases that meet without a usable checkpoint, or differ though their feeds are caught up.
@Suite struct ReconciliationTests {
    static let seeds: [UInt64] = [1, 2, 3, 4]

    /// Two nodes in sync on so many documents, apart again.
    private func synced(_ seed: UInt64, _ documents: Int) -> (World, Node, Node) {
        let world = World(seed: seed)
        let (one, other) = (world.addNode(), world.addNode())
        for number in 0..<documents { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed)")
        world.run(2000)
        left.breakConnection()
        return (world, one, other)
    }

    @Test("Databases without checkpoints that are equal transfer nothing and list nothing", arguments: seeds)
    func equalWithoutCheckpoints(seed: UInt64) {
        let (world, one, other) = synced(seed, 3000)
        one.store.forget(checkpointOf: other.id)
        other.store.forget(checkpointOf: one.id)
        let listed = (one.store.listedChanges, other.store.listedChanges)
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(one.store.listedChanges == listed.0 && other.store.listedChanges == listed.1)
        #expect(one.store.scans == 0 && other.store.scans == 0)
    }

    @Test("An unknown timeline leads to a comparison that lists only what differs", arguments: seeds)
    func unknownTimeline(seed: UInt64) {
        let (world, one, other) = synced(seed, 3000)
        for number in 0..<5 { one.store.put("only-left-\(number)", "{}") }
        for number in 0..<7 { other.store.put("only-right-\(number)", "{}") }
        one.store.put("doc-5", "{\"n\":\"changed\"}")
        one.store.restart(timeline: 501, forgetting: true)
        other.store.restart(timeline: 502, forgetting: true)
        let delivered = (one.store.deliveredDocuments, other.store.deliveredDocuments)
        let listed = (one.store.listedChanges, other.store.listedChanges)
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(one.store.digest == other.store.digest)
        #expect(other.store.body("doc-5") == "{\"n\":\"changed\"}")
        #expect(one.store.documents == 3012)
        #expect(one.store.deliveredDocuments - delivered.0 == 6)
        #expect(other.store.deliveredDocuments - delivered.1 == 7)
        // Ranges hold at most a few documents each beside those that differ.
        #expect(one.store.rangeListed + other.store.rangeListed < 40)
        #expect(one.store.listedChanges - listed.0 < 20 && other.store.listedChanges - listed.1 < 20)
        // The feeds go on from where the scan was.
        #expect(other.store.checkpoints[one.id]?.timeline == 501 || left.status?.isInSync == true)
    }

    @Test("Documents missing behind the checkpoint are found by the digests", arguments: seeds)
    func lostBehindCheckpoint(seed: UInt64) {
        let (world, one, other) = synced(seed, 2000)
        // A file put back from a backup that kept its checkpoints: what nobody thought of.
        other.store.lose("doc-17")
        other.store.lose("doc-1717")
        let delivered = one.store.deliveredDocuments
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(other.store.body("doc-17") == "{\"n\":17}")
        #expect(one.store.digest == other.store.digest)
        #expect(one.store.deliveredDocuments - delivered == 2)
    }

    @Test("A reader that merged otherwise gives way to its source, and a source to nobody", arguments: [true, false])
    func mergedOtherwise(isReader: Bool) {
        let world = World(seed: 1)
        let writers = (0..<4).map { _ in world.addNode() }
        for (number, writer) in writers.enumerated() { writer.store.put("d", "{\"f\(number)\":1}") }
        let node = world.addNode(isSource: !isReader)
        func meet(_ one: Node, _ other: Node) -> (LinkSide, LinkSide) {
            let sides = world.connect(one, other)
            world.run(5_000)
            return sides
        }
        func meetAndPart(_ one: Node, _ other: Node) { meet(one, other).0.breakConnection() }
        // Two by two among the writers; the node's own store takes one after the other, as if it met each alone.
        let apart = (0..<4).map { writers[$0].store.everything() }
        meetAndPart(writers[0], writers[1])
        meetAndPart(writers[2], writers[3])
        meetAndPart(writers[0], writers[2])
        for deliveries in apart { node.store.take(deliveries) }
        let shapes = (writers[0].store.leaves("d"), node.store.leaves("d"))
        #expect(shapes.0.count == 1 && shapes.1.count == 1 && shapes.0[0] < shapes.1[0], "\(shapes)")
        let (left, right) = meet(writers[0], node)
        #expect(world.run { left.isInSync && right.isInSync }, "\(left.statuses) \(right.statuses)")
        #expect(node.store.leaves("d") == (isReader ? shapes.0 : shapes.1))
        #expect(node.store.digest == writers[0].store.digest)
    }

    @Test("Purged documents are left out of the comparison and not fetched again", arguments: seeds)
    func purged(seed: UInt64) {
        let (world, one, other) = synced(seed, 100)
        other.store.purge("doc-3")
        other.commit("db")
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(one.store.digest != other.store.digest)
        #expect(other.store.body("doc-3") == nil && one.store.body("doc-3") != nil)
        #expect(one.store.scans == 0 && other.store.scans == 0)
        one.store.purge("doc-9")
        one.commit("db")
        one.put("new", "{}")
        #expect(world.run { other.store.body("new") != nil && left.isInSync && right.isInSync }, "seed \(seed)")
    }

    @Test("What was refused from another peer excuses no difference from this one", arguments: seeds)
    func refusedFromAnother(seed: UInt64) throws {
        let (world, one, other) = synced(seed, 100)
        let hostile = world.addNode()
        for store in [one.store, other.store] {
            store.bodyLimit = 0
            let item = Delivery.Item(revision: Bench.revision(2), ancestors: [])
            let delivery = Delivery(document: DocumentID(unchecked: "doc-4"), items: [item])
            _ = try store.apply(ReplicaBatch(source: hostile.id, deliveries: [delivery], checkpoint: nil))
            store.bodyLimit = DocumentLimits.documentBytes
            #expect(store.refused[DocumentID(unchecked: "doc-4")]?.count == 1)
        }
        other.store.hide("doc-4")
        let (left, right) = world.connect(one, other)
        world.run(60_000)
        #expect(!left.isInSync && !right.isInSync, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(left.status?.leftOutHere == 0 && left.status?.leftOutByPeer == 0)
    }

    @Test("A difference that can't be settled is looked at ever more rarely")
    func fruitless() {
        let (world, one, other) = synced(1, 1500)
        // The other side claims to have everything and lacks a document.
        other.store.hide("doc-4")
        let (left, right) = world.connect(one, other)
        world.run(600_000)
        #expect(!left.isInSync && !right.isInSync)
        #expect(right.status?.digestEqual == false)
        #expect(other.store.scans > 2)
        #expect(one.store.scans + other.store.scans < 60)
        #expect(left.ended == nil)
    }

    @Test("A large database meets a small one by the feed, without a scan", arguments: seeds)
    func smallMeetsLarge(seed: UInt64) {
        let world = World(seed: seed)
        let (one, other) = (world.addNode(), world.addNode())
        for number in 0..<1500 { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        for number in 0..<100 { other.store.put("other-\(number)", "{\"n\":\(number)}") }
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(one.store.scans == 0 && other.store.scans == 0)
        #expect(one.store.digest == other.store.digest)
    }

    @Test("Two large databases that share nothing exchange everything", arguments: seeds.prefix(2))
    func sharingNothing(seed: UInt64) {
        let world = World(seed: seed)
        let (one, other) = (world.addNode(), world.addNode())
        for number in 0..<1200 { one.store.put("left-\(number)", "{\"n\":\(number)}") }
        for number in 0..<1100 { other.store.put("right-\(number)", "{\"n\":\(number)}") }
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(one.store.documents == 2300)
        #expect(one.store.digest == other.store.digest)
        #expect(one.store.storedRevisions == 1100 && other.store.storedRevisions == 1200)
    }
}
