import KithDocument
import KithTestSupport
import Testing

@testable import KithReplication

/// What sessions do when something is in the way.
@Suite struct SessionTests {
    static let seeds: [UInt64] = [1, 2, 3, 4]

    private func pair(_ seed: UInt64) -> (World, Node, Node) {
        let world = World(seed: seed)
        return (world, world.addNode(), world.addNode())
    }

    @Test("A document that is refused does not stop the rest, and both sides know of it", arguments: seeds)
    func refusal(seed: UInt64) {
        let (world, one, other) = pair(seed)
        other.store.bodyLimit = 100
        for number in 0..<200 { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        one.store.put("large", "{\"text\":\"\(String(repeating: "x", count: 200))\"}")
        for number in 200..<400 { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(other.store.documents == 400)
        let refusal = Refusal(document: DocumentID(unchecked: "large"), reason: "the document is over the limit")
        #expect(right.events.contains(.refused(database: "db", [refusal])))
        #expect(left.events.contains(.refusedByPeer(database: "db", [refusal])))
        #expect(right.status?.refused == 1 && left.status?.refusedByPeer == 1)
        // Each that came is told of, and each that went; that one went and did not come.
        func told(_ side: LinkSide, isIncoming: Bool) -> [String] {
            side.events.flatMap { event -> [String] in
                guard case .documents(_, let documents, isIncoming) = event else { return [] }
                return documents.map(\.string)
            }.sorted()
        }
        #expect(told(right, isIncoming: true) == other.store.entries.keys.map(\.string).sorted())
        #expect(told(left, isIncoming: false) == one.store.entries.keys.map(\.string).sorted())
        #expect(right.status?.inTotal == 401 && right.status?.inChanges == 0)
        #expect(left.status?.outTotal == 401 && left.status?.acknowledged?.sequence == 401)
        // The checkpoint has passed it, and it is not asked for again.
        let delivered = one.store.deliveredDocuments
        left.breakConnection()
        let (again, back) = world.connect(one, other)
        #expect(world.run { again.isInSync && back.isInSync }, "seed \(seed)")
        #expect(one.store.deliveredDocuments == delivered)
    }

    @Test("A reader takes documents and nobody takes any from it", arguments: seeds)
    func reader(seed: UInt64) {
        let world = World(seed: seed)
        let writer = world.addNode()
        let reader = world.addNode(isSource: false)
        writer.store.put("a", "{\"n\":1}")
        reader.store.put("local", "{}")
        let (left, right) = world.connect(writer, reader)
        #expect(world.run { reader.store.body("a") != nil })
        writer.put("b", "{\"n\":2}")
        #expect(world.run { reader.store.body("b") != nil })
        world.run(10_000)
        #expect(writer.store.body("local") == nil)
        #expect(left.status?.inChanges == nil && left.status?.outChanges == 0)
        #expect(right.status?.inChanges == 0 && right.status?.outChanges == nil)
        #expect(left.status?.digestEqual == false)

        let plain = world.addNode(isSource: false)
        let (source, end) = world.connect(writer, plain)
        #expect(world.run { source.isInSync && end.isInSync }, "seed \(seed): \(source.statuses) \(end.statuses)")
        writer.put("c", "{}")
        #expect(world.run { plain.store.body("c") != nil && source.isInSync && end.isInSync })
    }

    @Test("A reader that has purged is in sync on both sides, and each side knows what it leaves out", arguments: seeds)
    func purgingReader(seed: UInt64) {
        let world = World(seed: seed)
        let writer = world.addNode()
        let reader = world.addNode(isSource: false)
        for number in 0..<20 { writer.store.put("d\(number)", "{\"n\":1}") }
        let (left, right) = world.connect(writer, reader)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed)")
        reader.store.purge("d3")
        reader.commit("db")
        world.run(100)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(left.status?.leftOutHere == 0 && left.status?.leftOutByPeer == 1)
        #expect(right.status?.leftOutHere == 1 && right.status?.leftOutByPeer == 0)
        // It is said anew for each state of the two, and never of another.
        writer.put("new", "{}")
        #expect(!left.isInSync)
        #expect(world.run { reader.store.body("new") != nil && left.isInSync && right.isInSync }, "seed \(seed)")
        writer.store.purge("d5")
        writer.commit("db")
        world.run(100)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(left.status?.leftOutHere == 1 && left.status?.leftOutByPeer == 1)
        // Something that is really missing is no purge.
        reader.store.lose("d7")
        reader.commit("db")
        let isMended = world.run { reader.store.body("d7") != nil && left.isInSync && right.isInSync }
        #expect(isMended, "seed \(seed): \(left.statuses)")
    }

    @Test("Two readers have nothing to say to each other")
    func readers() {
        let world = World(seed: 1)
        let (one, other) = (world.addNode(isSource: false), world.addNode(isSource: false))
        one.store.put("a", "{}")
        let (left, right) = world.connect(one, other)
        world.run(30_000)
        #expect(other.store.body("a") == nil)
        #expect(left.ended == nil && right.ended == nil && !left.isInSync)
    }

    @Test("A store that fails for a while is tried again, on either side", arguments: seeds)
    func storeFailure(seed: UInt64) {
        let (world, one, other) = pair(seed)
        let full = ReplicaError(code: "storage_full", message: "no space left", isTransient: true)
        for call in ["checkpoint", "missing", "apply"] { other.store.failures[call] = [full] }
        for call in ["changes", "deliveries"] { one.store.failures[call] = [full] }
        for number in 0..<600 { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        let (left, right) = world.connect(one, other)
        #expect(
            world.run(120_000) { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(one.store.digest == other.store.digest)
        #expect(
            left.ended == nil && right.ended == nil,
            "\(String(describing: left.ended)) \(String(describing: right.ended))")
        #expect(other.store.storedRevisions == 600)
    }

    @Test("A puller without room is tried on a schedule, and its source says why nothing goes on", arguments: seeds)
    func fullPuller(seed: UInt64) {
        let (world, one, other) = pair(seed)
        let full = ReplicaError(
            code: "storage_full", message: "no space is left on the disk", isTransient: true, retryMilliseconds: 10_000)
        other.store.failures["apply"] = [full, full, full]
        one.store.put("a", "{\"n\":1}")
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.status?.peerFailure == full.message }, "seed \(seed): \(left.statuses)")
        #expect(right.status?.state == .failed(full.message))
        #expect(!left.isInSync && !right.isInSync)
        // It fails twice more, ten seconds after one another.
        #expect(!world.run(19_000) { other.store.body("a") != nil }, "seed \(seed): it was tried too often")
        #expect(left.status?.peerFailure == full.message)
        #expect(world.run(20_000) { left.isInSync && right.isInSync }, "seed \(seed): \(right.statuses)")
        #expect(left.status?.peerFailure == nil)
        #expect(left.ended == nil && right.ended == nil)
    }

