import KithDocument
import KithNetwork
import KithNode
import KithReplication
import Testing

/// Two nodes with one identity: what shows it, and for how long it is believed.
@Suite struct TwinTests {
    private let own = NodeID(bytes: [UInt8](repeating: 1, count: 32))!
    private let other = NodeID(bytes: [UInt8](repeating: 2, count: 32))!
    private let third = NodeID(bytes: [UInt8](repeating: 3, count: 32))!

    private func book(earlier: [UInt64] = []) -> TwinBook {
        TwinBook(node: own, instance: 10, earlier: earlier, now: Instant(milliseconds: 0))
    }

    private func record(_ node: NodeID, _ instance: UInt64, doubled: [NodeID] = []) -> PresenceRecord {
        PresenceRecord(
            node: node, counter: 1, name: "den", softwareVersion: "1", isReader: false, neighbours: [], databases: [],
            instance: instance, doubled: doubled)
    }

    private func at(_ milliseconds: UInt64) -> Instant { Instant(milliseconds: milliseconds) }

    @Test func restartsAreNoTwinsAndAnInstanceThatComesBackIsOne() {
        var book = book()
        for instance: UInt64 in 20...40 { book.hear(record(other, instance), isNews: true, now: at(instance)) }
        #expect(book.found(now: at(50)).isEmpty)
        book.hear(record(other, 38), isNews: false, now: at(51))
        #expect(book.found(now: at(51)).isEmpty, "what is no news goes round for a while")
        book.hear(record(other, 38), isNews: true, now: at(52))
        #expect(book.found(now: at(52)) == [other])
        #expect(book.all(now: at(52)) == [other])
    }

    @Test func itIsForgottenSomeTimeAfterItLastShowed() {
        var book = book()
        for instance: UInt64 in [1, 2, 1] { book.hear(record(other, instance), isNews: true, now: at(0)) }
        let kept = NodeLimits.twinMilliseconds
        #expect(book.hasFound(other, now: at(kept - 1)))
        book.note(other, now: at(kept - 1))
        #expect(book.hasFound(other, now: at(kept + 5)))
        #expect(!book.hasFound(other, now: at(2 * kept)))
        #expect(book.expire(now: at(2 * kept)).isEmpty)
        #expect(book.all(now: at(2 * kept)).isEmpty)
    }

    @Test func ofItselfANodeKnowsItsEarlierProcesses() {
        var book = book(earlier: [8, 9])
        for instance: UInt64 in [10, 9, 8, 0] { book.hear(record(own, instance), isNews: false, now: at(5)) }
        #expect(book.found(now: at(5)).isEmpty)
        var sees = book
        sees.hear(record(own, 11), isNews: false, now: at(5))
        #expect(sees.found(now: at(5)) == [own])
        // Nor does what an earlier process said go round for ever: then that process still runs, from before the copy.
        let late = at(2 * NodeLimits.presenceLifeMilliseconds)
        book.hear(record(own, 9), isNews: false, now: late)
        #expect(book.found(now: late) == [own])
    }

    @Test func whatOthersSayIsBelievedAndNotPassedOnAsOnesOwn() {
        var book = book()
        book.hear(record(third, 1, doubled: [own, other]), isNews: true, now: at(0))
        #expect(book.all(now: at(1)) == [own, other])
        #expect(book.found(now: at(1)).isEmpty)
        var hears = book
        hears.hear(record(third, 1, doubled: [other]), isNews: true, now: at(2))
        #expect(hears.all(now: at(2)) == [other], "the last word counts")
        #expect(book.all(now: at(NodeLimits.presenceLifeMilliseconds)).isEmpty)
    }

    @Test func aNodeThatDialsItselfIsDialledByItself() throws {
        let address = try Endpoint("10.0.0.1:5484", defaultPort: 5484)
        var book = book()
        book.dialledSelf(at: address, now: at(0))
        book.acceptedSelf(isDialling: false, now: at(5))
        book.acceptedSelf(isDialling: true, now: at(20))
        book.dialledSelf(at: address, now: at(25))
        let later = at(NodeLimits.selfDialMilliseconds + 30)
        #expect(book.expire(now: later).isEmpty)
        #expect(book.found(now: later).isEmpty)
        // One address of several may be the node's own without a word, when another of them was faster.
        book.acceptedSelf(isDialling: true, now: later)
        #expect(book.expire(now: at(2 * NodeLimits.selfDialMilliseconds + 60)).isEmpty)
        #expect(book.found(now: later).isEmpty)
    }

    @Test func aDialToOneselfThatWasGivenUpIsNoTwinsDial() {
        var book = book()
        // Of two addresses that were raced one was the node's own; the other was faster, and the listener tells of it later.
        book.gaveUp(dials: 1, now: at(0))
        book.acceptedSelf(isDialling: false, now: at(40))
        #expect(book.found(now: at(40)).isEmpty)
        // It stands for one, and for a while.
        var second = book
        second.acceptedSelf(isDialling: false, now: at(50))
        #expect(second.found(now: at(50)) == [own])
        book.gaveUp(dials: 100, now: at(60))
        book.acceptedSelf(isDialling: false, now: at(60 + NodeLimits.selfDialMilliseconds))
        #expect(book.found(now: at(60 + NodeLimits.selfDialMilliseconds)) == [own])
    }

    @Test func whoAnswersAsOneselfElsewhereIsATwin() throws {
        let address = try Endpoint("10.0.0.1:5484", defaultPort: 5484)
        var book = book()
        book.dialledSelf(at: address, now: at(0))
        #expect(book.expire(now: at(NodeLimits.selfDialMilliseconds - 1)).isEmpty)
        #expect(book.expire(now: at(NodeLimits.selfDialMilliseconds)) == [address])
        #expect(book.hasFound(own, now: at(NodeLimits.selfDialMilliseconds)))
        // And who was dialled by somebody with its own identity, while it dialled nobody.
        var dialled = self.book()
        dialled.acceptedSelf(isDialling: false, now: at(0))
        #expect(dialled.hasFound(own, now: at(0)))
    }
}
