import Testing

@testable import KithQuery

/// What MATCH looks for, as it is handed on to FTS5.
@Suite struct MatchTextTests {
    private func fts(_ text: String) -> String {
        do { return try MatchParser.fts(text, fields: ["title", "a.b"]) } catch {
            return "\(error.place): \(error.message)"
        }
    }

    @Test func `all texts stand between quotes and all fields are numbers`() {
        for (text, expected) in [
            ("milk", #""milk""#), ("milk eggs", #""milk" AND "eggs""#),
            ("milk eggs NOT a b", #"("milk" AND "eggs") NOT ("a" AND "b")"#),
            ("a OR b AND c NOT d", #""a" OR ("b" AND ("c" NOT "d"))"#), ("(a OR b) c", #"("a" OR "b") AND "c""#),
            (#""say ""hi"" ""#, #""say ""hi""#), (#""a"*"#, #""a" *"#), ("a + b*", #""a b" *"#), ("^a", #"^ "a""#),
            ("title: a", #"{c0} : "a""#), ("a.b : a b", #"({c1} : "a") AND "b""#), ("-title: a", #"{c1} : "a""#),
            (#"{"a.b" title}: (a b)"#, #"{c0 c1} : ("a" AND "b")"#), ("NEAR(a \"b c\")", #"NEAR("a" "b c", 10)"#),
            ("NEAR (a b, 0)", #"NEAR("a" "b", 0)"#), ("near", #""near""#), ("NEAR", #""NEAR""#),
            ("e-mail", #""e-mail""#),
            ("a\u{0}b", #""a" AND "b""#), ("...", #""""#), ("a ...", #""a""#), ("a NOT ...", #""a""#),
            ("... NOT a", #""""#),
            ("鸡蛋", #""鸡蛋""#), ("鸡", #""鸡" *"#), ("a鸡", #""a鸡" *"#), ("鸡a", #""鸡a""#), ("「鸡蛋」", #""「鸡蛋""#),
        ] {
            #expect(fts(text) == expected, "\(text)")
        }
    }

    @Test func `errors have a place`() {
        for (text, expected) in [
            ("a (b", "5: found the end, expected )"), ("a \"b", "3: the quote that begins here has no end"),
            ("{title: a", "7: found :, expected the name of a field"),
            (
                "other: a",
                "1: the index has no field other: it has title, a.b; a : that is meant as such stands between \""
            ),
            ("a ^ ", "5: found the end, expected a word or a phrase between \""),
            ("NEAR(a, b)", "9: found b, expected how many words may stand between, from 0 to 1000"),
            ("a AND OR b", "7: found OR, expected a word or a phrase between \""),
            ("a , b", "3: found ,, expected a word, AND, OR, NOT or the end"),
        ] {
            #expect(fts(text) == expected, "\(text)")
        }
        #expect(fts(String(repeating: "title: ", count: 40_000) + "a").hasSuffix("it is nested deeper than 8 levels"))
        #expect(fts(String(repeating: "(", count: 40_000)).hasSuffix("it is nested deeper than 8 levels"))
        #expect(fts(String(repeating: "a ", count: 300)).hasSuffix("it has more than 200 words"))
    }

    @Test func `an index is named with a source, and what is highlighted by its path`() throws {
        for (text, printed) in [
            ("MATCH(i, 'x')", "MATCH(i, 'x')"), ("MATCH('i', $w)", "MATCH(i, $w)"), ("MATCH(a.i, ?)", "MATCH(a.i, $1)"),
            ("MATCH(`a`.`i-2`, 'x')", "MATCH(a.`i-2`, 'x')"), ("RANK(a.i)", "RANK(a.i)"),
            ("HIGHLIGHT(i, b.c)", "HIGHLIGHT(i, 'b.c', '<b>', '</b>')"),
            ("HIGHLIGHT(a.i, 'b', '[', $x)", "HIGHLIGHT(a.i, 'b', '[', $x)"),
        ] {
            let expression = try QueryExpression(parsing: text)
            #expect(expression.sql == printed)
            #expect(try QueryExpression(parsing: printed) == expression)
        }
    }
}