    @Test("A store that failed for good and was mended is used again, by itself")
    func mendedStore() {
        let world = World(seed: 12)
        let (one, other) = (world.addNode(), world.addNode())
        one.store.put("doc", "{}")
        let damaged = ReplicaError(code: "damaged", message: "the file is damaged", isTransient: false)
        other.store.failures["apply"] = [damaged]
        let (_, right) = world.connect(one, other)
        world.run(5_000)
        #expect(right.statuses["db"]?.state == .failed("the file is damaged"))
        #expect(other.store.documents == 0)
        world.run(ReplicationLimits.mendedRetryMilliseconds + 5_000) { other.store.documents == 1 }
        #expect(other.store.documents == 1)
        #expect(right.ended == nil)
    }

    @Test("A store that failed for good is tried again when a commit shows that it works")
    func workingStore() {
        let world = World(seed: 13)
        let (one, other) = (world.addNode(), world.addNode())
        one.store.put("doc", "{}")
        other.store.failures["apply"] = [
            ReplicaError(code: "damaged", message: "the file is damaged", isTransient: false)
        ]
        let (_, right) = world.connect(one, other)
        world.run(5_000)
        #expect(right.statuses["db"]?.state == .failed("the file is damaged"))
        other.put("own", "{}")
        world.run(5_000) { other.store.documents == 2 }
        #expect(other.store.documents == 2)
    }

