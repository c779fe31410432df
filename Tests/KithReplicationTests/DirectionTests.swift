import KithDocument
import KithTestSupport
import Testing

@testable import KithReplication

/// Databases that pass one way, or no way, and other ways from some moment on.
@Suite struct DirectionTests {
    static let seeds: [UInt64] = [1, 2, 3, 4, 5, 6, 7, 8]
    private static let pull = FeedDirections(pulls: true, pushes: false)
    private static let push = FeedDirections(pulls: false, pushes: true)

    private func pair(_ seed: UInt64) -> (World, Node, Node) {
        let world = World(seed: seed)
        return (world, world.addNode(), world.addNode())
    }

    private func direct(_ side: LinkSide, _ directions: FeedDirections) {
        side.input(.direct(database: "db", directions))
    }

    @Test("Who only pulls gives nothing away, and is in sync while it has nothing of its own", arguments: seeds)
    func pullOnly(seed: UInt64) {
        let (world, one, other) = pair(seed)
        for number in 0..<300 { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        let (left, right) = world.connect(one, other)
        direct(right, Self.pull)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(left.status?.inChanges == nil && left.status?.outChanges == 0 && left.status?.there == Self.pull)
        #expect(right.status?.inChanges == 0 && right.status?.outChanges == nil && right.status?.here == Self.pull)
        other.put("own", "{}")
        #expect(!right.isInSync || right.status?.digestEqual == nil)
        world.run(30_000)
        #expect(one.store.body("own") == nil)
        #expect(!left.isInSync && !right.isInSync && right.status?.digestEqual == false)
        one.put("late", "{}")
        #expect(world.run { other.store.body("late") != nil })
        let delivered = one.store.deliveredDocuments
        direct(right, .both)
        #expect(world.run { one.store.body("own") != nil && left.isInSync && right.isInSync }, "seed \(seed)")
        #expect(one.store.deliveredDocuments == delivered, "what was there did not pass again")
        #expect(one.store.digest == other.store.digest)
    }

    @Test("Who only pushes takes nothing and acknowledges nothing", arguments: seeds)
    func pushOnly(seed: UInt64) {
        let (world, one, other) = pair(seed)
        for number in 0..<300 { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        let (left, right) = world.connect(one, other)
        direct(left, Self.push)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        other.put("theirs", "{}")
        world.run(30_000)
        #expect(one.store.body("theirs") == nil && one.store.checkpoints.isEmpty)
        #expect(right.status?.outChanges == nil && !right.isInSync && !left.isInSync)
        direct(left, .both)
        #expect(world.run { one.store.body("theirs") != nil && left.isInSync && right.isInSync }, "seed \(seed)")
    }

    @Test("A pause stops both ways, is known on both sides, and nothing passes twice after it", arguments: seeds)
    func pause(seed: UInt64) {
        let (world, one, other) = pair(seed)
        for number in 0..<2000 { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        let (left, right) = world.connect(one, other)
        // In the middle of the first synchronisation, again and again.
        for _ in 0..<5 {
            world.run(UInt64(20 + world.random.below(40)))
            direct(right, .none)
            world.run(2_000)
            let stored = other.store.documents
            one.put("while-\(stored)", "{}")
            world.run(5_000)
            #expect(other.store.documents == stored)
            #expect(left.status?.state == .off && right.status?.state == .off)
            #expect(!left.isInSync && !right.isInSync && left.status?.outChanges == nil)
            direct(right, .both)
        }
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(one.store.digest == other.store.digest)
        // What was on its way when a pause began may pass once more; no page that was stored does.
        #expect(one.store.deliveredDocuments < 2 * other.store.documents)
        #expect(other.store.storedRevisions == other.store.documents)
        #expect(right.link.heldCredit == 0 && left.link.heldCredit == 0)
    }

    @Test("Directions changed at random on both sides end equal once both are open", arguments: seeds)
    func random(seed: UInt64) {
        let (world, one, other) = pair(seed)
        let (left, right) = world.connect(one, other)
        let ways: [FeedDirections] = [.both, .none, Self.pull, Self.push]
        for round in 0..<60 {
            if world.random.chance(1, in: 2) { one.put("a-\(world.random.below(20))", "{\"n\":\(round)}") }
            if world.random.chance(1, in: 2) { other.put("a-\(world.random.below(20))", "{\"m\":\(round)}") }
            if world.random.chance(1, in: 3) { direct(left, ways[world.random.below(4)]) }
            if world.random.chance(1, in: 3) { direct(right, ways[world.random.below(4)]) }
            world.run(UInt64(world.random.below(700)))
            for (side, node, peer) in [(left, one, other), (right, other, one)] where side.isInSync {
                #expect(node.store.digest == peer.store.digest, "seed \(seed): called in sync, and is not")
            }
        }
        direct(left, .both)
        direct(right, .both)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(one.store.digest == other.store.digest)
        #expect(left.ended == nil && right.ended == nil)
    }

    @Test("Who knows of no directions is told that nothing is to be had, and begins anew when it is")
    func oldPeer() throws {
        let bench = Bench()
        bench.store.put("a", "{}")
        let carried = CarriedDatabase(name: "db", summary: try bench.store.summary(), directions: Self.pull)
        bench.input(.start(databases: [carried]))
        bench.say(.hello(Bench.hello()))
        guard case .hello(let hello)? = bench.said.first else { return #expect(Bool(false)) }
        #expect(hello.databases.notPushed == [1] && hello.databases.notPulled == [])
        bench.say(.open(feed: 1, database: 1))
        guard case .feedEnded(let end)? = bench.said.last else { return #expect(Bool(false)) }
        #expect(end.code == .notASource && end.text.contains("not pushed"))
        bench.input(.direct(database: "db", .both))
        let updates = bench.said.compactMap { if case .databases(let update) = $0 { update } else { nil } }
        #expect(updates.map(\.removed) == [[1]] && updates.first?.added.map(\.number) == [2])
        #expect(updates.first?.added.first?.directions == .both)
        bench.say(.open(feed: 2, database: 2))
        bench.say(.subscribe(feed: 2, after: nil))
        #expect(bench.said.contains { if case .changes(let changes) = $0 { changes.feed == 2 } else { false } })
        #expect(bench.complaint == nil)
    }

    @Test("Directions are said with the databases, and the usual ones with no byte")
    func encoding() throws {
        var entry = DatabaseEntry(number: 7, name: "db", state: Samples.state)
        let usual = Samples.encoded(.databases(DatabasesUpdate(added: [entry], removed: [])))
        for directions in [Self.pull, Self.push, .none, .both] {
            entry.directions = directions
            var hello = Bench.hello()
            hello.databases = [entry]
            for message in [Message.hello(hello), .databases(DatabasesUpdate(added: [entry], removed: [3]))] {
                var decoder = FrameDecoder()
                decoder.append(Samples.encoded(message))
                #expect(try Message(try #require(try decoder.next())) == message)
            }
        }
        #expect(Samples.encoded(.databases(DatabasesUpdate(added: [entry], removed: []))) == usual)
    }
}
