import Foundation
import KithQueryBuilder
import Testing

/// Terms without a model, each as the SQL++ that docs/querying.md says.
@Suite struct TermTests {
    private let a = Field("a")
    private let b = Field("b")
    private let c = Field("c")

    @Test func `Fields are paths`() throws {
        try expect(Field("city"), is: "city")
        try expect(Field("city.name"), is: "city.name")
        try expect(Field("order.select.x"), is: "`order`.select.x")
        try expect(Field("lines[0].price"), is: "lines[0].price")
        try expect(Field("lines[-1][2]"), is: "lines[-1][2]")
        try expect(Field("lines[*].price"), is: "lines[*].price")
        try expect(Field("prices")["a.b"]["c"], is: "prices.`a.b`.c")
        try expect(Field("prices")[3], is: "prices[3]")
        try expect(Field("a`b"), is: "`a``b`")
        try expect(Field.metadata(.id), is: "META().id")
        try expect(Field.metadata(.sequence, of: "db").isNull, is: "META(db).sequence IS NULL")
    }

    @Test(arguments: ["", ".", "a.", ".a", "a..b", "a[", "a[1", "a[x]", "a[]", "a[0]b", "[0]", "a[1.5]"])
    func `What is no path is an error when the query is asked for`(path: String) {
        #expect(
            fault(of: DocumentQuery(from: "db").where(Field(path) == 1))?.hasPrefix("the path \"\(path)\" ") == true)
    }

    @Test func `Comparisons`() throws {
        try expect(a == 1, is: "a = 1")
        try expect(a != "x", is: "a != 'x'")
        try expect(a < 1.5, is: "a < 1.5")
        try expect(a <= -3, is: "a <= -3")
        try expect(a > true, is: "a > TRUE")
        try expect(a >= Date(timeIntervalSince1970: 0), is: "a >= '1970-01-01T00:00:00.000Z'")
        try expect(a == b, is: "a = b")
        try expect(a < b, is: "a < b")
        try expect(a == [1, 2], is: "a = [1, 2]")
        try expect(a == ["x": [1]], is: "a = {'x': [1]}")
        try expect(a == Int?.none, is: "a IS NOT VALUED")
        try expect(a != Int?.none, is: "a IS VALUED")
        try expect(a == "it's \" `", is: "a = 'it''s \" `'")
        try expect(a == UInt64.max, is: "a = 18446744073709551615")
        try expect(a.isBetween(1, 9), is: "a BETWEEN 1 AND 9")
        try expect(a.isNotBetween("a", "b"), is: "a NOT BETWEEN 'a' AND 'b'")
        try expect(a.isBetween(b, c), is: "a BETWEEN b AND c")
        try expect(a.isIn([1, 2]), is: "a IN [1, 2]")
        try expect(a.isNotIn(["x"]), is: "a NOT IN ['x']")
        try expect(a.isIn(b), is: "a IN b")
        try expect(a == .parameter("minimum"), is: "a = $minimum")
        try expect(a.isBetween(.parameter("x"), .parameter("y")), is: "a BETWEEN $x AND $y")
    }

    @Test func `What a value is`() throws {
        try expect(a.isNull, is: "a IS NULL")
        try expect(a.isNotNull, is: "a IS NOT NULL")
        try expect(a.isMissing, is: "a IS MISSING")
        try expect(a.isNotMissing, is: "a IS NOT MISSING")
        try expect(a.isValued, is: "a IS VALUED")
        try expect(a.isNotValued, is: "a IS NOT VALUED")
    }

    @Test func `Logic, with chains that are flat`() throws {
        let (x, y, z) = (a == 1, b == 2, c == 3)
        try expect(x && y && z, is: "a = 1 AND b = 2 AND c = 3")
        try expect(x || y || z, is: "a = 1 OR b = 2 OR c = 3")
        try expect(x && (y && z), is: "a = 1 AND b = 2 AND c = 3")
        try expect(x || (y || z), is: "a = 1 OR b = 2 OR c = 3")
        let long = (0..<2_000).reduce(x) { chain, _ in y || chain }
        let query = DocumentQuery(from: "db").where(long)
        #expect(try query.sql.contains(" OR "))
        try expect(x || y && z, is: "a = 1 OR b = 2 AND c = 3")
        try expect((x || y) && z, is: "(a = 1 OR b = 2) AND c = 3")
        try expect(!(x && y), is: "NOT (a = 1 AND b = 2)")
        try expect(!x && !y, is: "NOT a = 1 AND NOT b = 2")
    }

    @Test func `Arithmetic`() throws {
        try expect(a + 1 - b, is: "a + 1 - b")
        try expect(a * 2 + b, is: "a * 2 + b")
        try expect(a + b * c, is: "a + b * c")
        try expect((a + b) * c, is: "(a + b) * c")
        try expect(a - (b - c), is: "a - (b - c)")
        try expect(a % 2 == 0, is: "a % 2 = 0")
        try expect(a * b / 4, is: "a * b / 4")
        try expect(-a + -b, is: "-a + -b")
        try expect(a + -5, is: "a + -5")
    }

    @Test func `Texts, in which what LIKE gives a meaning is meant as such`() throws {
        try expect(a.like("x%"), is: "a LIKE 'x%'")
        try expect(a.notLike("_"), is: "a NOT LIKE '_'")
        try expect(a.contains("50%"), is: #"a LIKE '%50\%%'"#)
        try expect(a.starts(with: "a_b"), is: #"a LIKE 'a\_b%'"#)
        try expect(a.ends(with: #"c:\"#), is: #"a LIKE '%c:\\'"#)
        try expect(a.contains("x' OR 'a'='a"), is: "a LIKE '%x'' OR ''a''=''a%'")
        try expect(a.ignoringCase.contains("x"), is: "a COLLATE NOCASE LIKE '%x%'")
        try expect(a.ignoringCase.ignoringDiacritics == "x", is: "a COLLATE (NOCASE NODIAC) = 'x'")
        try expect(a.appending(b).appending("!"), is: "a || b || '!'")
        try expect(a.length > 3, is: "LENGTH(a) > 3")
        try expect(a.lowercased().trimmed(), is: "TRIM(LOWER(a))")
        try expect(a.uppercased(), is: "UPPER(a)")
    }

    @Test func `Arrays`() throws {
        try expect(a.count > 1, is: "ARRAY_LENGTH(a) > 1")
        try expect(a.exists, is: "EXISTS a")
        try expect(a.containsElement("x"), is: "'x' IN a")
        try expect(a.any { $0 == "x" }, is: "ANY item IN a SATISFIES item = 'x' END")
        try expect(a.every { $0["b"] > 1 }, is: "EVERY item IN a SATISFIES item.b > 1 END")
        try expect(a.anyAndEvery { $0.isValued }, is: "ANY AND EVERY item IN a SATISFIES item IS VALUED END")
        try expect(
            a.any { outer in outer["b"].any { $0 == outer["c"] } },
            is: "ANY item IN a SATISFIES ANY item2 IN item.b SATISFIES item2 = item.c END END")
        try expect(a.any(as: "x") { $0 == b }, is: "ANY x IN a SATISFIES x = b END")
        let hidden = a.any(as: "x") { $0["b"].any(as: "x") { $0 == 1 } }
        #expect(fault(of: DocumentQuery(from: "db").where(hidden))?.contains("two things are named x") == true)
        let source = a.any(as: "db") { $0 == 1 }
        #expect(fault(of: DocumentQuery(from: "db").where(source))?.contains("two things are named db") == true)
    }

    @Test func `Conditions, functions and constants`() throws {
        try expect(Field.when(a == 1, then: b, else: c), is: "CASE WHEN a = 1 THEN b ELSE c END")
        try expect(Field.function("round", a * 2, 1), is: "ROUND(a * 2, 1)")
        try expect(RowTerm<Bool>.function("REGEXP_CONTAINS", a, "^x"), is: "REGEXP_CONTAINS(a, '^x')")
        try expect(RowTerm<Int>.value(7), is: "7")
        try expect(RowTerm<Int>.parameter("n") + 1, is: "$n + 1")
        let query = DocumentQuery(from: "db").where(Field.match("idx", "milk"))
        try expect(
            query.order(Field.rank("idx"), .descending),
            is: "SELECT * FROM db WHERE MATCH(idx, 'milk') ORDER BY RANK(idx) DESC")
        try expect(
            query.select(
                Field.rank("idx").named("rank"), Field.highlight("idx", "author.name"),
                Field.highlight("idx", "it's", before: "[", after: "]").named("shown")),
            is: """
                SELECT RANK(idx) AS rank, HIGHLIGHT(idx, author.name), HIGHLIGHT(idx, `it's`, '[', ']') AS shown \
                FROM db WHERE MATCH(idx, 'milk')
                """)
    }

    @Test func `What can't be a value of JSON is an error when the query is asked for`() {
        #expect(fault(of: DocumentQuery(from: "db").where(a == Double.nan))?.contains("infinite or no number") == true)
        #expect(
            fault(of: DocumentQuery(from: "db").select(Field.function("LENGHT", a)))
                == "there is no function LENGHT; did you mean LENGTH?")
    }
}
