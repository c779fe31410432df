import KithDocument
import KithQuery
import KithTestSupport

/// Values drawn from a seed: small, so that equal ones and beginnings of others are met, and at the edges.
struct RandomValues {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    static let numbers: [String] = shortNumbers + longNumbers

    private static let shortNumbers: [String] = [
        "0", "-0", "1", "1.0", "-1", "2", "10", "100", "12", "123", "0.1", "0.12", "-0.1", "1e2", "5e-324", "-5e-324",
        "1.7976931348623157e308", "-1.7976931348623157e308", "9007199254740991", "9007199254740992",
        "9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808",
        "9223372036854775808", "1e21", "1000000000000000000000", "1e22", "1e23", "99999999999999999999999", "0.5",
        "2.5e-10", "1e-60", "1e60", "-1e-60", "1e300", "1e-300", "0.30000000000000004", "1.5", "15", "150",
    ]

    private static let longNumbers: [String] = [
        "1" + String(repeating: "0", count: 400), "-1" + String(repeating: "0", count: 400),
        "12" + String(repeating: "0", count: 400), String(repeating: "9", count: 400),
        "1" + String(repeating: "0", count: 399) + "1",
    ]

    static let strings = [
        "", "a", "b", "ab", "abc", "\0", "a\0", "a\0b", "\u{1}", "\u{FF}", "é", "e\u{301}", "漢字", "😀", "\u{FFFF}",
        "\u{10FFFF}", "%", "_", "'", "\"", "`", "\\", "A", "true", "null", "10", "-1.5", " x ", "2026-11-30T16:54:32Z",
    ]

    static func number(_ text: String) -> JSONNumber { try! JSONValue(parsing: text).number! }

    mutating func atom() -> QueryValue {
        switch random.below(8) {
        case 0: .null
        case 1: .bool(random.chance(1, in: 2))
        case 2, 3: .string(random.pick(Self.strings) + (random.chance(1, in: 4) ? random.pick(Self.strings) : ""))
        case 4: .number(random.within(-3...12))
        case 5: .number(Double(bitPattern: random.next()))
        default: .number(Self.number(random.pick(Self.numbers)))
        }
    }

    mutating func json(depth: Int) -> JSONValue { value(depth: depth).element }

    mutating func value(depth: Int) -> QueryValue {
        guard depth > 0, random.chance(2, in: 5) else { return atom() }
        if random.chance(1, in: 2) { return .array((0..<random.below(4)).map { _ in json(depth: depth - 1) }) }
        return .object(
            JSONObject((0..<random.below(4)).map { _ in (random.pick(Self.strings), json(depth: depth - 1)) }))
    }

    /// MISSING now and then.
    mutating func any(depth: Int = 3) -> QueryValue { random.chance(1, in: 12) ? .missing : value(depth: depth) }
}
