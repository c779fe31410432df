import KithDocument
import KithTestSupport
import Testing

@testable import KithReplication

/// Two or three nodes with databases in memory, until they agree.
@Suite struct SyncTests {
    static let seeds: [UInt64] = [1, 2, 3, 4, 5, 6, 7, 8]

    private func pair(_ seed: UInt64) -> (World, Node, Node) {
        let world = World(seed: seed)
        return (world, world.addNode(), world.addNode())
    }

    @Test("An empty database takes over all documents of its peer", arguments: seeds)
    func firstSync(seed: UInt64) {
        let (world, one, other) = pair(seed)
        for number in 0..<3000 { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(one.store.digest == other.store.digest)
        #expect(other.store.documents == 3000)
        #expect(other.store.storedRevisions == 3000)
        #expect(one.store.storedRevisions == 0)
        #expect(one.store.deliveredDocuments == 3000)
        #expect(other.store.deliveredDocuments == 0)
    }

    @Test("A write on either side reaches the other within a few round trips", arguments: seeds)
    func liveChanges(seed: UInt64) {
        let (world, one, other) = pair(seed)
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        let started = world.now
        one.put("a", "{\"from\":1}")
        other.put("b", "{\"from\":2}")
        #expect(world.run { other.store.body("a") != nil && one.store.body("b") != nil })
        #expect(world.now - started < 50)
        #expect(world.run(1000) { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(one.store.digest == other.store.digest)
    }

    @Test("Edits made apart are merged to one revision on both sides", arguments: seeds)
    func conflicts(seed: UInt64) {
        let (world, one, other) = pair(seed)
        for number in 0..<50 {
            one.store.put("doc-\(number)", "{\"left\":\(number)}")
            other.store.put("doc-\(number)", "{\"right\":\(number)}")
        }
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(one.store.digest == other.store.digest)
        #expect(one.store.body("doc-7") == "{\"left\":7,\"right\":7}")
        #expect(other.store.body("doc-7") == "{\"left\":7,\"right\":7}")
    }

    @Test("After a restart of both sides nothing is transferred", arguments: seeds)
    func restart(seed: UInt64) {
        let (world, one, other) = pair(seed)
        for number in 0..<2000 { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync })
        world.run(3000)
        left.input(.stop(Goodbye(code: .closing, text: "")))
        world.run(1000)
        #expect(right.ended?.isByPeer == true)
        one.store.restart(timeline: 77)
        other.store.restart(timeline: 88)
        let stored = (one.store.storedRevisions, other.store.storedRevisions)
        let delivered = one.store.deliveredDocuments + other.store.deliveredDocuments
        let (again, back) = world.connect(one, other)
        #expect(world.run { again.isInSync && back.isInSync }, "seed \(seed): \(again.statuses) \(back.statuses)")
        #expect(one.store.storedRevisions == stored.0 && other.store.storedRevisions == stored.1)
        #expect(one.store.deliveredDocuments + other.store.deliveredDocuments == delivered)
        #expect(again.status?.pulled == 0 && back.status?.pulled == 0)
        #expect(again.sentBytes + back.sentBytes < 4000)
        one.put("new", "{}")
        #expect(world.run { other.store.body("new") != nil && again.isInSync && back.isInSync })
    }
}
