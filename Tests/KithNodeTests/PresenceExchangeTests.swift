import KithDocument
import KithNode
import KithReplication
import KithTestSupport
import Testing

@Suite struct PresenceExchangeTests {
    private func node(_ number: Int) -> NodeID { NodeID(bytes: [UInt8](repeating: UInt8(number), count: 32))! }

    private func offers(_ numbers: ClosedRange<Int>, counter: UInt64 = 7) -> [PresenceOffer] {
        numbers.map { PresenceOffer(node: node($0), counter: counter) }
    }

    private func at(_ milliseconds: UInt64) -> Instant { Instant(milliseconds: milliseconds) }

    private func expect<Item: Equatable>(
        _ parts: [PresenceExchange.Part<Item>], _ expected: [(UInt64, [Item])],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let links = parts.map { $0.link }
        let items = parts.map { $0.items }
        #expect(links == expected.map { $0.0 }, sourceLocation: sourceLocation)
        #expect(items == expected.map { $0.1 }, sourceLocation: sourceLocation)
    }

    @Test func whatSeveralOfferIsAskedOfOne() {
        var exchange = PresenceExchange()
        let first = exchange.offered(offers(1...3), by: 1, now: at(0)) { _ in false }
        let second = exchange.offered(offers(2...4), by: 2, now: at(1)) { _ in false }
        #expect(first == [node(1), node(2), node(3)])
        #expect(second == [node(4)])
    }

    @Test func whatIsKnownIsNotAskedForAndALaterRecordIs() {
        var exchange = PresenceExchange()
        let known = exchange.offered(offers(1...2), by: 1, now: at(0)) { $0.node == node(1) }
        #expect(known == [node(2)])
        let later = exchange.offered(offers(2...2, counter: 8), by: 2, now: at(1)) { _ in false }
        #expect(later == [node(2)])
    }

    @Test func whoDoesNotAnswerIsGivenUpForAnother() {
        var exchange = PresenceExchange()
        _ = exchange.offered(offers(1...2), by: 1, now: at(0)) { _ in false }
        _ = exchange.offered(offers(2...2), by: 2, now: at(1)) { _ in false }
        let early = exchange.overdue(now: at(NodeLimits.presenceAnswerMilliseconds - 1))
        #expect(early.isEmpty)
        let asked = exchange.overdue(now: at(NodeLimits.presenceAnswerMilliseconds))
        expect(asked, [(2, [node(2)])])
        // Of the other nobody else has told; whoever does next is asked.
        let next = exchange.offered(offers(1...1), by: 3, now: at(NodeLimits.presenceAnswerMilliseconds)) { _ in false }
        #expect(next == [node(1)])
    }

    @Test func whatALinkThatEndsWasAskedForIsAskedOfAnother() {
        var exchange = PresenceExchange()
        _ = exchange.offered(offers(1...3), by: 1, now: at(0)) { _ in false }
        _ = exchange.offered(offers(1...2), by: 2, now: at(1)) { _ in false }
        _ = exchange.offered(offers(1...1), by: 3, now: at(1)) { _ in false }
        let ended = exchange.ended(2, now: at(2))
        #expect(ended.isEmpty)
        let asked = exchange.ended(1, now: at(3))
        expect(asked, [(3, [node(1)])])
    }

    @Test func newsIsOfferedOnceToThoseWhoHaveItNot() {
        var exchange = PresenceExchange()
        _ = exchange.offered(offers(1...1), by: 1, now: at(0)) { _ in false }
        _ = exchange.offered(offers(1...1), by: 2, now: at(1)) { _ in false }
        exchange.heard(PresenceOffer(node: node(1), counter: 7), from: 1)
        // Meanwhile another one has got it as well.
        _ = exchange.offered(offers(1...1), by: 3, now: at(2)) { _ in true }
        let news = exchange.takeNews(for: [1, 2, 3, 4])
        expect(news, [(4, offers(1...1))])
        let later = exchange.takeNews(for: [1, 2, 3, 4])
        #expect(later.isEmpty)
    }

    /// A mesh of 200 on whose links everybody's record goes round: the bodies are counted.
    @Test func everyRecordComesToEveryNodeOnce() {
        let seed: UInt64 = 20261130
        var random = SeededGenerator(seed: seed)
        let count = 200
        let neighbours = (0..<count).map { place in
            (0..<8).flatMap { [(place + (1 << $0)) % count, (place + count - (1 << $0)) % count] }
        }
        var exchanges = (0..<count).map { _ in PresenceExchange() }
        var has = [Bool](repeating: false, count: count)
        let record = PresenceOffer(node: node(1), counter: 1)
        var bodies = 0
        // Offers on their way, as pairs of nodes.
        var offered: [(from: Int, to: Int)] = []
        func tell(_ place: Int, _ offered: inout [(from: Int, to: Int)], _ exchanges: inout [PresenceExchange]) {
            for part in exchanges[place].takeNews(for: neighbours[place].map(UInt64.init)) {
                offered.append((place, Int(part.link)))
            }
        }
        has[0] = true
        exchanges[0].heard(record, from: 1_000)
        tell(0, &offered, &exchanges)
        var asked: [(of: Int, by: Int)] = []
        while !offered.isEmpty || !asked.isEmpty {
            if !offered.isEmpty, asked.isEmpty || random.chance(1, in: 2) {
                let (from, to) = offered.remove(at: random.below(offered.count))
                let wanted = exchanges[to].offered([record], by: UInt64(from), now: at(0)) { _ in has[to] }
                if !wanted.isEmpty { asked.append((from, to)) }
            } else {
                let (from, to) = asked.remove(at: random.below(asked.count))
                bodies += 1
                has[to] = true
                exchanges[to].heard(record, from: UInt64(from))
                tell(to, &offered, &exchanges)
            }
        }
        #expect(!has.contains(false), "seed \(seed)")
        #expect(bodies == count - 1, "seed \(seed)")
    }
}
