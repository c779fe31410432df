import KithDocument
import KithNode
import KithReplication
import Testing

/// Two nodes with one identity: what shows it, and for how long it is believed.
@Suite struct TwinTests {
    private let own = NodeID(bytes: [UInt8](repeating: 1, count: 32))!
    private let other = NodeID(bytes: [UInt8](repeating: 2, count: 32))!
    private let third = NodeID(bytes: [UInt8](repeating: 3, count: 32))!

    private let startedAt: UInt64 = 5_000

    private func book(earlier: [UInt64] = []) -> TwinBook {
        TwinBook(node: own, instance: 10, earlier: earlier, startedAt: Int64(startedAt))
    }

    private func record(
        _ node: NodeID, _ instance: UInt64, counter: UInt64 = 6_000, doubled: [NodeID] = []
    ) -> PresenceRecord {
        PresenceRecord(
            node: node, counter: counter, name: "den", softwareVersion: "1", isReader: false, neighbours: [],
            databases: [], instance: instance, doubled: doubled)
    }

    private func at(_ milliseconds: UInt64) -> Instant { Instant(milliseconds: milliseconds) }

    /// As where a node starts anew with a clock that was set back: what it was comes round with higher counters than what it
    /// is, until it outranks that.
    @Test func whatPeersWereBeforeAndAreAgainShowsNothing() {
        var book = book()
        for (counter, instance) in [(100, 20), (40, 21), (101, 20), (102, 21), (103, 20), (104, 21)]
            as [(UInt64, UInt64)]
        {
            book.hear(record(other, instance, counter: counter), isNews: true, now: at(counter))
        }
        #expect(book.all(now: at(105)).isEmpty)
    }

    @Test func itIsForgottenSomeTimeAfterItLastShowed() {
        var book = book()
        book.note(other, now: at(0))
        let kept = NodeLimits.twinMilliseconds
        #expect(book.hasFound(other, now: at(kept - 1)))
        book.note(other, now: at(kept - 1))
        #expect(book.hasFound(other, now: at(kept + 5)))
        #expect(!book.hasFound(other, now: at(2 * kept)))
        book.expire(now: at(2 * kept))
        #expect(book.all(now: at(2 * kept)).isEmpty)
    }

    @Test func ofItselfANodeKnowsItsEarlierProcesses() {
        var book = book(earlier: [8, 9])
        // However late: peers that slept, or were cut off, tell of it after hours.
        for time: UInt64 in [5, 10_000_000] {
            for instance: UInt64 in [10, 9, 8, 0] {
                book.hear(record(own, instance, counter: .max), isNews: false, now: at(time))
            }
            #expect(book.found(now: at(time)).isEmpty)
        }
        book.hear(record(own, 11), isNews: false, now: at(10_000_000))
        #expect(book.found(now: at(10_000_000)) == [own])
    }

    @Test func aProcessThatTheNodeForgotMadeItsRecordsBeforeTheStart() {
        var book = book()
        book.hear(record(own, 11, counter: startedAt - 1), isNews: false, now: at(5))
        #expect(book.found(now: at(5)).isEmpty)
        book.hear(record(own, 11, counter: startedAt), isNews: false, now: at(6))
        #expect(book.found(now: at(6)) == [own])
    }

    @Test func whatOthersSayIsBelievedAndNotPassedOnAsOnesOwn() {
        var book = book()
        book.hear(record(third, 1, doubled: [own, other]), isNews: true, now: at(0))
        #expect(book.all(now: at(1)) == [own, other])
        #expect(book.found(now: at(1)).isEmpty)
        #expect(!book.hasFound(other, now: at(1)), "that turns nobody away")
        var hears = book
        hears.hear(record(third, 1, doubled: [other]), isNews: true, now: at(2))
        #expect(hears.all(now: at(2)) == [other], "the last word counts")
        #expect(book.all(now: at(NodeLimits.presenceLifeMilliseconds)).isEmpty)
    }

    @Test func whoAnswersWithThisNodesIdentityIsThisNodeWhereBothEndsAreHere() {
        var book = book()
        book.met(itselfOver: 1)
        book.met(itselfOver: 2)
        #expect(!book.isItself(over: 1) && !book.isItself(over: 2))
        book.met(itselfOver: 1)
        #expect(book.isItself(over: 1) && !book.isItself(over: 2))
    }

    @Test func whatANodeSaysOfItselfCountsAsFound() {
        var book = book()
        book.hear(record(other, 1, doubled: [other]), isNews: true, now: at(0))
        #expect(book.hasFound(other, now: at(1)) && book.found(now: at(1)).isEmpty)
        #expect(!book.hasFound(other, now: at(NodeLimits.presenceLifeMilliseconds)))
    }
}
