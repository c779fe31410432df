import KithDocument
import KithReplication

/// How presence records of others travel: whoever has news offers it to its neighbours, each of which asks one of those who
/// offer for what it lacks. So a record comes to a node once, and not once over each of its links.
///
/// A value without records: it says whom to ask for what and whom to offer what.
package struct PresenceExchange: Sendable {
    /// A link of the node.
    package typealias LinkNumber = UInt64

    /// What one link is to be told.
    package typealias Part<Item> = (link: LinkNumber, items: [Item])

    private struct Question: Sendable {
        let counter: UInt64
        let link: LinkNumber
        let since: Instant
        /// Who offers the same or a later one.
        var others: [LinkNumber]
    }

    private struct News: Sendable {
        let counter: UInt64
        /// Who has it.
        var holders: [LinkNumber]
    }

    private var questions: [NodeID: Question] = [:]
    private var news: [NodeID: News] = [:]

    package init() {}

    /// Whether nothing waits to be offered.
    package var hasNews: Bool { !news.isEmpty }

    /// A neighbour has records.
    /// - Parameter isKnown: whether a record that is as new is here already.
    /// - Returns: whose records to ask it for.
    package mutating func offered(
        _ offers: [PresenceOffer], by link: LinkNumber, now: Instant, isKnown: (PresenceOffer) -> Bool
    ) -> [NodeID] {
        var wanted: [NodeID] = []
        for offer in offers {
            if let known = news[offer.node], known.counter <= offer.counter { news[offer.node]?.holders.append(link) }
            if isKnown(offer) { continue }
            let question = questions[offer.node]
            if let question, question.counter >= offer.counter, !isOverdue(question, now) {
                if question.counter == offer.counter, question.others.count < NodeLimits.presenceOffers {
                    questions[offer.node]?.others.append(link)
                }
                continue
            }
            guard question != nil || questions.count < NodeLimits.presenceNodes else { continue }
            questions[offer.node] = Question(counter: offer.counter, link: link, since: now, others: [])
            wanted.append(offer.node)
        }
        return wanted
    }

    private func isOverdue(_ question: Question, _ now: Instant) -> Bool {
        now.milliseconds(since: question.since) >= NodeLimits.presenceAnswerMilliseconds
    }

    /// A record came that is news: it is to be offered.
    package mutating func heard(_ record: PresenceOffer, from link: LinkNumber) {
        var holders = [link]
        if let question = questions[record.node], question.counter <= record.counter {
            questions[record.node] = nil
            if question.counter == record.counter { holders += question.others }
        }
        news[record.node] = News(counter: record.counter, holders: holders)
    }

    /// The news for each of the links, those who have it left out. There is none afterwards.
    package mutating func takeNews(for links: [LinkNumber]) -> [Part<PresenceOffer>] {
        let all = news.keys.sorted().compactMap { node in news[node].map { (node, $0) } }
        news = [:]
        return links.compactMap { link in
            let offers = all.filter { !$0.1.holders.contains(link) }.map {
                PresenceOffer(node: $0.0, counter: $0.1.counter)
            }
            return offers.isEmpty ? nil : (link, offers)
        }
    }

    /// A link has ended: what it was asked for is asked of others.
    package mutating func ended(_ link: LinkNumber, now: Instant) -> [Part<NodeID>] {
        for node in questions.keys { questions[node]?.others.removeAll { $0 == link } }
        return askOthers(for: questions.filter { $0.value.link == link }.keys.sorted(), now: now)
    }

    /// What was asked for and does not come is asked of others.
    package mutating func overdue(now: Instant) -> [Part<NodeID>] {
        if questions.isEmpty { return [] }
        return askOthers(for: questions.filter { isOverdue($0.value, now) }.keys.sorted(), now: now)
    }

    private mutating func askOthers(for nodes: [NodeID], now: Instant) -> [Part<NodeID>] {
        var parts: [LinkNumber: [NodeID]] = [:]
        for node in nodes {
            guard let question = questions[node] else { continue }
            guard let next = question.others.first else {
                // The next offer is taken up.
                questions[node] = nil
                continue
            }
            questions[node] = Question(
                counter: question.counter, link: next, since: now, others: Array(question.others.dropFirst()))
            parts[next, default: []].append(node)
        }
        return parts.keys.sorted().map { ($0, parts[$0] ?? []) }
    }
}
