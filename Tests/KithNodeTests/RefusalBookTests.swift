import KithDocument
import Testing

@testable import KithNode

/// What is remembered of those who were turned away.
@Suite struct RefusalBookTests {
    private static func node(_ number: UInt8) -> NodeID { NodeID(bytes: [UInt8](repeating: number, count: 32))! }

    @Test func repeatsAreCountedAndTheLatestComesFirst() {
        var book = RefusalBook()
        func note(_ node: NodeID?, _ address: String?, _ reason: String, _ now: Int64) -> Bool {
            book.note(node: node, address: address, isByPeer: false, reason: reason, now: now)
        }
        let first = note(Self.node(1), "10.0.0.1:5", "revoked", 1)
        // A node is one and the same wherever it dials from.
        let again = note(Self.node(1), "10.0.0.1:6", "revoked", 2)
        let other = note(nil, "10.0.0.2", "not in this group", 3)
        let third = note(nil, "10.0.0.3", "not in this group", 4)
        #expect([first, again, other, third] == [true, false, true, true])
        #expect(book.latest.map(\.address) == ["10.0.0.3", "10.0.0.2", "10.0.0.1:5"])
        #expect(book.latest.last?.count == 2 && book.latest.last?.since == 1 && book.latest.last?.lastAt == 2)
    }

    @Test func whatKeptTwoApartIsForgottenWhenTheySpeakAndALieIsNot() {
        var book = RefusalBook()
        for lasts in [false, true] {
            let isNew = book.note(
                node: Self.node(1), address: nil, isByPeer: true, reason: "\(lasts)", lasts: lasts, now: 1)
            #expect(isNew)
        }
        book.forget(Self.node(1))
        #expect(book.latest.map(\.reason) == ["true"] && book.names(Self.node(1)))
    }

    @Test func aFloodOfStrangersCostsNothing() {
        var book = RefusalBook()
        for number in 0..<10_000 {
            _ = book.note(
                node: nil, address: "10.0.\(number / 256).\(number % 256)", isByPeer: false, reason: "r", now: 5)
        }
        #expect(book.latest.count == NodeLimits.refusals)
        book.expire(now: 5 + NodeLimits.refusalMilliseconds)
        #expect(book.latest.count == NodeLimits.refusals)
        // A clock set back makes nothing older, and one set far ahead no trap.
        book.expire(now: Int64.min)
        _ = book.note(node: nil, address: nil, isByPeer: false, reason: "r", now: Int64.min)
        book.expire(now: Int64.max)
        #expect(book.latest.isEmpty)
    }
}
