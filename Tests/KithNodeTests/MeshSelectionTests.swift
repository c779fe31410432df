import KithDocument
import KithNode
import KithTestSupport
import Testing

@Suite struct MeshSelectionTests {
    private func nodes(_ count: Int, seed: UInt64 = 1) -> [NodeID] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in NodeID(bytes: (0..<32).map { _ in UInt8(random.below(256)) })! }.sorted()
    }

    private func wanted(by node: NodeID, among members: [NodeID], down: Set<NodeID> = []) -> [NodeID] {
        MeshSelection(node: node, isReader: false).wanted(members: members) { !down.contains($0) }
    }

    @Test(arguments: 1...8) func fewNodesConnectToAllOthers(count: Int) {
        let members = nodes(count)
        for node in members { #expect(wanted(by: node, among: members) == members.filter { $0 != node }) }
    }

    @Test(arguments: [9, 10, 16, 33, 60, 100, 250, 1_000]) func manyNodesKeepFewLinksAndShortWays(count: Int) {
        let members = nodes(count)
        var links: [NodeID: Set<NodeID>] = [:]
        for node in members {
            for peer in wanted(by: node, among: members) {
                links[node, default: []].insert(peer)
                links[peer, default: []].insert(node)
            }
        }
        let logarithm = Int.bitWidth - (count - 1).leadingZeroBitCount
        #expect(links.values.allSatisfy { $0.count <= max(7, 2 * logarithm) })
        #expect(hops(from: members[0], over: links, count: count) <= logarithm)
    }

    private func hops(from start: NodeID, over links: [NodeID: Set<NodeID>], count: Int) -> Int {
        var reached: Set<NodeID> = [start]
        var hops = 0
        while reached.count < count, hops < count {
            reached.formUnion(reached.flatMap { links[$0] ?? [] })
            hops += 1
        }
        return hops
    }

    @Test func whoCannotBeReachedIsSkippedForTheNext() {
        let members = nodes(20)
        let down = Set([members[1], members[2], members[4]])
        let wanted = wanted(by: members[0], among: members, down: down)
        #expect(down.isDisjoint(with: wanted))
        #expect(wanted.contains(members[3]))
        #expect(wanted.count >= 3)
    }

    /// Two nodes of which one can reach the other may have no other way to each other than the link between them.
    @Test func whoCanReachFewConnectsToAllOfThem() {
        for count in 9...20 {
            let members = nodes(count)
            for (one, other) in (1..<count).flatMap({ one in (1..<count).map { (one, $0) } }) {
                let reachable = Set([members[one], members[other]])
                let wanted = wanted(by: members[0], among: members, down: Set(members).subtracting(reachable))
                #expect(Set(wanted) == reachable)
            }
        }
    }

    @Test func whoIsNotInTheRingItselfWantsTheSame() {
        let ring = nodes(30).sorted()
        for node in ring {
            let selection = MeshSelection(node: node, isReader: false)
            let others = ring.filter { $0 != node }
            #expect(
                selection.wanted(ring: ring) { _ in true } == selection.wanted(ring: others) { _ in true })
        }
    }

    @Test func readersAttachToThreeAndSpreadOverTheRing() {
        let members = nodes(12)
        var load: [NodeID: Int] = [:]
        for reader in nodes(60, seed: 2) {
            let wanted = MeshSelection(node: reader, isReader: true).wanted(members: members) { _ in true }
            #expect(wanted.count == 3)
            for peer in wanted { load[peer, default: 0] += 1 }
        }
        #expect(load.count == 12)
    }
}
