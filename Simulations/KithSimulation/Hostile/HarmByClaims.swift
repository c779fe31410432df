import KithDocument
import KithReplication
import KithTestSupport

/// Says that its sequence is far beyond what it has, with the largest numbers that there are. Who believes it must go on
/// with the others all the same, and reckon with such numbers.
final class FarAhead: Harm {
    /// The last two are beyond what may be said, and end the link.
    private static let far: [UInt64] = [1 << 40, UInt64(Int64.max) - 1, UInt64(Int64.max), 1 << 63, .max]
    private var step = 0

    var rounds: Int { 30 }

    func summary(_ offered: ReplicaSummary, on link: HostileLink) -> ReplicaSummary {
        let sequence = Self.far[min(step, Self.far.count - 1)]
        return ReplicaSummary(
            position: Position(timeline: offered.position.timeline, sequence: sequence), digest: offered.digest,
            documents: sequence)
    }

    func round(_ number: Int, of member: HostileMember) {
        step = number / 6
        member.announceOffers()
        // And of the peers' own databases: a checkpoint beyond their ends.
        for link in member.openLinks {
            for database in link.peerDatabases {
                link.lastFeed += 1
                link.say(.open(feed: (1 << 20) + link.lastFeed, database: database.number))
                link.say(
                    .subscribe(
                        feed: (1 << 20) + link.lastFeed,
                        after: Position(timeline: database.state.position.timeline, sequence: Self.far[min(step, 4)])))
            }
        }
    }

    func takes(_ frame: Frame, on link: HostileLink) -> Bool {
        guard let message = try? Message(frame) else { return false }
        return message.feedNumber.map { $0 > 1 << 20 } ?? false
    }
}

/// Says that it has all that anybody has, whatever anybody tells: so nobody should send it anything, and others ask it for
/// what it never delivers.
final class ClaimsAll: Harm {
    private var claimed = 0

    var rounds: Int { 40 }

    func summary(_ offered: ReplicaSummary, on link: HostileLink) -> ReplicaSummary {
        guard let state = link.peerDatabases.first?.state else { return offered }
        return ReplicaSummary(position: offered.position, digest: state.digest, documents: state.documents)
    }

    func round(_ number: Int, of member: HostileMember) {
        claimed = member.claimHeard(from: claimed)
        member.announceOffers()
    }

    /// Whoever asks waits for ever, or hears that it is gone.
    func takes(_ frame: Frame, on link: HostileLink) -> Bool {
        guard frame.type == .want else { return false }
        return link.member.random.chance(1, in: 2)
    }
}
