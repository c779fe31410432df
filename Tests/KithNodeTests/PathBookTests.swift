import KithNode
import KithReplication
import Testing

@Suite struct PathBookTests {
    private var book = PathBook<String>(sizes: [1_220, 536])
    private let start = Instant(milliseconds: 1_000)

    @Test func nothingIsLimitedAtFirst() {
        #expect(book.segmentBytes(for: "a") == nil)
        #expect(!book.isKnownToLose("a"))
    }

    @Test func packetsThatAreLostMakeThemSmallerAndSmaller() {
        var book = book
        book.lostLarge("a", now: start)
        #expect(book.segmentBytes(for: "a") == 1_220)
        book.lostLarge("a", now: start)
        #expect(book.segmentBytes(for: "a") == 536)
        book.lostLarge("a", now: start)
        #expect(book.segmentBytes(for: "a") == 536)
        #expect(book.isKnownToLose("a"))
        #expect(book.segmentBytes(for: "b") == nil)
    }

    @Test func everyThirdDialIsSmallWhereHandshakesHaveNoEnd() {
        var book = book
        let sizes = (0..<7).map { _ in
            defer { book.handshakeSilent("a", now: start) }
            return book.segmentBytes(for: "a")
        }
        #expect(sizes == [nil, nil, 1_220, nil, nil, 1_220, nil])
        #expect(!book.isKnownToLose("a"), "a guess is not named")
    }

    @Test func largePacketsAreTriedAgainAfterTheTimeAndStayWhenTheyPass() {
        var book = book
        book.lostLarge("a", now: start)
        book.connected("a", segmentBytes: 1_220, now: start)
        let later = start.advanced(byMilliseconds: 600_000)
        #expect(!book.isRetryDue("a", after: 600_000, now: start.advanced(byMilliseconds: 599_999)))
        #expect(book.isRetryDue("a", after: 600_000, now: later))
        book.retrying("a", now: later)
        #expect(!book.isRetryDue("a", after: 600_000, now: later))
        book.connected("a", segmentBytes: nil, now: later)
        #expect(book.segmentBytes(for: "a") == nil)
        #expect(!book.isKnownToLose("a"))
    }

    @Test func whatWasLearntOfAnAddressHoldsForItsNodeUntilNobodyAnswersThere() {
        var book = book
        book.lostLarge("address", now: start)
        book.move("address", to: "node")
        #expect(book.segmentBytes(for: "address") == nil)
        #expect(book.segmentBytes(for: "node") == 1_220)
        book.unreachable("node")
        #expect(book.segmentBytes(for: "node") == nil)
        book.lostLarge("node", now: start)
        book.forgetAll()
        #expect(book.segmentBytes(for: "node") == nil)
    }
}
