import KithTestSupport

/// JSON texts drawn from a seed: small, nested, with keys and values at the edges.
struct SeededText {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private static let pieces = [
        "a", "b", "ab", "", "z", "é", "e\u{301}", "漢", "😀", "\\n", "\\u0000", "\\u0001", "\\\"", "\\\\", "/", "\\/",
        "~",
        "\\u00e9", "\\ud83d\\ude00", "\u{ff61}", " ", "A", "_", "\u{7f}", "\\u001f", "longer than eight",
    ]
    private static let numbers = [
        "0", "-0", "1", "-1", "1.0", "0.1", "1e3", "1E-7", "123456789012345678901234567890", "5e-324",
        "1.7976931348623157e308",
        "0.00760939025925927263", "1e21", "1e20", "-0.0", "9007199254740993", "2.5e-10",
    ]

    /// The inside of a string.
    mutating func string() -> String {
        (0..<random.below(4)).map { _ in random.pick(Self.pieces) }.joined()
    }

    mutating func space() -> String { random.pick(["", "", "", " ", "\n", "\t ", "\r\n"]) }

    mutating func value(depth: Int) -> String {
        switch random.below(depth > 0 ? 10 : 7) {
        case 0, 1: return "\"\(string())\""
        case 2, 3: return random.pick(Self.numbers)
        case 4: return random.pick(["true", "false", "null"])
        case 5: return "{\(space())}"
        case 6: return "[\(space())]"
        case 7:
            return "[" + (0..<random.below(4)).map { _ in space() + value(depth: depth - 1) }.joined(separator: ",")
                + "]"
        default: return object(depth: depth - 1)
        }
    }

    mutating func object(depth: Int) -> String {
        let members = (0..<random.below(6)).map { _ in
            "\(space())\"\(string())\"\(space()):\(space())\(value(depth: depth))"
        }
        return "{" + members.joined(separator: "\(space()),") + "\(space())}"
    }

    /// Members with keys that all differ.
    mutating func members(count: Int) -> [String] {
        (0..<count).map { "\"\(string())\($0 * 7 % count + 10)\":\(value(depth: 0))" }
    }
}
