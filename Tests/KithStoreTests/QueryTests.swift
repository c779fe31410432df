import KithDocument
import KithQuery
import KithTestSupport
import Testing

@testable import KithStore

/// Queries answered by a store: what the random ones do not meet.
@Suite struct QueryTests {
    private static func people() throws -> QueryHarness {
        var harness = try QueryHarness()
        try harness.put(
            [
                #"{"name":"Ada","age":36,"city":{"name":"London"},"tags":["math","poet"]}"#,
                #"{"name":"Bob","age":41,"city":{"name":"Paris"},"tags":[]}"#,
                #"{"name":"bea","age":41,"city":{"name":"London"},"tags":["poet"]}"#,
                #"{"name":"Cem","age":"unknown","tags":"math"}"#,
                #"{"name":"Dan","age":null,"city":{},"tags":["math","math"]}"#,
            ].map { try JSONValue(parsing: $0).object! })
        return harness
    }

    @Test(arguments: [
        ("SELECT RAW name FROM people WHERE age = 41 ORDER BY name", #""Bob" "bea""#),
        (
            "SELECT RAW META().id FROM people WHERE META().id LIKE 'd_' AND META().id > 'd2' ORDER BY META().id",
            #""d3" "d4""#
        ),
        ("SELECT RAW tag FROM people UNNEST tags AS tag WHERE tag = 'poet'", #""poet" "poet""#),
        ("SELECT RAW name FROM people WHERE ANY t IN tags SATISFIES t = 'math' END ORDER BY name", #""Ada" "Dan""#),
        (
            "SELECT city.name AS c, COUNT(*) AS n FROM people GROUP BY city.name ORDER BY n DESC, c",
            #"{"n":2} {"c":"London","n":2} {"c":"Paris","n":1}"#
        ),
        ("SELECT RAW SUM(age) FROM people HAVING COUNT(*) > 4", "118"),
        ("SELECT RAW 1 + 1", "2"),
        (
            "SELECT RAW a.name FROM people AS a JOIN people AS b ON a.age = b.age AND a.name != b.name ORDER BY a.name",
            #""Bob" "bea""#
        ),
    ])
    func aQueryGives(_ query: String, _ expected: String) throws {
        #expect(try Self.people().text(query) == expected)
    }

    @Test func onlyLiveDocumentsAreAskedEachWithWhatIsShown() throws {
        let store = try TestStore()
        try store.put("a", #"{"n":1}"#)
        try store.put("b", #"{"n":1}"#)
        try store.delete("b")
        let other = try TestStore(seed: 2)
        try other.put("a", #"{"n":2}"#)
        try store.setPolicy("manual", number: 1)
        try store.pull(other)
        let shown = try #require(try store.body("a"))
        let rows = try store.reader.query("SELECT RAW t FROM things AS t").rows()
        #expect(rows.map { $0.value.json?.description } == [shown])
    }

    /// Reading the list again for each row took many minutes for this.
    @Test(.timeLimit(.minutes(5))) func aLongListIsReadOnceForAllRows() throws {
        var harness = try QueryHarness()
        try harness.put((0..<2_000).map { try JSONValue(parsing: "{\"n\":\($0)}").object! })
        func count(_ list: Range<Int>) throws -> String {
            let list = JSONValue.array(list.map { .number(JSONNumber($0)) })
            return try harness.text("SELECT RAW COUNT(*) FROM people WHERE n IN $list", ParameterValues(["list": list]))
        }
        #expect(try count(1_000..<5_000) == "1000")
        // Another list for the same statement.
        #expect(try count(1_900..<2_100) == "100")
        #expect(try count(3_000..<3_001) == "0")
    }

    @Test func allRowsAreOfOneMomentAndTheCursorLetsGoOfIt() throws {
        let harness = try Self.people()
        let cursor = try harness.store.reader.query("SELECT RAW name FROM people ORDER BY META().id")
        #expect(try cursor.next()?.value == .string("Ada"))
        try harness.store.delete("d1")
        #expect(try cursor.rows().count == 4)
        #expect(try harness.store.reader.query("SELECT RAW name FROM people").rows().count == 4)
    }

    @Test(arguments: ["", " ORDER BY age"])
    func theMomentOfACursorIsThatOfItsQuery(_ order: String) throws {
        let harness = try Self.people()
        let query = try harness.store.reader.prepare("SELECT RAW name FROM people\(order)")
        for number in 0..<3 {
            let cursor = try harness.store.reader.query(query)
            try harness.store.put("later-\(number)", #"{"name":"Eve","age":1}"#)
            #expect(try cursor.rows().count == 5 + number)
        }
        let cursor = try harness.store.reader.query(query)
        try harness.store.delete("d1")
        #expect(try cursor.rows().count == 8)
    }

    /// Each index with a query that uses it where it is there.
    @Test(arguments: [
        (IndexDefinition.Kind.values(["age"]), "SELECT RAW name FROM people WHERE age = 41"),
        (IndexDefinition.Kind.elements(of: "tags", path: nil), "SELECT RAW name FROM people WHERE 'poet' IN tags"),
    ])
    func indexesThatComeAndGoBetweenAQueryAndItsRowsChangeNothing(
        _ kind: IndexDefinition.Kind, _ text: String
    ) throws {
        let harness = try Self.people()
        let reader: StoreReader = harness.store.reader
        let query = try reader.prepare(text)
        let definition = try IndexDefinition("i", kind)
        for _ in 0..<2 {
            let without = try reader.query(query)
            try harness.store.store.createIndex(definition)
            #expect(without.indexes == [])
            #expect(try without.rows().count == 2)
            let with = try reader.query(query)
            try harness.store.store.dropIndex("i")
            #expect(with.indexes == ["i"])
            #expect(try with.rows().count == 2)
        }
    }

    @Test func aQueryThatWasAskedBeforeFollowsTheIndexes() throws {
        let harness = try Self.people()
        let reader: StoreReader = harness.store.reader
        let query = try reader.prepare("SELECT RAW name FROM people WHERE MATCH(words, $words)")
        let words = ParameterValues(["words": "ada"])
        let definition = try IndexDefinition("words", .text(["name"], TextIndexOptions()))
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { _ = try reader.query(query, parameters: words) }
            #expect(error?.message.contains("there is no full-text index named words") == true)
            try harness.store.store.createIndex(definition)
            // The second time by the statement of the first.
            for _ in 0..<2 { #expect(try reader.query(query, parameters: words).rows().count == 1) }
            #expect(reader.takePlans().values.reduce(0, +) == 2)
            try harness.store.store.dropIndex("words")
        }
    }

    @Test func oneReaderHasSeveralCursorsOfOneQuery() throws {
        let harness = try Self.people()
        let query = "SELECT RAW name FROM people ORDER BY META().id"
        let (one, other) = (try harness.store.reader.query(query), try harness.store.reader.query(query))
        #expect(try one.next()?.value == .string("Ada"))
        #expect(try other.next()?.value == .string("Ada"))
        #expect(try one.next()?.value == .string("Bob"))
        #expect(try other.rows().count == 4)
        #expect(try one.rows().count == 3)
    }

    @Test func whatATransactionHasWrittenItReads() throws {
        let store = try TestStore()
        let body = try TestStore.canonical(#"{"n":7}"#)
        let count = try store.store.write { (transaction) throws(StoreError) in
            _ = try transaction.put(DocumentID(unchecked: "a"), body)
            return try transaction.reader.query("SELECT RAW n FROM things WHERE n = 7").rows().count
        }
        #expect(count == 1)
    }

    // Numbers, texts and names at the edges.

    @Test func aNumberOfAnySizeIsShownAsItStands() throws {
        var harness = try QueryHarness()
        let long = "1" + String(repeating: "0", count: 40)
        try harness.put([["n": try JSONValue(parsing: long)], ["n": try JSONValue(parsing: "9007199254740993")]])
        #expect(try harness.text("SELECT RAW n FROM t ORDER BY n DESC") == "\(long) 9007199254740993")
        #expect(try harness.text("SELECT RAW n FROM t GROUP BY n ORDER BY n DESC") == "\(long) 9007199254740993")
        #expect(try harness.text("SELECT RAW n FROM t WHERE n = \(long)") == long)
        #expect(try harness.text("SELECT RAW n FROM t WHERE n = 9007199254740992") == "")
    }

    @Test func whatLooksLikeSQLIsAValueOrAName() throws {
        let attacks = [
            "'; DROP TABLE documents; --", "' OR 1 = 1 --", "x') UNION SELECT body FROM documents --", "\0'; --", "?1",
            "\\", "\"", "`", "kq_get", "d0.body", "\u{1}\u{7F}", "');DELETE FROM documents;('",
        ]
        for attack in attacks {
            var harness = try QueryHarness()
            try harness.put([[attack: .string(attack), "x": 1], ["x": 2]])
            let path = QueryExpression(.path(.identifier("t"), [.member(attack)]))
            for condition in [
                QueryExpression(.comparison(.equal, path, .string(attack))),
                QueryExpression(.comparison(.equal, .call("LOWER", path), .call("LOWER", .string(attack)))),
                QueryExpression(.comparison(.equal, path, QueryExpression(.parameter(.named("p"))))),
                QueryExpression(.membership(path, in: QueryExpression(.array([.string(attack)])), isNegated: false)),
            ] {
                var statement = QueryStatement(
                    selection: .columns([.value(path, alias: attack)]), from: QuerySource(attack, alias: "t"))
                statement.filter = condition
                let rows = try harness.rows(try statement.checked(), ParameterValues(["p": .string(attack)]))
                #expect(rows.map(\.value) == [.object([attack: .string(attack)])], "\(attack)")
            }
            let definition = try IndexDefinition(
                "i", .values([QueryExpression.identifier(attack).sql]),
                where: "x != \(QueryExpression.string(attack).sql)")
            try harness.makeIndex(definition)
            #expect(try harness.text("SELECT RAW COUNT(*) FROM t") == "2")
        }
    }

    @Test func everyPlaneOfUnicodeIsFound() throws {
        var harness = try QueryHarness()
        let scalars: [UInt32] = (0...16).map { $0 << 16 | 0xFFFD } + [0x1F600, 0x20000, 0xE0041, 0x10FFFF, 0x7F, 0x80]
        let texts = scalars.compactMap { Unicode.Scalar($0) }.map { "a\(Character($0))b" }
        try harness.put(texts.map { [$0: .string($0), "s": .string($0)] })
        try harness.makeIndex(IndexDefinition("s", .values(["s"])))
        for text in texts {
            let literal = QueryExpression.string(text).sql
            let name = QueryExpression.identifier(text).sql
            #expect(try harness.text("SELECT RAW s FROM t WHERE s = \(literal)") == JSONValue.string(text).description)
            #expect(
                try harness.text("SELECT RAW t.\(name) FROM t WHERE t.\(name) = s")
                    == JSONValue.string(text).description)
        }
        let sorted = try harness.rows(QueryStatement(parsing: "SELECT RAW s FROM t ORDER BY s").checked())
        #expect(sorted.map(\.value) == texts.map { .string($0) }.sorted())
    }

    @Test func aDeepPathLeadsToItsEnd() throws {
        var harness = try QueryHarness()
        let depth = 60
        var body: JSONValue = 7
        for _ in 0..<depth { body = ["a": body] }
        try harness.put([body.object!])
        let path = (0..<depth).map { _ in "a" }.joined(separator: ".")
        #expect(try harness.text("SELECT RAW \(path) FROM t WHERE \(path) = 7") == "7")
        #expect(try harness.text("SELECT RAW \(path).a FROM t WHERE \(path).a IS MISSING") == "MISSING")
    }

    @Test func longChainsAreNoDeepTrees() throws {
        let harness = try Self.people()
        let chain = (0..<3_000).map { "age != \($0 + 1000)" }.joined(separator: " AND ")
        #expect(try harness.text("SELECT RAW COUNT(*) FROM t WHERE \(chain)") == "4")
        let list = (0..<5_000).map(String.init).joined(separator: ", ")
        #expect(
            try harness.text("SELECT RAW name FROM t WHERE age IN [\(list)] ORDER BY name") == #""Ada" "Bob" "bea""#)
    }

    // Errors and bounds.

    @Test(arguments: [
        ("SELECT RAW name FROM t WHERE age = $missing", "line 1, column 36: the parameter $missing has no value"),
        ("SELECT RAW name FROM t LIMIT -1", "line 1, column 30: LIMIT is not an integer from 0 on"),
        ("SELECT RAW name FROM t WHERE REGEXP_LIKE(name, '(' || name)", nil),
        (
            "SELECT RAW name FROM t WHERE MATCH(words, 'a')",
            "line 1, column 30: there is no full-text index named words: make one"
        ),
    ])
    func aQueryThatCanNotBeAnsweredSaysWhere(_ query: String, _ message: String?) throws {
        let harness = try Self.people()
        let error = #expect(throws: StoreError.self) { _ = try harness.store.reader.query(query).rows() }
        #expect(error?.code == .invalid)
        #expect(error?.query != nil)
        if let message { #expect(error?.message == message) }
        // What failed leaves nothing behind.
        #expect(try harness.text("SELECT RAW COUNT(*) FROM t") == "5")
    }

    @Test func aQueryThatGoesOnTooLongIsEnded() throws {
        var harness = try QueryHarness()
        try harness.put((0..<60).map { ["n": .number($0), "a": .array((0..<300).map { .number($0) })] })
        for query in [
            // Within SQLite, and within one expression.
            "SELECT RAW COUNT(*) FROM t AS a JOIN t AS b ON a.n != b.n JOIN t AS c ON b.n != c.n JOIN t AS d ON d.n = -1",
            "SELECT RAW n FROM t WHERE ANY x IN a SATISFIES (ANY y IN a SATISFIES (ANY z IN a SATISFIES x + y + z < 0 END) END) END",
        ] {
            let error = #expect(throws: StoreError.self) {
                _ = try harness.store.reader.query(query, bounds: QueryBounds(steps: 200_000)).rows()
            }
            #expect(error?.code == .cancelled, "\(query)")
            var looks = 0
            let other = #expect(throws: StoreError.self) {
                _ = try harness.store.reader.query(
                    query,
                    bounds: QueryBounds(isUnwanted: {
                        looks += 1
                        return looks > 3
                    })
                ).rows()
            }
            #expect(other?.code == .cancelled, "\(query)")
        }
        #expect(try harness.text("SELECT RAW COUNT(*) FROM t") == "60")
    }

    // EXPLAIN.

    @Test func anExplanationNamesWhatIsUsedAndWhatWouldHelp() throws {
        let harness = try Self.people()
        let query = "SELECT name FROM t WHERE age = 41 AND city.name > 'A' LIMIT 3"
        let before = try harness.store.reader.explain(query)
        #expect(before.indexes == [])
        #expect(before.suggestion == ["age", "city.name"])
        #expect(before.notes == ["LIMIT or OFFSET without ORDER BY takes any rows, and others another time"])
        #expect(
            before.sql.hasPrefix(
                "SELECT kq_json(d0.body, 'name') FROM documents AS d0 WHERE (d0.body IS NOT NULL AND kq_get(d0.body, 'age') = "
            ))
        try harness.makeIndex(IndexDefinition("ages", .values(before.suggestion)))
        let after = try harness.store.reader.explain(query)
        #expect(after.indexes == ["ages"])
        #expect(after.suggestion == [])
        #expect(after.plan.contains { $0.contains("USING INDEX index_1") })
        #expect(harness.store.reader.takeUsedIndexes() == [])
        #expect(try harness.text(query).contains("bea"))
        #expect(harness.store.reader.takeUsedIndexes() == ["ages"])
    }

    /// Each with an index and a query that has to use it.
    @Test(
        arguments: [
            (["age"], nil, "SELECT name FROM t WHERE age = 41"), (["age"], nil, "SELECT name FROM t WHERE 41 = age"),
            (["age"], nil, "SELECT name FROM t WHERE age = $n"),
            (["age"], nil, "SELECT name FROM t WHERE age IN [1, 41]"),
            (["age"], nil, "SELECT name FROM t WHERE age BETWEEN 3 AND $n"),
            (["age"], nil, "SELECT name FROM t ORDER BY age"),
            (["age"], nil, "SELECT name FROM t WHERE NOT (age != 41 OR name = 'x')"),
            (["age", "name"], nil, "SELECT name FROM t WHERE age = 41 AND name > 'a' ORDER BY name"),
            (["LOWER(name)"], nil, "SELECT name FROM t WHERE LOWER(name) = 'ada'"),
            (["name COLLATE NOCASE"], nil, "SELECT name FROM t WHERE name = 'ADA' COLLATE NOCASE"),
            (["name"], nil, "SELECT name FROM t WHERE name LIKE 'A%'"),
            (["name"], "age = 41", "SELECT name FROM t WHERE name = 'Bob' AND age = 41"),
            (["age"], nil, "SELECT a.name FROM t AS a JOIN t AS b ON a.age = b.age WHERE b.name = 'Bob'"),
        ] as [([String], String?, String)])
    func anIndexIsUsed(_ expressions: [String], _ filter: String?, _ query: String) throws {
        let harness = try Self.people()
        try harness.makeIndex(IndexDefinition("i", .values(expressions), where: filter))
        #expect(try harness.store.reader.explain(query).indexes == ["i"])
        let checked = try QueryStatement(parsing: query).checked()
        let parameters = ParameterValues(["n": 41])
        #expect(
            try harness.rows(checked, parameters).map(\.value).sorted()
                == harness.expected(checked, parameters).map(\.value).sorted())
    }

    @Test(arguments: [
        "SELECT name FROM t WHERE 'math' IN tags", "SELECT name FROM t WHERE ARRAY_CONTAINS(tags, 'math')",
        "SELECT name FROM t WHERE ANY x IN tags SATISFIES x = 'math' AND name != 'Dan' END",
        "SELECT name, x FROM t UNNEST tags AS x WHERE x >= 'n' AND age > 0",
    ])
    func anArrayIndexIsUsed(_ query: String) throws {
        let harness = try Self.people()
        try harness.makeIndex(IndexDefinition("tags", .elements(of: "tags", path: nil)))
        #expect(try harness.store.reader.explain(query).indexes == ["tags"])
        let checked = try QueryStatement(parsing: query).checked()
        #expect(try harness.rows(checked).map(\.value).sorted() == harness.expected(checked).map(\.value).sorted())
    }
}
