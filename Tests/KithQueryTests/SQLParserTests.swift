import KithDocument
import KithQuery
import KithTestSupport
import Testing

/// SQL++ text to trees and back.
@Suite struct SQLParserTests {
    private func expression(_ text: String) throws -> QueryExpression { try QueryExpression(parsing: text) }

    /// What the text is read as, with all parentheses that its tree has.
    @Test(arguments: [
        ("1 + 2 * 3", "1 + 2 * 3"), ("(1 + 2) * 3", "(1 + 2) * 3"), ("1 - 2 - 3", "1 - 2 - 3"),
        ("1 - (2 - 3)", "1 - (2 - 3)"),
        ("a OR b AND NOT c = d", "a OR b AND NOT c = d"), ("(a OR b) AND c", "(a OR b) AND c"),
        ("a and (b and c)", "a AND (b AND c)"), ("NOT (a AND b)", "NOT (a AND b)"), ("(NOT a) = b", "(NOT a) = b"),
        ("a || b + 1 == c", "a || b + 1 = c"), ("a <> 'it''s'", "a != 'it''s'"),
        ("a != \"say \"\"x\"\"\"", "a != 'say \"x\"'"),
        ("- 5", "-5"), ("-(5)", "-(5)"), ("- - 5", "-(-5)"), ("--5\n6", "6"), ("+a", "a"), ("-a.b", "-a.b"),
        ("007", "7"), (".5", "0.5"), ("1.50", "1.5"), ("1E3", "1000"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("`select`.`a``b`[ -1 ].c[*]", "`select`.`a``b`[-1].c[*]"), ("a.order.from", "a.`order`.`from`"),
        ("a['b'][i+1]", "a['b'][i + 1]"),
        ("x is not missing", "x IS NOT MISSING"), ("x IS VALUED", "x IS VALUED"),
        ("x NOT LIKE 'a\\_' ESCAPE '\\'", "x NOT LIKE 'a\\_' ESCAPE '\\'"),
        ("x BETWEEN 1 AND 2 AND y", "x BETWEEN 1 AND 2 AND y"),
        ("x NOT IN [1, NULL, missing]", "x NOT IN [1, NULL, MISSING]"),
        ("case x when 1 then 2 else 3 end", "CASE x WHEN 1 THEN 2 ELSE 3 END"),
        ("CASE WHEN a THEN b END", "CASE WHEN a THEN b END"),
        ("some v in a.b satisfies v > 1 end", "ANY v IN a.b SATISFIES v > 1 END"),
        ("any and every v in a satisfies v end", "ANY AND EVERY v IN a SATISFIES v END"),
        ("exists a.b = true", "EXISTS a.b = TRUE"), ("a COLLATE NOCASE = b", "a COLLATE (NOCASE DIAC) = b"),
        ("a COLLATE (NODIAC NOCASE)", "a COLLATE (NOCASE NODIAC)"), ("{'a': 1, \"b\": [ ]}", "{'a': 1, 'b': []}"),
        ("count(*) + Sum(distinct x)", "COUNT(*) + SUM(DISTINCT x)"), ("meta().id", "META().id"),
        ("META(t).revision", "META(t).revision"),
        ("match(idx, 'a b') and rank('idx')", "MATCH(idx, 'a b') AND RANK(idx)"), ("$p + $2", "$p + $2"),
        ("? = ?", "$1 = $2"),
        ("/* a */ 1 -- b\n + /* ** / */ 2", "1 + 2"), ("数.字", "`数`.`字`"), ("value", "`value`"),
        ("a.value.raw", "a.`value`.`raw`"),
    ]) func isReadAs(text: String, sql: String) throws {
        let tree = try expression(text)
        #expect(tree.sql == sql)
        #expect(try expression(tree.sql) == tree)
    }

    @Test(arguments: [
        ("select * from t", "SELECT * FROM t"),
        ("SELECT DISTINCT a, b AS c, d e, t.* FROM t AS x;", "SELECT DISTINCT a, b AS c, d AS e, t.* FROM t AS x"),
        ("SELECT RAW a FROM t", "SELECT RAW a FROM t"), ("SELECT VALUE {'a': 1}", "SELECT RAW {'a': 1}"),
        ("SELECT value, raw FROM t", "SELECT `value`, `raw` FROM t"),
        ("SELECT RAW (-1)", "SELECT RAW (-1)"), ("SELECT ALL 1", "SELECT 1"),
        (
            "SELECT 1 FROM a INNER JOIN b ON a.x = b.y LEFT OUTER JOIN c ON TRUE CROSS JOIN d",
            "SELECT 1 FROM a JOIN b ON a.x = b.y LEFT JOIN c ON TRUE CROSS JOIN d"
        ),
        (
            "SELECT 1 FROM a UNNEST a.list LEFT UNNEST a.other o",
            "SELECT 1 FROM a UNNEST a.list AS list LEFT UNNEST a.other AS o"
        ),
        (
            "SELECT x FROM t LET x = a + 1, y = 2 WHERE x > 1 GROUP BY a, b AS c HAVING COUNT(*) > 1 ORDER BY a DESC NULLS LAST, b ASC NULLS FIRST, c LIMIT $1 OFFSET 5",
            "SELECT x FROM t LET x = a + 1, y = 2 WHERE x > 1 GROUP BY a, b AS c HAVING COUNT(*) > 1 ORDER BY a DESC NULLS LAST, b NULLS FIRST, c LIMIT $1 OFFSET 5"
        ),
        ("SELECT a FROM t OFFSET 1 LIMIT 2", "SELECT a FROM t LIMIT 2 OFFSET 1"),
    ]) func statementIsReadAs(text: String, sql: String) throws {
        let tree = try QueryStatement(parsing: text)
        #expect(tree.sql == sql)
        #expect(try QueryStatement(parsing: tree.sql) == tree)
    }

    /// Where it is wrong, what stands there, and what was expected.
    @Test(arguments: [
        ("", 1, 1, "expected SELECT, found the end of the query"), ("selct 1", 1, 1, "expected SELECT, found selct"),
        ("SELECT", 1, 7, "expected a value, found the end of the query"),
        (
            "SELECT RAW -n FROM t", 1, 12,
            "expected RAW (-...) for a negative value, or `RAW` between backquotes for a field"
        ),
        ("SELECT a FROM", 1, 14, "expected the name of a source after FROM or JOIN, found the end of the query"),
        ("SELECT a\nFROM t WHER x", 2, 13, "expected an operator, JOIN, UNNEST, LET, WHERE, GROUP BY"),
        ("SELECT a FROM t WHERE x = = 1", 1, 27, "expected a value, found ="),
        ("SELECT a FROM t WHERE x =", 1, 26, "expected a value, found the end of the query"),
        ("SELECT a FROM t, u", 1, 16, "expected JOIN, LEFT JOIN, CROSS JOIN or UNNEST for a further source, found ,"),
        ("SELECT a FROM t WHERE a = 1 = 2", 1, 29, "comparisons can't be chained"),
        ("SELECT a FROM t WHERE (a = 1", 1, 29, "expected ), found the end of the query"),
        ("SELECT a FROM t WHERE a IS 5", 1, 28, "expected NULL, MISSING or VALUED after IS"),
        ("SELECT a FROM t ORDER x", 1, 23, "expected BY, found x"),
        ("SELECT 'abc", 1, 8, "the string that begins here has no end: expected '"),
        ("SELECT `abc", 1, 8, "the name that begins here has no end"),
        ("SELECT 1 /* x", 1, 10, "the comment that begins here has no end: expected */"),
        ("SELECT 1x", 1, 8, "a number is followed by a letter"), ("SELECT 1e999", 1, 8, "beyond the range of a double"),
        (
            "SELECT 漢字 FROM from", 1, 16,
            "expected the name of a source after FROM or JOIN, found the word FROM (as a name it stands between backquotes: `from`)"
        ),
        ("SELECT a ~ b", 1, 10, "~ means nothing here"),
        ("SELECT $ FROM t", 1, 8, "expected the name or number of a parameter after $"),
        ("SELECT $1, ?", 1, 12, "not both"), ("SELECT {a: 1}", 1, 9, "expected the key of a member in quotes, found a"),
        ("SELECT {'a': 1, 'a': 2}", 1, 17, "stands twice"),
        ("SELECT (SELECT 1)", 1, 9, "a query within a query is not supported"),
        ("SELECT MIN(a, b) FROM t", 1, 13, "take LEAST"),
        ("SELECT COUNT() FROM t", 1, 14, "expected the argument of COUNT"),
        ("SELECT CASE x END", 1, 15, "expected WHEN, found the word END"),
        ("SELECT 1 FROM a JOIN b", 1, 23, "expected ON and a condition"),
        ("SELECT a = NOT b", 1, 12, "NOT stands between parentheses here"),
        ("SELECT LENGTH(DISTINCT a)", 1, 15, "DISTINCT belongs to aggregates"),
    ]) func errorsSayWhereAndWhat(text: String, line: Int, column: Int, part: String) {
        do throws(QueryError) {
            let tree = try QueryStatement(parsing: text)
            Issue.record("\(text) was read as \(tree.sql)")
        } catch {
            guard case .text(let message, line, column) = error else {
                Issue.record("\(text): \(error.message)")
                return
            }
            #expect(message.contains(part), "\(text): \(message)")
        }
    }

    @Test(arguments: 0..<20) func printedTreesReadAsTheSame(seed: UInt64) throws {
        var trees = RandomTrees(seed: seed)
        for _ in 0..<100 {
            let expression = trees.expression(4)
            #expect(try QueryExpression(parsing: expression.sql) == expression, "\(expression.sql)")
            let statement = trees.statement()
            #expect(try QueryStatement(parsing: statement.sql) == statement, "\(statement.sql)")
        }
    }

    @Test(arguments: 0..<20) func noTextTraps(seed: UInt64) {
        var trees = RandomTrees(seed: seed)
        for _ in 0..<150 {
            var bytes: [UInt8] = Array(trees.statement().sql.utf8)
            for _ in 0..<trees.values.random.within(1...4) {
                let place = trees.below(bytes.count + 1)
                switch trees.below(4) {
                case 0: bytes.insert(UInt8(trees.below(128)), at: place)
                case 1: bytes.removeSubrange(place..<min(bytes.count, place + trees.below(8)))
                case 2: bytes.insert(contentsOf: bytes.prefix(trees.below(20)), at: place)
                default: bytes = Array(bytes.prefix(place))
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if let tree = try? QueryStatement(parsing: text) {
                #expect((try? QueryStatement(parsing: tree.sql)) == tree, "\(text)")
            }
        }
        for _ in 0..<100 {
            let bytes = (0..<trees.below(60)).map { _ in UInt8(truncatingIfNeeded: trees.values.random.next()) }
            _ = try? QueryStatement(parsing: "SELECT " + String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test(arguments: ["(", "[", "NOT ", "-(", "CASE WHEN ", "ABS(", "{'a': ", "a[", "EXISTS ", "- ", "+", "ANY x IN "])
    func deepNestingIsAnErrorAndNoCrash(piece: String) {
        for count in [200, 20_000] {
            let text = "SELECT " + String(repeating: piece, count: count) + "1"
            #expect(throws: QueryError.self) { try QueryStatement(parsing: text) }
        }
        _ = try? QueryStatement(parsing: "SELECT " + String(repeating: piece, count: 20) + "1")
    }

    @Test func longChainsAreFlat() throws {
        let operands = (0..<5000).map { "a\($0)" }
        for separator in [" AND ", " OR ", " + ", " * ", " || ", ".", "[0].", " - "] {
            let text = "SELECT " + operands.joined(separator: separator)
            let tree = try QueryStatement(parsing: text)
            #expect(try QueryStatement(parsing: tree.sql) == tree)
        }
        #expect(throws: QueryError.self) {
            try QueryStatement(parsing: "SELECT " + (0..<30_000).map { "\($0)" }.joined(separator: "+"))
        }
        #expect(throws: QueryError.self) {
            try QueryStatement(parsing: "SELECT '" + String(repeating: "a", count: 300_000) + "'")
        }
    }
}
