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

    /// Seconds between the tries to use large packets, as long as they are lost.
    private func waits(_ book: inout PathBook<String>, tries: Int, from time: inout Instant) -> [UInt64] {
        (0..<tries).map { _ in
            var seconds: UInt64 = 0
            while !book.isRetryDue("a", now: time.advanced(byMilliseconds: seconds * 1_000)) { seconds += 1 }
            time = time.advanced(byMilliseconds: seconds * 1_000)
            book.retrying("a", now: time)
            return seconds
        }
    }

    @Test func largePacketsAreTriedAgainSoonAndThenEverMoreRarely() {
        var book = book
        var time = start
        book.lostLarge("a", now: time)
        book.connected("a", segmentBytes: 1_220, now: time)
        let first = waits(&book, tries: 9, from: &time)
        #expect(first == [10, 20, 40, 80, 160, 320, 600, 600, 600])
        // Another link to the peer: the way may be another.
        book.mayHaveChanged("a")
        let second = waits(&book, tries: 2, from: &time)
        #expect(second == [10, 20])
    }

    @Test func largePacketsStayWhenTheyPassAndATryThatFailsLaterIsNotMadeAgainSooner() {
        var book = book
        var time = start
        book.lostLarge("a", now: time)
        _ = waits(&book, tries: 3, from: &time)
        book.connected("a", segmentBytes: nil, now: time)
        #expect(book.segmentBytes(for: "a") == nil)
        #expect(!book.isKnownToLose("a"))
        #expect(!book.isRetryDue("a", now: time.advanced(byMilliseconds: 3_600_000)))
        // The handshake passed, and what came then did not.
        book.lostLarge("a", now: time)
        #expect(book.segmentBytes(for: "a") == 1_220)
        let next = waits(&book, tries: 2, from: &time)
        #expect(next == [80, 160])
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
