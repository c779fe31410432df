import KithDocument
import KithReplication

/// Sends a byte now and then: of its frames, and of documents that others have and that it says it has. Who asks it for
/// them must not wait for it.
final class SlowLoris: Harm {
    private var claimed = 0

    var rounds: Int { 400 }
    var pace: Int { 1_000 }

    func round(_ number: Int, of member: HostileMember) {
        claimed = member.claimHeard(from: claimed)
        // To half of them in words, with documents that come byte by byte; to the others byte by byte.
        for (index, link) in member.openLinks.enumerated() {
            if index.isMultiple(of: 2) {
                link.announceOffers(member.databases)
                trickle(link)
            } else {
                let ping = HostileFrame.numbers(.credit, [1: 1])
                link.say([ping[number % ping.count]])
            }
        }
    }

    private func trickle(_ link: HostileLink) {
        guard let asked = link.asked else { return }
        link.say(
            HostileFrame.map(.revisionChunk, 5) { writer in
                for value in [asked.feed, asked.request, 24 << 20, asked.sent].enumerated() {
                    writer.append(uint: UInt64(value.offset + 1))
                    writer.append(uint: value.element)
                }
                writer.append(uint: 5)
                writer.append(bytes: [0x82])
            })
        link.asked?.sent += 1
    }

    func takes(_ frame: Frame, on link: HostileLink) -> Bool {
        guard frame.type == .want, case .want(let feed, let number, _)? = try? Message(frame) else { return false }
        link.asked = link.asked ?? (feed, number, 0)
        return true
    }
}

/// Asks for everything again and again, and reads all of it: feeds that are opened and ended, all documents, all ranges,
/// comparisons.
final class AsksAgain: Harm {
    var rounds: Int { 40 }
    var pace: Int { 1_000 }
    var carriesDatabases: Bool { false }

    func round(_ number: Int, of member: HostileMember) {
        for link in member.openLinks {
            // What was read is granted anew.
            if link.owed > 0 { link.say(.credit(link.owed)) }
            link.owed = 0
            for database in link.peerDatabases {
                if link.lastFeed > 0 {
                    link.say(
                        HostileFrame.map(.unsubscribe, 3) {
                            $0.append(uint: 1)
                            $0.append(uint: link.lastFeed)
                            $0.append(uint: 2)
                            $0.append(uint: 77)
                            $0.append(uint: 3)
                            $0.append(text: "again")
                        })
                }
                link.lastFeed += 1
                ask(link, database.number, member)
            }
        }
    }

    private func ask(_ link: HostileLink, _ database: UInt64, _ member: HostileMember) {
        let feed = link.lastFeed
        link.say(.open(feed: feed, database: database))
        link.say(.subscribe(feed: feed, after: nil))
        link.say(.rangeQuery(feed: feed, firstBytes: []))
        link.say(.compare(feed: feed, documents: member.heard.prefix(100).map(\.document)))
        let wants = member.heard.prefix(100).map { change in
            Want(document: change.document, revisions: change.leaves.map(\.id), known: [])
        }
        guard !wants.isEmpty else { return }
        for request in 1...20 { link.say(.want(feed: feed, request: UInt64(request), wants: wants)) }
    }

    func takes(_ frame: Frame, on link: HostileLink) -> Bool {
        guard let message = try? Message(frame), message.feedNumber != nil else { return false }
        if case .changes(let changes) = message { link.member.note(changes.changes) }
        if frame.type.rawValue & 0xF0 == 0x20 {
            link.owed += UInt64(frame.payload.count + 5)
        }
        return true
    }
}

extension Message {
    /// The feed that it is about; nil where it is about none.
    var feedNumber: UInt64? {
        switch self {
        case .changes(let changes): changes.feed
        case .revisions(let revisions): revisions.feed
        case .revisionChunk(let chunk): chunk.feed
        case .feedEnded(let end), .unsubscribe(let end): end.feed
        case .unknown(let feed, _), .rangeChanges(let feed, _, _), .open(let feed, _, _),
            .subscribe(let feed, _), .want(let feed, _, _), .refused(let feed, _), .rangeQuery(let feed, _),
            .rangeList(let feed, _), .compare(let feed, _):
            feed
        case .rangeDigests(let answer): answer.feed
        case .compared(let compared): compared.feed
        case .ack(let ack): ack.feed
        default: nil
        }
    }
}
