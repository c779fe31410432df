import KithDocument
import KithNode
import KithReplication
import Testing

@Suite struct LinkArbiterTests {
    private let low = NodeID(bytes: [UInt8](repeating: 1, count: 32))!
    private let high = NodeID(bytes: [UInt8](repeating: 2, count: 32))!
    private let start = Instant(milliseconds: 10_000)

    /// An arbiter of the lower id with a link that it dialled, and one that the other dialled, which waits.
    private func contended() -> LinkArbiter {
        var arbiter = LinkArbiter(node: low)
        let used = arbiter.authenticated(.init(id: 1, isDialled: true), to: high, oldIsAlive: true, now: start)
        #expect(used == [.use(1)])
        let asked = arbiter.authenticated(.init(id: 2, isDialled: false), to: high, oldIsAlive: true, now: start)
        #expect(asked == [.ask(1, waiting: 2)])
        #expect(arbiter.link(to: high)?.id == 1 && arbiter.waiting == [2])
        return arbiter
    }

    /// Two links come up at once, each dialled by one side; each side sees them in either order.
    @Test(arguments: [[0, 1], [1, 0]], [[0, 1], [1, 0]])
    func ofSimultaneousLinksBothSidesKeepTheOneThatTheLowerIdDialled(lowOrder: [Int], highOrder: [Int]) {
        // Link 0 was dialled by the lower id.
        func survivor(of node: NodeID, to peer: NodeID, order: [Int]) -> UInt64? {
            var arbiter = LinkArbiter(node: node)
            for number in order {
                let isDialled = (number == 0) == (node == low)
                _ = arbiter.authenticated(
                    .init(id: UInt64(number), isDialled: isDialled), to: peer, oldIsAlive: true, now: start)
            }
            return arbiter.link(to: peer)?.id
        }
        #expect(survivor(of: low, to: high, order: lowOrder) == 0)
        #expect(survivor(of: high, to: low, order: highOrder) == 0)
    }

    @Test func whoDialsAgainReplacesItsOwnLink() {
        var arbiter = LinkArbiter(node: low)
        _ = arbiter.authenticated(.init(id: 1, isDialled: false), to: high, oldIsAlive: true, now: start)
        let actions = arbiter.authenticated(.init(id: 2, isDialled: false), to: high, oldIsAlive: true, now: start)
        #expect(actions == [.end(1), .use(2)])
        let closed = arbiter.closed(1, to: high)
        #expect(!closed.wasInUse && closed.actions.isEmpty)
        #expect(arbiter.link(to: high)?.id == 2)
    }

    @Test func aLinkThatIsTakenForDeadGivesWayAtOnce() {
        var arbiter = LinkArbiter(node: low)
        _ = arbiter.authenticated(.init(id: 1, isDialled: true), to: high, oldIsAlive: true, now: start)
        let actions = arbiter.authenticated(.init(id: 2, isDialled: false), to: high, oldIsAlive: false, now: start)
        #expect(actions == [.end(1), .use(2)])
    }

    @Test func onlyTheEndOfTheLinkInUseFreesItsPlace() {
        var arbiter = LinkArbiter(node: low)
        _ = arbiter.authenticated(.init(id: 1, isDialled: true), to: high, oldIsAlive: true, now: start)
        let other = arbiter.closed(7, to: high)
        #expect(!other.wasInUse)
        let own = arbiter.closed(1, to: high)
        #expect(own.wasInUse && own.actions.isEmpty)
        #expect(arbiter.link(to: high) == nil)
    }

    @Test func onlyTheAnswerToItsOwnPingKeepsALinkWhosePlaceIsWanted() {
        var arbiter = contended()
        // An answer that was on its way already, to a ping of a second before.
        let late = arbiter.answered(1, to: high, pingedAt: Instant(milliseconds: 9_000))
        #expect(late.isEmpty && arbiter.waiting == [2])
        let ofAnother = arbiter.answered(2, to: high, pingedAt: start)
        #expect(ofAnother.isEmpty)
        let own = arbiter.answered(1, to: high, pingedAt: start)
        #expect(own == [.giveWay(2, isSure: true)])
        #expect(arbiter.link(to: high)?.id == 1 && arbiter.waiting.isEmpty)
        let over = arbiter.timeIsUp(for: 2, to: high, oldMoves: false)
        #expect(over.isEmpty, "it is decided")
    }

    /// Who answered a moment before may be gone, and the other link be that of its next process.
    @Test func anAnswerToAPingOfAMomentBeforeIsNotSure() {
        var arbiter = contended()
        let actions = arbiter.answered(1, to: high, pingedAt: Instant(milliseconds: 9_999))
        #expect(actions == [.giveWay(2, isSure: false)])
    }

    @Test func whereTwoNodesRunAsThePeerTheLinkInUseStaysWhileItAnswers() {
        var arbiter = LinkArbiter(node: low)
        _ = arbiter.authenticated(.init(id: 1, isDialled: false), to: high, oldIsAlive: true, now: start)
        for id: UInt64 in [2, 3] {
            let asked = arbiter.authenticated(
                .init(id: id, isDialled: id == 3, tieBreak: 9), to: high, oldIsAlive: true, hasTwin: true, now: start)
            #expect(asked == [.ask(1, waiting: id)])
            let answered = arbiter.answered(1, to: high, pingedAt: start)
            #expect(answered == [.giveWay(id, isSure: true)])
        }
        let replaced = arbiter.authenticated(
            .init(id: 4, isDialled: false), to: high, oldIsAlive: false, hasTwin: true, now: start)
        #expect(replaced == [.end(1), .use(4)])
    }

    @Test(arguments: [false, true]) func withoutAnAnswerTheOtherTakesThePlaceUnlessBytesPass(oldMoves: Bool) {
        var arbiter = contended()
        let actions = arbiter.timeIsUp(for: 2, to: high, oldMoves: oldMoves)
        #expect(actions == (oldMoves ? [.discard(2)] : [.end(1), .use(2)]))
        #expect(arbiter.link(to: high)?.id == (oldMoves ? 1 : 2))
        let again = arbiter.timeIsUp(for: 2, to: high, oldMoves: oldMoves)
        #expect(again.isEmpty)
    }

    @Test func whenTheLinkInUseEndsTheOneThatWaitsIsUsedAtOnce() {
        var arbiter = contended()
        let closed = arbiter.closed(1, to: high)
        #expect(closed.wasInUse && closed.actions == [.use(2)])
        #expect(arbiter.link(to: high)?.id == 2 && arbiter.waiting.isEmpty)
    }

    @Test func oneThatWaitsMayEndAndALaterOneTakesItsTurn() {
        var arbiter = contended()
        var ended = arbiter
        let closed = ended.closed(2, to: high)
        #expect(!closed.wasInUse && closed.actions.isEmpty && ended.waiting.isEmpty)
        let third = arbiter.authenticated(
            .init(id: 3, isDialled: false), to: high, oldIsAlive: true, now: start.advanced(byMilliseconds: 500))
        #expect(third == [.discard(2), .ask(1, waiting: 3)])
        let early = arbiter.timeIsUp(for: 2, to: high, oldMoves: false)
        #expect(early.isEmpty, "its time is that of the one before")
        let used = arbiter.timeIsUp(for: 3, to: high, oldMoves: false)
        #expect(used == [.end(1), .use(3)])
    }
}
