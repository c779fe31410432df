import KithTestSupport
import Testing

@testable import KithTransport

@Suite struct InviteCodeTests {
    let code = InviteCode(shortFingerprint: (0..<16).map { $0 * 16 + 5 }, secret: (0..<11).map { 250 - $0 * 9 })

    private func message(_ text: String) -> String? {
        do throws(TransportError) {
            _ = try InviteCode(text)
            return nil
        } catch { return error.message }
    }

    @Test func `a code is nine groups of five without letters that look alike, and reads back`() throws {
        let groups = code.text.split(separator: "-")
        #expect(groups.count == 9 && groups.allSatisfy { $0.count == 5 })
        #expect(!code.text.contains { "ILOU".contains($0) })
        #expect(try InviteCode(code.text) == code)
        var random = SeededGenerator(seed: 11)
        for _ in 0..<500 {
            let drawn = InviteCode(
                shortFingerprint: (0..<16).map { _ in UInt8(random.below(256)) },
                secret: (0..<11).map { _ in UInt8(random.below(256)) })
            #expect(try InviteCode(drawn.text) == drawn, "seed 11")
        }
    }

    @Test func `reading forgives case, spaces, other dashes and look-alikes`() throws {
        #expect(try InviteCode(code.text.lowercased()) == code)
        #expect(try InviteCode("  " + code.text.replacing("-", with: " ") + "\n") == code)
        #expect(try InviteCode(code.text.replacing("-", with: "")) == code)
        #expect(try InviteCode(code.text.replacing("-", with: "\u{2013}")) == code)
        #expect(try InviteCode(code.text.replacing("0", with: "O").replacing("1", with: "l")) == code)
        #expect(try InviteCode(code.text.replacing("0", with: "o").replacing("1", with: "I")) == code)
    }

    @Test func `every single wrong character and every swap of neighbours is found`() {
        let characters = Array(code.text.utf8.filter { $0 != UInt8(ascii: "-") })
        #expect(characters.count == 45)
        for index in characters.indices {
            for other in CodeAlphabet.characters where other != characters[index] {
                var wrong = characters
                wrong[index] = other
                #expect(message(String(decoding: wrong, as: UTF8.self)) != nil, "character \(index) as \(other)")
            }
            guard index + 1 < characters.count, characters[index] != characters[index + 1] else { continue }
            var wrong = characters
            wrong.swapAt(index, index + 1)
            #expect(message(String(decoding: wrong, as: UTF8.self)) != nil, "characters \(index) and \(index + 1)")
        }
    }

    @Test func `the check finds every substitution and swap for any values`() {
        // The check is linear: what counts is the difference to a right code, so this covers all codes.
        for index in 0..<45 {
            for difference in UInt8(1)..<32 {
                var values = [UInt8](repeating: 0, count: 45)
                values[index] = difference
                #expect(!CodeAlphabet.holds(values))
                guard index < 44 else { continue }
                values[index + 1] = difference
                #expect(!CodeAlphabet.holds(values))
            }
        }
    }

    @Test func `an error names the group that looks wrong, and never shows the code`() throws {
        var groups = code.text.split(separator: "-").map(String.init)
        groups[3] = "AB!CD"
        #expect(
            message(groups.joined(separator: "-")) == "group 4 of the invite code holds a character that no code has")
        groups[3] = "ABCD"
        #expect(message(groups.joined(separator: "-")) == "group 4 of the invite code has 4 characters, not 5")
        groups.remove(at: 3)
        #expect(
            message(groups.joined(separator: "-")) == "the invite code has 40 characters, not 45: is a part missing?")
        groups = code.text.split(separator: "-").map(String.init)
        groups.swapAt(1, 2)
        let swapped = message(groups.joined(separator: "-"))
        #expect(swapped == nil || swapped?.contains("mistyped") == true)
        #expect(message("") == "the invite code has 0 characters, not 45: is a part missing?")
        #expect(message(String(repeating: "A", count: 5_000)) == "this is too long for an invite code")
        for text in ["\u{0}", "ä-ö-ü", "🙂🙂🙂🙂🙂", String(repeating: "0", count: 45), "-----"] {
            #expect(message(text) != nil)
        }
    }

    @Test func `a code of a later version says so`() {
        var values = [UInt8](repeating: 0, count: 44)
        values[0] = 0b10111
        values.append(CodeAlphabet.check(values))
        let text = String(decoding: values.map { CodeAlphabet.characters[Int($0)] }, as: UTF8.self)
        #expect(message(text) == "the invite code is of version 11, and this program reads 1: update it")
    }

    @Test func `the tag of the code is the tag of the group`() throws {
        let group = try TestGroup()
        #expect(InviteCode.create(for: group.trust).groupTag == group.trust.tag)
        #expect(group.trust.tag.utf8.count == 16)
        #expect(try TestGroup().trust.tag != group.trust.tag)
    }
}
