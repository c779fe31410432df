import KithDocument
import KithReplication

/// Sends bodies that are no JSON, or not in its one form. Their ids are the right hashes.
final class BadJSON: Harm {
    private static let bodies: [[UInt8]] =
        [
            "", "{", "[]", "null", "1", "\"text\"", "{} ", " {}", "{\"a\":1,\"a\":2}", "{\"b\":1,\"a\":2}",
            "{\"a\": 1}",
            "{\"a\":NaN}", "{\"a\":Infinity}", "{\"a\":01}", "{\"a\":1e400}", "{\"a\":-0}", "{\"a\":1.0}",
            "{\"a\":\"\\ud800\"}", "{\"a\":\"\\u0041\"}", "{\"_id\":\"a\"}", "{\"a\":tru}", "{\"a\":1,}", "{\"a\":'b'}",
            "{\"\\ud800\":1}", "{\"a\":\"\u{1}\"}", "{\"a\":1}{\"b\":2}",
            String(repeating: "{\"a\":", count: 600) + "1" + String(repeating: "}", count: 600),
            "{\"a\":" + String(repeating: "[", count: 100_000),
        ].map { Array($0.utf8) } + [
            // Overlong, a surrogate, a byte that begins nothing, an end in the middle of a letter, NUL.
            Array("{\"a\":\"".utf8) + [0xC0, 0x80] + Array("\"}".utf8),
            Array("{\"a\":\"".utf8) + [0xED, 0xA0, 0x80] + Array("\"}".utf8),
            Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8), Array("{\"a\":\"".utf8) + [0xE2, 0x82], [0], [],
        ]

    func round(_ number: Int, of member: HostileMember) {
        for index in 0..<4 {
            let place = ((number - 1) * 4 + index) % Self.bodies.count
            let ids =
                [HostileMember.prefix + "json\(place)"] + [member.drawVictim()?.document.string].compactMap(\.self)
            for id in ids { member.offer(id, member.edit(Self.bodies[place])) }
        }
        member.announceOffers()
    }
}

/// Offers documents whose ids are the same text in another Unicode form, which are two documents, and ids that are none,
/// which end the link.
final class NormalisedIDs: Harm {
    private static let texts = [
        "\u{e9}", "e\u{301}", "\u{1e69}", "s\u{323}\u{307}", "s\u{307}\u{323}", "\u{212b}", "\u{c5}", "A\u{30a}",
        "\u{fb01}",
        "fi", "\u{d55c}", "\u{1112}\u{1161}\u{11ab}", "\u{200d}", "\u{feff}", "\u{202e}",
    ]
    private static let wrong = ["", "_design", "a\u{0}b", String(repeating: "i", count: 513)]

    func round(_ number: Int, of member: HostileMember) {
        for text in Self.texts {
            member.offer(HostileMember.prefix + text, member.edit("{\"round\":\(number),\"\(text)\":1}", writer: 9))
        }
        member.announceOffers()
        guard number.isMultiple(of: 4) else { return }
        let id = Self.wrong[number / 4 % Self.wrong.count]
        for link in member.openLinks {
            link.lastFeed += 1
            link.say(.compare(feed: 1, documents: [DocumentID(unchecked: id)]))
        }
    }
}

/// Stamps its edits with the year 9999, and with the last moment that is allowed; its clock shows any time.
final class Year9999: Harm {
    private static let clocks: [Int64] = [253_402_300_799_000, .max, .min, 0, -1, 1 << 53]

    func round(_ number: Int, of member: HostileMember) {
        for time in [Stamp.maximumTime, Stamp.maximumTime + 1, 253_402_300_799_000 << 16, UInt64.max] {
            let isAllowed = time <= Stamp.maximumTime
            member.offer(HostileMember.prefix + "year\(number)-\(time)", member.edit(time: time))
            if !isAllowed, let victim = member.drawVictim() {
                member.offer(victim.document.string, member.edit(time: time))
            }
        }
        // In the name of another, whose time it can't have been.
        if let victim = member.drawVictim(), let link = member.openLinks.first,
            let timeline = link.peerDatabases.first?.state.position.timeline, victim.leaves.count < 100
        {
            member.offer(
                HostileMember.prefix + "name\(number)", member.edit(time: Stamp.maximumTime - 1, writer: timeline))
        }
        member.announceOffers()
        for link in member.openLinks {
            let clock = Self.clocks[number % Self.clocks.count]
            link.setWallClock(clock)
            link.say(
                HostileFrame.map(.ping, 2) {
                    $0.append(uint: 1)
                    $0.append(uint: .max)
                    $0.append(uint: 2)
                    $0.append(int: clock)
                })
        }
    }

    /// The answers to pings that its own state machine did not send.
    func takes(_ frame: Frame, on link: HostileLink) -> Bool {
        guard frame.type == .pong, case .pong(let pong)? = try? Message(frame) else { return false }
        return pong.nonce == .max
    }
}
