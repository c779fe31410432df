import KithDocument
import KithNode
import Testing

@Suite struct LinkArbiterTests {
    private let low = NodeID(bytes: [UInt8](repeating: 1, count: 32))!
    private let high = NodeID(bytes: [UInt8](repeating: 2, count: 32))!

    /// Two links come up at once, each dialled by one side; each side sees them in either order.
    @Test(arguments: [[0, 1], [1, 0]], [[0, 1], [1, 0]])
    func ofSimultaneousLinksBothSidesKeepTheOneThatTheLowerIdDialled(lowOrder: [Int], highOrder: [Int]) {
        // Link 0 was dialled by the lower id.
        func survivor(of node: NodeID, to peer: NodeID, order: [Int]) -> UInt64? {
            var arbiter = LinkArbiter(node: node)
            for number in order {
                let isDialled = (number == 0) == (node == low)
                _ = arbiter.authenticated(.init(id: UInt64(number), isDialled: isDialled), to: peer, oldIsAlive: true)
            }
            return arbiter.link(to: peer)?.id
        }
        #expect(survivor(of: low, to: high, order: lowOrder) == 0)
        #expect(survivor(of: high, to: low, order: highOrder) == 0)
    }

    @Test func whoDialsAgainReplacesItsOwnLink() {
        var arbiter = LinkArbiter(node: low)
        #expect(arbiter.authenticated(.init(id: 1, isDialled: false), to: high, oldIsAlive: true) == .use(closing: nil))
        #expect(arbiter.authenticated(.init(id: 2, isDialled: false), to: high, oldIsAlive: true) == .use(closing: 1))
        #expect(arbiter.closed(1, to: high) == false)
        #expect(arbiter.link(to: high)?.id == 2)
    }

    @Test(arguments: [true, false]) func aSilentLinkGivesWayToANewerOne(isAlive: Bool) {
        var arbiter = LinkArbiter(node: low)
        _ = arbiter.authenticated(.init(id: 1, isDialled: true), to: high, oldIsAlive: true)
        let decision = arbiter.authenticated(.init(id: 2, isDialled: false), to: high, oldIsAlive: isAlive)
        #expect(decision == (isAlive ? .reject : .use(closing: 1)))
        #expect(arbiter.link(to: high)?.id == (isAlive ? 1 : 2))
    }

    @Test func onlyTheEndOfTheLinkInUseFreesItsPlace() {
        var arbiter = LinkArbiter(node: low)
        _ = arbiter.authenticated(.init(id: 1, isDialled: true), to: high, oldIsAlive: true)
        #expect(arbiter.closed(7, to: high) == false)
        #expect(arbiter.closed(1, to: high) == true)
        #expect(arbiter.link(to: high) == nil)
    }
}
