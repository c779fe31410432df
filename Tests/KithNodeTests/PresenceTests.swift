import KithDocument
import KithNode
import KithReplication
import KithTestSupport
import Testing

@Suite struct PresenceTests {
    private let own = NodeID(bytes: [UInt8](repeating: 1, count: 32))!
    private let other = NodeID(bytes: [UInt8](repeating: 2, count: 32))!

    private func record(_ node: NodeID, _ counter: UInt64, neighbours: [NodeID] = []) -> PresenceRecord {
        PresenceRecord(
            node: node, counter: counter, name: "den", softwareVersion: "1.0", isReader: false, neighbours: neighbours,
            databases: [
                .init(name: "notes", position: Position(timeline: 7, sequence: 8), digest: Digest256(bytes: own.bytes))
            ], instance: 77, doubled: [other])
    }

    @Test func aRecordReadsBackAsItWasWritten() throws {
        let record = record(own, 42, neighbours: [other])
        #expect(try PresenceRecord(encoded: record.encoded) == record)
    }

    @Test func aDamagedRecordIsAnErrorAndNeverATrap() {
        let encoded = record(own, 42, neighbours: [other]).encoded
        for end in encoded.indices {
            #expect(throws: ProtocolError.self) { try PresenceRecord(encoded: Array(encoded[..<end])) }
        }
        let seed: UInt64 = 20261130
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            var bytes = encoded
            for _ in 0...random.below(3) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            _ = try? PresenceRecord(encoded: bytes)
        }
    }

    @Test func aRecordIsNewsOnceAndOlderOnesNever() {
        var book = PresenceBook(node: own)
        let now = Instant(milliseconds: 0)
        let heard = [5, 5, 4, 6].map { counter in book.hear(record(other, counter), encoded: [], now: now) }
        #expect(heard == [true, false, false, true])
        let ownIsNews = book.hear(record(own, 9), encoded: [], now: now)
        #expect(!ownIsNews)
        #expect(book.records.map(\.counter) == [6])
    }

    @Test func whoIsNotHeardAnyMoreVanishesFromTheMap() {
        var book = PresenceBook(node: own)
        _ = book.hear(record(other, 1), encoded: [], now: Instant(milliseconds: 0))
        book.expire(now: Instant(milliseconds: NodeLimits.presenceLifeMilliseconds - 1))
        #expect(book.record(of: other) != nil)
        book.expire(now: Instant(milliseconds: NodeLimits.presenceLifeMilliseconds))
        #expect(book.record(of: other) == nil)
    }

    @Test func onesOwnRecordIsSentWhenItChangesAndWhenItGrowsOldButNotAllTheTime() {
        var book = PresenceBook(node: own)
        func send(at time: UInt64, neighbours: [NodeID] = []) -> UInt64? {
            book.ownRecord(counter: 100, now: Instant(milliseconds: time)) { counter in
                record(own, counter, neighbours: neighbours)
            }?.counter
        }
        #expect(send(at: 0) == 100)
        #expect(send(at: 1) == nil)
        #expect(send(at: 2, neighbours: [other]) == nil)
        #expect(send(at: NodeLimits.presenceMinimumMilliseconds, neighbours: [other]) == 101)
        let later = NodeLimits.presenceMinimumMilliseconds + NodeLimits.presenceIntervalMilliseconds + 1
        #expect(send(at: later, neighbours: [other]) == 102)
    }

    @Test func inALargeMeshRecordsAreSentLessOftenAndLiveLonger() {
        var book = PresenceBook(node: own)
        let start = Instant(milliseconds: 0)
        for number in 0..<1_000 {
            let node = NodeID(bytes: [UInt8(number >> 8), UInt8(number & 0xff)] + [UInt8](repeating: 9, count: 30))!
            _ = book.hear(record(node, 1), encoded: [], now: start)
        }
        func send(at time: UInt64, neighbours: [NodeID] = []) -> UInt64? {
            book.ownRecord(counter: 100, now: Instant(milliseconds: time)) { counter in
                record(own, counter, neighbours: neighbours)
            }?.counter
        }
        #expect(send(at: 0) == 100)
        #expect(send(at: 19_999, neighbours: [other]) == nil)
        #expect(send(at: 20_000, neighbours: [other]) == 101)
        #expect(send(at: 79_999, neighbours: [other]) == nil)
        #expect(send(at: 80_000, neighbours: [other]) == 102)
        book.expire(now: Instant(milliseconds: 179_999))
        #expect(book.count == 1_000)
        book.expire(now: Instant(milliseconds: 180_000))
        #expect(book.count == 0)
    }

    @Test func whatIsAsNewHereIsKnownAndOfItsOwnOnlyWhatItSaid() {
        var book = PresenceBook(node: own)
        let now = Instant(milliseconds: 0)
        _ = book.hear(record(other, 5), encoded: [], now: now)
        _ = book.ownRecord(counter: 100, now: now) { record(own, $0) }
        let known = [4, 5, 6].map { book.isKnown(PresenceOffer(node: other, counter: $0)) }
        #expect(known == [true, true, false])
        // A twin's may be older than its own, and shows that there is one.
        let ownKnown = [99, 100, 101].map { book.isKnown(PresenceOffer(node: own, counter: $0)) }
        #expect(ownKnown == [false, true, false])
        #expect(book.offers == [PresenceOffer(node: other, counter: 5)])
    }

    @Test func anOldRecordThatStillGoesRoundBringsNobodyBack() {
        var book = PresenceBook(node: own)
        _ = book.hear(record(other, 7), encoded: [], now: Instant(milliseconds: 0))
        let later = Instant(milliseconds: NodeLimits.presenceLifeMilliseconds)
        book.expire(now: later)
        let heard = [7, 6, 8].map { counter in book.hear(record(other, counter), encoded: [], now: later) }
        #expect(heard == [false, false, true])
    }

    @Test func theLargestRecordThatANodeMakesIsTaken() throws {
        let nodes = (0..<NodeLimits.presenceNeighbours).map { number in
            NodeID(bytes: [UInt8(number)] + [UInt8](repeating: 9, count: 31))!
        }
        let largest = PresenceRecord(
            node: own, counter: .max, name: String(repeating: "n", count: 63), softwareVersion: "1.0", isReader: true,
            neighbours: nodes.sorted(),
            databases: (0..<NodeLimits.presenceDatabases).map { number in
                .init(
                    name: String(repeating: "d", count: 236) + String(10 + number % 90),
                    position: Position(timeline: .max, sequence: .max), digest: Digest256(bytes: own.bytes))
            }, instance: .max, doubled: Array(nodes.sorted().prefix(NodeLimits.presenceTwins)),
            addresses: [String](
                repeating: String(repeating: "a", count: NodeLimits.presenceAddressBytes),
                count: NodeLimits.presenceAddresses), isAnnounced: true)
        #expect(try PresenceRecord(encoded: largest.encoded) == largest)
    }

    @Test func aRecordOfBeforeAClockWasSetBackIsOutranked() {
        var book = PresenceBook(node: own)
        let start = Instant(milliseconds: 0)
        let soon = Instant(milliseconds: NodeLimits.presenceMinimumMilliseconds)
        _ = book.ownRecord(counter: 100, now: start) { record(own, $0) }
        _ = book.hear(record(own, 5_000), encoded: [], now: start)
        // At once would be too often, though it says the same as before.
        #expect(book.ownRecord(counter: 101, now: start) { record(own, $0) } == nil)
        #expect(book.ownRecord(counter: 101, now: soon) { record(own, $0) }?.counter == 5_001)
        // What it has said itself comes round too, and is no news.
        for counter: UInt64 in [4_000, 5_000, 5_001] { _ = book.hear(record(own, counter), encoded: [], now: soon) }
        let later = soon.advanced(byMilliseconds: NodeLimits.presenceMinimumMilliseconds)
        #expect(book.ownRecord(counter: 102, now: later) { record(own, $0) } == nil)
        // The highest counter there is can't be outranked, and traps nothing.
        _ = book.hear(record(own, .max), encoded: [], now: later)
        #expect(book.ownRecord(counter: 103, now: later) { record(own, $0) }?.counter == .max)
    }
}
