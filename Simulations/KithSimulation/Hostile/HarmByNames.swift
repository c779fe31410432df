import KithDocument
import KithNode
import KithReplication
import KithTestSupport
import KithTransport

/// Tells of nodes that do not exist, and tells lies of those that do.
final class FalsePresence: Harm {
    var rounds: Int { 40 }
    var pace: Int { 1_000 }
    private static let strangers = 15

    func round(_ number: Int, of member: HostileMember) {
        var records = (0..<Self.strangers).map { _ in record(of: drawNode(member), number, member) }
        // Those that there are, itself among them, with a count that can't be outdone in the end.
        for peer in member.peers {
            records.append(record(of: peer, number, member, counter: number < 30 ? 1 << 60 : .max))
        }
        for record in records { for link in member.openLinks { link.tell(presence: record.encoded) } }
        // And what is no record.
        for link in member.openLinks { link.tell(presence: member.drawBytes(50)) }
    }

    private func drawNode(_ member: HostileMember) -> NodeID { NodeID(bytes: member.drawBytes(32))! }

    private func record(
        of node: NodeID, _ number: Int, _ member: HostileMember, counter: UInt64? = nil
    ) -> PresenceRecord {
        PresenceRecord(
            node: node, counter: counter ?? UInt64(number), name: "nobody \(number)", softwareVersion: "0",
            isReader: false,
            neighbours: [member.identity.nodeID, drawNode(member)].sorted(),
            databases: [
                .init(
                    name: "db0", position: Position(timeline: member.random.next(), sequence: .max), digest: .zero)
            ], instance: member.random.next(), doubled: number.isMultiple(of: 5) ? member.peers : [],
            addresses: ["10.0.0.\(number):5484", "nowhere.invalid:1"], isAnnounced: true)
    }
}

/// Announces itself with the record of another node: whoever dials that one reaches this.
final class CopiedRecord: Harm {
    var rounds: Int { 1 }

    func announced(_ member: HostileMember) -> (name: String, id: NodeID) {
        guard let victim = member.victims.first else { return (member.identity.nodeName, member.identity.nodeID) }
        return ("node-0", victim)
    }
}
