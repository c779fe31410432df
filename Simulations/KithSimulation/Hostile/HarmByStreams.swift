import KithDocument
import KithReplication
import KithTestSupport

/// Says again what it said before: on the same connection, and on the next one.
final class Replays: Harm {
    private var earlier: [NodeID: [UInt8]] = [:]

    var pace: Int { 3_000 }

    func round(_ number: Int, of member: HostileMember) {
        member.offer(HostileMember.prefix + "again", member.edit("{\"round\":\(number)}"))
        member.announceOffers()
        for link in member.openLinks {
            guard let peer = link.peer else { continue }
            if let said = earlier[peer], !said.isEmpty {
                // All of it, all but its hello, or an end of it that begins anywhere.
                let start =
                    switch number % 3 {
                    case 0: 0
                    case 1: min(said.count, Self.firstFrame(said))
                    default: member.random.below(said.count)
                    }
                link.say(Array(said[start...]))
            }
            earlier[peer] = link.said
        }
    }

    private static func firstFrame(_ said: [UInt8]) -> Int {
        said.count < 5 ? said.count : 5 + said[..<4].reduce(0) { $0 << 8 | Int($1) }
    }
}

/// Begins frames and never ends them: of every length, also of more bytes than may be.
final class EndlessFrame: Harm {
    private static let lengths = [1, 1_000, 64 << 10, 1 << 20, (1 << 20) + 1, 1 << 31, 0xFFFF_FFFF]
    private static let types: [UInt8] = [0x04, 0x20, 0x21, 0x13, 0x80, 0xFF, 0x05]

    var rounds: Int { 60 }
    var pace: Int { 1_500 }

    func round(_ number: Int, of member: HostileMember) {
        for link in member.openLinks {
            // Bytes for the frame that was begun, whatever it was; now and then a new one.
            if number % 5 == 1 {
                link.say(
                    HostileFrame.head(
                        Self.types[number / 5 % Self.types.count], Self.lengths[number / 7 % Self.lengths.count]))
            } else {
                link.say([UInt8](repeating: 0xA0, count: 100))
            }
        }
    }
}

/// Sends random bytes, and messages that were changed at random.
final class Malformed: Harm {
    var rounds: Int { 80 }
    var pace: Int { 700 }

    func round(_ number: Int, of member: HostileMember) {
        for link in member.openLinks { link.say(bytes(number, member)) }
    }

    private func bytes(_ number: Int, _ member: HostileMember) -> [UInt8] {
        switch number % 6 {
        case 0: return member.drawBytes(member.random.within(1...2_000))
        case 1:
            let type = member.random.pick(FrameType.allCases)
            return HostileFrame.bytes(type.rawValue, member.drawBytes(member.random.within(0...300)))
        case 2:
            // Nested far deeper than is passed over, under a key that nobody knows.
            let nested = [0xA1, 0x18, 99] + [UInt8](repeating: 0x81, count: member.random.within(15...4_000)) + [0]
            return HostileFrame.bytes(FrameType.ping.rawValue, nested)
        case 3:
            // An array of more items than there are bytes; a map without end; a number that could be shorter.
            let payload = member.random.pick([
                [0xA1, 0x01, 0x9B] + [UInt8](repeating: 0xFF, count: 8), [0xBF, 0x01, 0x02, 0xFF],
                [0xA1, 0x18, 0x01, 0x02],
                [0xBB] + [UInt8](repeating: 0xFF, count: 8), [0xA2, 0x02, 0x00, 0x01, 0x00],
                [0xA1, 0x01, 0xFB, 0, 0, 0, 0, 0, 0, 0, 0],
            ])
            return HostileFrame.bytes(member.random.pick(FrameType.allCases).rawValue, payload)
        default:
            var bytes = CBORWriter()
            let feed = UInt64(member.random.below(4))
            bytes.append(
                frame: member.random.pick([
                    .open(feed: feed, database: feed), .subscribe(feed: feed, after: nil), .credit(.max), .credit(1),
                    .want(feed: feed, request: feed, wants: []), .rangeQuery(feed: feed, firstBytes: [1, 1, 0]),
                    .rangeList(feed: feed, ranges: [3, 2]), .presence([1, 2, 3]), .statements([[1, 2, 3], []]),
                ]))
            var changed = bytes.bytes
            let place = member.random.below(changed.count)
            if number % 6 == 5 { changed[place] ^= UInt8(1 << member.random.below(8)) }
            return changed
        }
    }
}
