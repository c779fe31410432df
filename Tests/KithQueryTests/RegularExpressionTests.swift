import KithDocument
import KithTestSupport
import Testing

@testable import KithQuery

/// Patterns: what they match, what is refused, and that none takes long.
@Suite struct RegularExpressionTests {
    @Test(arguments: [
        ("a|b", "xb", "b"), ("a|ab", "ab", "a"), ("a*", "aaa", "aaa"), ("a*?", "aaa", ""), ("a+?b", "aab", "aab"),
        ("a{2}", "aaaa", "aa"), ("a{2,}", "aaaa", "aaaa"),
        ("a{1,3}?", "aaaa", "a"), ("(ab)+", "xababy", "abab"), ("^b", "ab", nil), ("b$", "ab", "b"),
        ("(?m)^b", "a\nb", "b"), (".+", "a\nb", "a"),
        ("(?s).+", "a\nb", "a\nb"), ("[a-c]+", "xabcd", "abc"), ("[^a-c]+", "abxy", "xy"), ("[]a]+", "]a]", "]a]"),
        ("[a-]+", "-a", "-a"), ("\\d+", "ab12", "12"),
        ("\\bcat\\b", "concat cat", "cat"), ("\\w+", "é ab", "ab"), ("[\\s\\d]+", "a 1 ", " 1 "), ("\\.", "a.b", "."),
        ("(?i)straße", "STRAßE", "STRAßE"), ("(?i:A)b", "ab", "ab"),
        ("(?i)[A-Z]+", "abc", "abc"), ("\\x41\\u6f22", "A漢", "A漢"), ("", "abc", ""), ("(a|b)*c", "ababc", "ababc"),
        ("漢字?", "漢", "漢"), ("(a*)*b", "aab", "aab"), ("x*", "aaa", ""),
        ("\\Aab\\z", "ab", "ab"), ("a\\Bb", "ab", "ab"),
    ]) func matches(pattern: String, text: String, expected: String?) throws {
        let scalars = Array(text.unicodeScalars)
        let match = try RegularExpression(pattern).firstMatch(in: scalars)
        #expect(match.map { String(scalars: scalars[$0.range]) } == expected, "\(pattern)")
    }

    @Test(arguments: [
        "(", ")", "a)", "[", "[b-a]", "*a", "a**", "a++", "a{2", "a{3,2}", "a{2000}", "\\", "\\q", "\\1", "(?=a)",
        "(?<n>a)", "(?P<n>a)", "(?x)a", "[[:alpha:]]", "^*", "{", "\\xZZ", "\\uD800",
        "(?!a)", "((a{100}){100}){100}", "\\p{L}",
    ]) func refuses(pattern: String) {
        #expect(throws: QueryError.self, "\(pattern)") { try RegularExpression(pattern) }
    }

    @Test func hostilePatternsEnd() throws {
        let text = Array(String(repeating: "a", count: 1000).unicodeScalars)
        for pattern in [
            "(a+)+$b", "(a|aa)+b", "(a*)*b", "(.*.*.*)*b", "(a?){50}a{50}b", "(?:(?:(?:){1000}){1000}){1000}b",
        ] {
            #expect(try RegularExpression(pattern).firstMatch(in: text) == nil, "\(pattern)")
        }
        // The square of the length: an error instead.
        let long = Array(String(repeating: "a", count: 20_000).unicodeScalars)
        #expect(throws: QueryError.self) { try RegularExpression("a.*b|a").matches(in: long) }
        #expect(throws: QueryError.self) { try RegularExpression(String(repeating: "(", count: 1000)) }
    }

    @Test(arguments: 0..<10) func noPatternTraps(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "a", "b", "(", ")", "[", "]", "*", "+", "?", "{", "}", "2", ",", "|", "^", "$", "\\", ".", "-", "(?i)",
            "(?:", "\\d", "é", "\n",
        ]
        for _ in 0..<400 {
            let pattern = (0..<random.below(12)).map { _ in random.pick(pieces) }.joined()
            let text = (0..<random.below(12)).map { _ in random.pick(pieces) }.joined()
            guard let compiled = try? RegularExpression(pattern) else { continue }
            let scalars = Array(text.unicodeScalars)
            for match in (try? compiled.matches(in: scalars)) ?? [] { #expect(match.range.upperBound <= scalars.count) }
            _ = try? compiled.matchesWhole(scalars)
        }
    }
}
