import KithDocument
import KithQuery
import KithTestSupport
import Testing

/// What makes no sense is an error with its place; what does is written with all its names.
@Suite struct CheckerTests {
    @Test(arguments: [
        ("SELECT a, b.c FROM t", "SELECT t.a, t.b.c FROM t"),
        ("SELECT t.a, x FROM t WHERE x > 1", "SELECT t.a, t.x FROM t WHERE t.x > 1"),
        ("SELECT META().id FROM t", "SELECT META(t).id FROM t"),
        ("SELECT x FROM t UNNEST list AS x", "SELECT x FROM t UNNEST t.list AS x"),
        ("SELECT a AS b FROM t ORDER BY b, c", "SELECT t.a AS b FROM t ORDER BY t.a, t.c"),
        (
            "SELECT UPPER(name) AS name FROM t ORDER BY name",
            "SELECT UPPER(t.name) AS name FROM t ORDER BY UPPER(t.name)"
        ),
        ("SELECT y FROM t LET y = a + 1", "SELECT y FROM t LET y = t.a + 1"),
        ("SELECT ANY v IN a SATISFIES v = b END AS f FROM t", "SELECT ANY v IN t.a SATISFIES v = t.b END AS f FROM t"),
        (
            "SELECT k, COUNT(*) AS n FROM t GROUP BY a.b AS k HAVING n > 1 ORDER BY n",
            "SELECT t.a.b, COUNT(*) AS n FROM t GROUP BY t.a.b AS k HAVING COUNT(*) > 1 ORDER BY COUNT(*)"
        ),
        (
            "SELECT k, COUNT(*) AS n FROM a JOIN b ON a.i = b.i GROUP BY a.x AS k ORDER BY k",
            "SELECT a.x, COUNT(*) AS n FROM a JOIN b ON a.i = b.i GROUP BY a.x AS k ORDER BY a.x"
        ),
        ("SELECT a.city FROM t GROUP BY a", "SELECT (t.a).city FROM t GROUP BY t.a"),
        (
            "SELECT SUBSTR(d, 0, 7) AS m FROM t GROUP BY m",
            "SELECT SUBSTR(t.d, 0, 7) AS m FROM t GROUP BY SUBSTR(t.d, 0, 7)"
        ),
        ("SELECT 1 + 1 AS two", "SELECT 1 + 1 AS two"), ("SELECT a[i].b FROM t", "SELECT t.a[t.i].b FROM t"),
        (
            "SELECT DISTINCT a FROM t ORDER BY a COLLATE NOCASE",
            "SELECT DISTINCT t.a FROM t ORDER BY t.a COLLATE (NOCASE DIAC)"
        ),
        ("SELECT t.* FROM t JOIN t AS u ON u.id = t.other", "SELECT t.* FROM t JOIN t AS u ON u.id = t.other"),
    ]) func namesAreResolved(text: String, sql: String) throws {
        #expect(try QueryStatement(parsing: text).checked().statement.sql == sql)
    }

    @Test(arguments: [
        ("SELECT a", 1, 8, "there is nothing named a: the query has no FROM"), ("SELECT * ", 1, 8, "* needs a source"),
        ("SELECT x FROM a JOIN b ON a.i = b.i", 1, 8, "could be a field of several sources: expected a.x or b.x"),
        ("SELECT t.a FROM t AS x", 1, 8, "t is named x in this query"),
        ("SELECT 1 FROM t JOIN t ON TRUE", 1, 22, "two things are named t"),
        (
            "SELECT a FROM t WHERE COUNT(*) > 1", 1, 23,
            "COUNT is an aggregate, which WHERE can't have: a condition on groups belongs in HAVING"
        ),
        ("SELECT SUM(MAX(a)) FROM t", 1, 12, "MAX is an aggregate within an aggregate"),
        ("SELECT a, COUNT(*) FROM t", 1, 8, "t.a is neither in GROUP BY nor within an aggregate"),
        ("SELECT *, COUNT(*) FROM t", 1, 8, "* is not one value for a group"),
        ("SELECT a FROM t GROUP BY b", 1, 8, "neither in GROUP BY"),
        ("SELECT b FROM t GROUP BY b ORDER BY c", 1, 37, "neither in GROUP BY"),
        ("SELECT COUNT(*) AS n FROM t GROUP BY n", 1, 38, "rows can't be grouped by an aggregate"),
        ("SELECT LENGHT(a) FROM t", 1, 8, "there is no function LENGHT; did you mean LENGTH?"),
        ("SELECT\n  foo_bar_baz(a) FROM t", 2, 3, "there is no function FOO_BAR_BAZ"),
        ("SELECT CUONT(a) FROM t", 1, 8, "did you mean COUNT?"),
        ("SELECT LENGTH(a, b) FROM t", 1, 8, "LENGTH(string) takes 1 argument, found 2"),
        ("SELECT SUBSTR(a) FROM t", 1, 8, "SUBSTR(string, start[, length]) takes 2 to 3 arguments, found 1"),
        ("SELECT CONCAT(a) FROM t", 1, 8, "takes 2 or more arguments, found 1"),
        ("SELECT a FROM t LIMIT 'x'", 1, 23, "LIMIT is not an integer from 0 on"),
        ("SELECT a FROM t LIMIT -1", 1, 23, "LIMIT is not an integer"),
        ("SELECT a FROM t LIMIT b", 1, 23, "LIMIT is one number for the whole query"),
        ("SELECT a FROM t OFFSET 1.5", 1, 24, "OFFSET is not an integer"),
        ("SELECT META(x).id FROM t", 1, 8, "no source has the alias x: expected one of t"),
        ("SELECT META().name FROM t", 1, 8, "META() has no name: expected one of id, revision"),
        ("SELECT META().id FROM a CROSS JOIN b", 1, 8, "META() needs the alias of a source: expected one of a, b"),
        ("SELECT a, b AS a FROM t", 1, 11, "two columns are named a"),
        ("SELECT a FROM t WHERE REGEXP_LIKE(b, '(')", 1, 38, "in the pattern, at character 2: expected )"),
        ("SELECT a FROM t ORDER BY 1", 1, 26, "ORDER BY takes expressions"),
        ("SELECT DISTINCT a FROM t ORDER BY b", 1, 35, "with DISTINCT, ORDER BY takes only what is selected"),
        ("SELECT MATCH(i, 'x')", 1, 8, "MATCH, RANK and HIGHLIGHT need a source"),
    ]) func errorsSayWhereAndWhat(text: String, line: Int, column: Int, part: String) {
        do throws(QueryError) {
            let query = try QueryStatement(parsing: text).checked()
            Issue.record("\(text) was taken for \(query.statement.sql)")
        } catch {
            guard case .text(let message, line, column) = error else {
                Issue.record("\(text): \(error.message)")
                return
            }
            #expect(message.contains(part), "\(text): \(message)")
        }
    }

    /// What is checked stays what it is when it is checked again.
    @Test(arguments: 0..<20) func checkingTwiceIsCheckingOnce(seed: UInt64) throws {
        var trees = RandomTrees(seed: seed)
        trees.functions.removeAll { $0 == "NOPE" }
        var count = 0
        for _ in 0..<300 {
            guard let checked = try? trees.statement().checked() else { continue }
            count += 1
            let again = try QueryStatement(parsing: checked.statement.sql)
            // Fields that are called as a variable is are that variable.
            _ = try? again.checked()
            #expect(again == checked.statement, "\(checked.statement.sql)")
        }
        #expect(count > 0)
    }
}
