import KithDocument
import KithReplication
import KithTestSupport

/// Offers documents with a history without an end: as many ancestors as may come, and more; and one revision on the other.
final class DeepTree: Harm {
    private var tip: Revision?

    func round(_ number: Int, of member: HostileMember) {
        for count in [1_024, 1_025, 4_000] {
            let ancestors = (1...UInt64(count)).reversed().map { member.drawID($0) }
            let deep = member.edit("{\"deep\":\(count)}", parent: ancestors[0])
            member.offer(HostileMember.prefix + "deep\(number)", [deep.item(under: ancestors)])
            if count > 1_024, let victim = member.drawVictim() {
                member.offer(victim.document.string, [deep.item(under: ancestors)])
            }
        }
        for step in 0..<30 {
            let last = tip
            let next = member.edit(
                "{\"step\":\(number * 30 + step)}", parent: last?.id, writer: 7, version: nil)
            member.offer(HostileMember.prefix + "chain", [next.item(under: last.map { [$0.id] } ?? [])])
            tip = next
        }
        member.announceOffers()
    }
}

/// Offers documents with more leaves than anybody writes: as many as may come at once, and more, of one document and of
/// another each time.
final class WideTree: Harm {
    var rounds: Int { 4 }
    var pace: Int { 10_000 }

    func round(_ number: Int, of member: HostileMember) {
        // More than may come ends the link, so it comes last.
        for count in number < rounds ? [150] : [150, DocumentLimits.leaves + 1] {
            let leaves = (0..<count).map { member.edit("{\"leaf\":\($0)}").item() }
            member.offer(HostileMember.prefix + "wide\(number)", leaves)
            if count > DocumentLimits.leaves, let victim = member.drawVictim() {
                member.offer(victim.document.string, leaves)
            }
        }
        member.announceOffers()
    }
}

/// Makes one conflict after the other on one document, and tells each peer of others.
final class ConflictFlood: Harm {
    var pace: Int { 1_000 }
    var rounds: Int { 15 }

    func round(_ number: Int, of member: HostileMember) {
        for peer in member.peers {
            for _ in 0..<3 {
                let body = "{\"by\":\(member.random.below(1_000)),\"f\(member.random.below(5))\":\(number)}"
                member.offer(HostileMember.prefix + "flood", member.edit(body), to: peer)
            }
        }
        // A deletion that has seen nothing, and one that says that it has seen everything.
        if number.isMultiple(of: 3) {
            let seen = member.offers.suffix(20).flatMap(\.items).reduce(Version()) {
                $0.joined(with: $1.revision.version)
            }
            member.offer(
                HostileMember.prefix + "flood",
                Revision(parent: member.drawID(UInt64(number)), kind: .deleted, version: Version(writer: 1, time: 1)),
                Revision(parent: nil, kind: .deleted, version: seen))
        }
        member.announceOffers()
    }
}

/// Offers thousands of documents that must be refused: whoever remembers each of them has his disk filled.
final class RefusalFlood: Harm {
    private static let perRound = 600

    func round(_ number: Int, of member: HostileMember) {
        for place in 0..<Self.perRound {
            member.offer(HostileMember.prefix + "refused\(number)-\(place)", member.edit("no JSON"))
        }
        member.announceOffers()
    }
}