    @Test("A store that takes commits again is asked again at once, and a second after its failure at the soonest")
    func recoveredStore() {
        let world = World(seed: 14)
        let (one, other) = (world.addNode(), world.addNode())
        one.store.put("doc", "{}")
        let failing = ReplicaError(
            code: "input_output", message: "the disk fails", isTransient: true, retryMilliseconds: 10_000)
        other.store.failures["apply"] = [failing, failing]
        let (_, right) = world.connect(one, other)
        #expect(world.run(5_000) { right.status?.state == .failed("the disk fails") })
        // It fails once more: not at once, since it would be again and again.
        right.input(.storeRecovered(database: "db"))
        world.run(900)
        #expect(other.store.failures["apply"]?.count == 1)
        #expect(world.run(1_000) { other.store.failures["apply"]?.isEmpty != false })
        world.run(3_000)
        #expect(other.store.documents == 0)
        right.input(.storeRecovered(database: "db"))
        #expect(world.run(500) { other.store.documents == 1 })
    }

    @Test("A store that fails for good ends its session, not the link")
    func brokenStore() {
        let world = World(seed: 5)
        let (one, other) = (world.addNode(["db", "good"]), world.addNode(["db", "good"]))
        other.store.broken = ReplicaError(code: "damaged", message: "the file is damaged", isTransient: false)
        one.store.put("a", "{}")
        let (left, right) = world.connect(one, other)
        one.put("b", "{}", in: "good")
        #expect(world.run { left.statuses["good"]?.isInSync == true && right.statuses["good"]?.isInSync == true })
        world.run(300_000)
        #expect(right.statuses["db"]?.state == .failed("the file is damaged"))
        if case .failed(let text)? = left.statuses["db"]?.state {
            #expect(text.contains("the file is damaged"))
        } else {
            Issue.record("the source does not show the failure: \(left.statuses)")
        }
        #expect(
            left.ended == nil && right.ended == nil,
            "\(String(describing: left.ended)) \(String(describing: right.ended))")
    }

    @Test("A document larger than the credit travels in parts", arguments: seeds.prefix(2))
    func hugeDocument(seed: UInt64) {
        let (world, one, other) = pair(seed)
        world.pieceBytes = 1 << 20
        for number in 0..<20 { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        let huge = "{\"text\":\"\(String(repeating: "0123456789abcdef", count: 330_000))\"}"
        one.store.put("huge-1", huge)
        one.store.put("huge-2", huge)
        for number in 20..<40 { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(other.store.documents == 42)
        #expect(other.store.body("huge-2") == huge)
        #expect(other.store.storedRevisions == 42)
    }

    @Test("What waits for a peer that does not read stays within its bound")
    func stoppedPeer() {
        let (world, one, other) = pair(3)
        for number in 0..<6_000 {
            one.store.put("doc-\(number)", "{\"text\":\"\(String(repeating: "x", count: 1000))\"}")
        }
        let (left, right) = world.connect(one, other)
        #expect(world.run { other.store.documents > 100 })
        left.isStopped = true
        world.run(10_000)
        #expect(left.mostWaiting < 3 << 20)
        #expect(left.link.output.gate.queuedBytes < 2 << 20)
        let reads = one.store.reads
        world.run(2000)
        #expect(one.store.reads == reads)
        left.isStopped = false
        #expect(world.run { left.isInSync && right.isInSync })
        #expect(other.store.documents == 6_000)
    }

    @Test("A puller whose store is slow is sent no more than it granted")
    func slowStore() {
        let (world, one, other) = pair(4)
        other.storeDelay = 500
        for number in 0..<2_000 {
            one.store.put("doc-\(number)", "{\"text\":\"\(String(repeating: "x", count: 2000))\"}")
        }
        let window = 512 << 10
        let (left, right) = world.connect(one, other) { node, configuration in
            if node === other { configuration.windowBytes = window }
        }
        var most = 0
        #expect(
            world.run(600_000) {
                most = max(most, right.link.heldCredit)
                return left.isInSync && right.isInSync
            })
        #expect(most <= window + ReplicationLimits.frameBytes)
        #expect(other.store.documents == 2_000)
    }

    @Test("Documents deleted or replaced before they are sent do not stop the feed", arguments: seeds)
    func goneDocuments(seed: UInt64) {
        let (world, one, other) = pair(seed)
        for number in 0..<500 { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        one.storeDelay = 3
        let (left, right) = world.connect(one, other)
        for round in 0..<40 {
            world.run(2)
            one.put("doc-\(round * 7)", "{\"n\":\"new \(round)\"}")
            one.delete("doc-\(round * 7 + 1)")
        }
        #expect(world.run { left.isInSync && right.isInSync }, "seed \(seed): \(left.statuses) \(right.statuses)")
        #expect(one.store.digest == other.store.digest)
        #expect(other.store.body("doc-7") == "{\"n\":\"new 1\"}" && other.store.body("doc-8") == nil)
    }

    @Test("A node that offers a revision back is rare: the peer it came from is not asked", arguments: seeds)
    func noEcho(seed: UInt64) {
        let (world, one, other) = pair(seed)
        for number in 0..<2000 { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync })
        // Its own feed read all of them and offered none.
        #expect(other.store.listedChanges >= 2000)
        #expect(right.sentBytes < 2000 * 70 + 60_000, "wants and acknowledgements only: \(right.sentBytes)")
        #expect(one.store.checkpoints[other.id] == nil || left.status?.inChanges == 0)
    }

    @Test("Databases that come and go later are matched", arguments: seeds)
    func laterDatabases(seed: UInt64) {
        let (world, one, other) = pair(seed)
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync })
        one.stores["late"] = MemoryStore(timeline: 900)
        one.stores["late"]?.put("x", "{\"n\":1}")
        left.input(.carry(CarriedDatabase(name: "late", summary: one.summary("late"))))
        world.run(100)
        #expect(left.statuses["late"] == nil)
        other.stores["late"] = MemoryStore(timeline: 901)
        right.input(.carry(CarriedDatabase(name: "late", summary: other.summary("late"))))
        #expect(world.run { left.statuses["late"]?.isInSync == true && right.statuses["late"]?.isInSync == true })
        #expect(other.stores["late"]?.body("x") == "{\"n\":1}")
        left.input(.drop(database: "late"))
        one.put("a", "{}")
        other.put("late", "{}", in: "late")
        #expect(world.run { other.store.body("a") != nil && left.isInSync && right.isInSync })
        left.input(.carry(CarriedDatabase(name: "late", summary: one.summary("late"))))
        #expect(world.run { one.stores["late"]?.body("late") != nil })
        #expect(
            left.ended == nil && right.ended == nil,
            "\(String(describing: left.ended)) \(String(describing: right.ended))")
    }

    @Test("A database that is held is pulled when it may be")
    func held() {
        let (world, one, other) = pair(6)
        one.store.put("a", "{}")
        let (left, right) = world.connect(one, other)
        right.input(.hold(database: "db", isHeld: true))
        world.run(5000)
        #expect(other.store.body("a") == nil && right.status?.state == .held)
        right.input(.hold(database: "db", isHeld: false))
        #expect(world.run { left.isInSync && right.isInSync })
    }

    @Test("Of two sources each revision is asked of one only", arguments: seeds)
    func twoSources(seed: UInt64) {
        let world = World(seed: seed)
        let (one, two, empty) = (world.addNode(), world.addNode(), world.addNode())
        for number in 0..<2000 { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        let (first, second) = world.connect(one, two)
        #expect(world.run { first.isInSync && second.isInSync })
        let before = one.store.deliveredDocuments + two.store.deliveredDocuments
        let (a, b) = world.connect(one, empty)
        let (c, d) = world.connect(two, empty)
        #expect(world.run { a.isInSync && b.isInSync && c.isInSync && d.isInSync }, "seed \(seed)")
        #expect(one.store.deliveredDocuments + two.store.deliveredDocuments - before == 2000)
        #expect(empty.store.documents == 2000)
        #expect(empty.registries["db"]?.count == 0)
    }

    @Test("What one source brought while the node looked what it lacks is not asked of another", arguments: seeds)
    func manySources(seed: UInt64) {
        let world = World(seed: seed)
        let nodes = (0..<12).map { _ in world.addNode() }
        let (writer, reader) = (nodes[0], nodes[1])
        reader.answerDelay = 10
        var sides: [LinkSide] = []
        for node in nodes.dropFirst(2) {
            for side in [world.connect(writer, node), world.connect(node, reader)] { sides += [side.0, side.1] }
        }
        #expect(world.run { sides.allSatisfy(\.isInSync) })
        let before = nodes.dropFirst(2).reduce(0) { $0 + $1.store.deliveredDocuments }
        for number in 0..<100 {
            writer.put("doc-\(number)", "{\"n\":\(number)}")
            world.run(500)
        }
        #expect(world.run { sides.allSatisfy(\.isInSync) }, "seed \(seed)")
        let delivered = nodes.dropFirst(2).reduce(0) { $0 + $1.store.deliveredDocuments } - before
        #expect(delivered == 100, "seed \(seed): \(delivered)")
        #expect(reader.store.documents == 100 && reader.registries["db"]?.count == 0)
    }

    @Test("What a source that went quiet was asked for is asked of the other", arguments: seeds)
    func takenOver(seed: UInt64) {
        let world = World(seed: seed)
        let (one, two, empty) = (world.addNode(), world.addNode(), world.addNode())
        for number in 0..<2000 { one.store.put("doc-\(number)", "{\"n\":\(number)}") }
        let (first, second) = world.connect(one, two)
        #expect(world.run { first.isInSync && second.isInSync })
        let (a, b) = world.connect(one, empty) { _, configuration in configuration.silenceMilliseconds = 1_000_000 }
        #expect(world.run { empty.store.documents > 100 })
        // The first falls silent with requests open; its link stays up.
        a.isStopped = true
        let (c, d) = world.connect(two, empty)
        #expect(world.run(20_000) { c.isInSync && d.isInSync }, "seed \(seed): \(d.statuses)")
        #expect(empty.store.documents == 2000)
        a.isStopped = false
        #expect(world.run { a.isInSync && b.isInSync }, "seed \(seed): \(a.statuses) \(b.statuses)")
    }

    @Test("A line of nodes comes to one state through its middle", arguments: seeds)
    func line(seed: UInt64) {
        let world = World(seed: seed)
        let nodes = (0..<4).map { _ in world.addNode() }
        for (index, node) in nodes.enumerated() {
            for number in 0..<50 { node.store.put("doc-\(number)", "{\"by\(index)\":\(number)}") }
        }
        for (one, other) in zip(nodes, nodes.dropFirst()) { world.connect(one, other) }
        #expect(world.run { world.ends.allSatisfy(\.isInSync) }, "seed \(seed): \(world.ends.map(\.statuses))")
        for node in nodes {
            #expect(node.store.digest == nodes[0].store.digest)
            #expect(node.store.body("doc-3") == "{\"by0\":3,\"by1\":3,\"by2\":3,\"by3\":3}")
        }
    }
}
