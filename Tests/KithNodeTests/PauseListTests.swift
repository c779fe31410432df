import KithDocument
import Testing

@testable import KithNode

@Suite struct PauseListTests {
    @Test func aPauseOfAllEndsNoLongerOneOfAPeer() throws {
        let (long, short) = (try #require(NodeID(bytes: node(1))), try #require(NodeID(bytes: node(2))))
        var list = PauseList()
        list.set(PauseList.Pause(node: long, until: nil))
        list.set(PauseList.Pause(node: short, until: 1_000))
        list.set(PauseList.Pause(node: nil, until: 2_000))
        list.expire(now: 2_000)
        #expect(list.pause(of: long, now: 2_000)?.until == .some(nil))
        #expect(list.pause(of: short, now: 2_000) == nil)
    }

    @Test func theLastWordOnAPeerCounts() throws {
        let peer = try #require(NodeID(bytes: node(1)))
        var list = PauseList()
        list.set(PauseList.Pause(node: peer, until: nil))
        list.set(PauseList.Pause(node: peer, until: 5))
        #expect(list.pause(of: peer, now: 6) == nil)
        list.set(PauseList.Pause(node: nil, until: nil))
        list.clear(nil)
        #expect(list.pauses.isEmpty)
    }

    private func node(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }
}
