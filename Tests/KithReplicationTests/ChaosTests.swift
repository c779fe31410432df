import KithDocument
import KithMerge
import KithTestSupport
import Testing

@testable import KithReplication

/// Several nodes that write, lose connections, restart, forget and fail at random, and then are left in peace.
@Suite struct ChaosTests {
    @Test("Whatever happened, nodes that are left in peace come to one state", arguments: 1...12)
    func convergence(seed: UInt64) {
        let world = World(seed: seed)
        var random = SeededGenerator(seed: seed).forked("chaos")
        world.latency = random.pick([1, 5, 40])
        world.pieceBytes = random.pick([100, 1000, 64 << 10])
        let nodes = (0..<random.within(2...4)).map { _ in world.addNode() }
        for node in nodes where random.chance(1, in: 2) {
            for number in 0..<random.pick([10, 100, 1100]) { node.store.put("old-\(number)", "{\"n\":\(number)}") }
        }
        for step in 0..<60 {
            act(step, nodes, world, &random)
            checkCheckpoints(nodes, seed)
            world.run(UInt64(random.below(400)))
        }
        for end in world.ends where !end.isClosed { end.breakConnection() }
        for node in nodes { node.store.failures = [:] }
        connectAll(nodes, world)
        let open = world.ends.filter { !$0.isClosed }
        #expect(world.run(300_000) { open.allSatisfy(\.isInSync) }, "seed \(seed): \(open.map(\.statuses))")
        for node in nodes {
            #expect(node.store.digest == nodes[0].store.digest, "seed \(seed)")
            #expect(node.registries["db"]?.count ?? 0 == 0, "seed \(seed): claims are left")
        }
        for end in world.ends {
            if let goodbye = end.ended?.goodbye {
                #expect(goodbye.code != .protocolError, "seed \(seed): \(goodbye.text)")
            }
        }
        idle(nodes, world, seed)
    }

    /// With nothing to do, nothing but the heartbeat is sent, and nothing is stored.
    private func idle(_ nodes: [Node], _ world: World, _ seed: UInt64) {
        world.run(20_000)
        let sent = world.ends.reduce(0) { $0 + $1.sentBytes }
        let stored = nodes.reduce(0) { $0 + $1.store.transactions }
        world.run(60_000)
        let links = nodes.count * (nodes.count - 1)
        #expect(world.ends.reduce(0) { $0 + $1.sentBytes } - sent <= links * 2 * 13 * 40, "seed \(seed)")
        #expect(nodes.reduce(0) { $0 + $1.store.transactions } == stored, "seed \(seed)")
    }

    private func act(_ step: Int, _ nodes: [Node], _ world: World, _ random: inout SeededGenerator) {
        let node = random.pick(nodes)
        switch random.below(12) {
        case 0...4:
            for _ in 0...random.below(20) {
                node.put("doc-\(random.below(40))", "{\"by\(node.number)\":\(step),\"n\":\(random.below(5))}")
            }
        case 5: node.delete("doc-\(random.below(40))")
        case 6, 7:
            let other = random.pick(nodes)
            if other !== node, !node.sides.contains(where: { $0.other.node === other }) { world.connect(node, other) }
        case 8: if !node.sides.isEmpty { random.pick(node.sides).breakConnection() }
        case 9:
            if !node.sides.isEmpty { random.pick(node.sides).input(.stop(Goodbye(code: .closing, text: "bye"))) }
        case 10:
            // A restart, which a backup put back may have been behind.
            for side in node.sides { side.breakConnection() }
            node.store.restart(
                timeline: UInt64(node.number) << 32 + 1000 + UInt64(step), forgetting: random.chance(1, in: 3))
        default:
            let call = random.pick([
                "checkpoint", "missing", "apply", "changes", "deliveries", "resume", "rangeDigests",
            ])
            node.store.failures[call, default: []].append(
                ReplicaError(code: "storage_full", message: "no space left", isTransient: true))
        }
    }

    private func connectAll(_ nodes: [Node], _ world: World) {
        for (index, node) in nodes.enumerated() { for other in nodes[(index + 1)...] { world.connect(node, other) } }
    }

    /// A checkpoint says that everything up to it is held here: each leaf of the source's changes, or a successor.
    private func checkCheckpoints(_ nodes: [Node], _ seed: UInt64) {
        for node in nodes {
            for source in nodes where source !== node {
                guard let checkpoint = node.store.checkpoints[source.id], checkpoint.timeline == source.store.timeline
                else {
                    continue
                }
                for (id, entry) in source.store.entries where entry.sequence <= checkpoint.sequence {
                    let held = node.store.entries[id]?.document.tree
                    let lacking = entry.document.tree.leaves.filter { held?.contains($0.id) != true }
                    #expect(lacking.isEmpty, "seed \(seed): node \(node.number) passed \(id) of node \(source.number)")
                }
            }
        }
    }
}
