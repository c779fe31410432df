import KithDocument
import KithQuery
import Testing

@testable import KithStore

/// An index changes how a query is answered, and never what is answered.
@Suite struct IndexAnswerTests {
    struct Case: CustomTestStringConvertible {
        let bodies: [String]
        let definition: @Sendable () throws(QueryError) -> IndexDefinition
        let query: String
        var parameters: JSONObject = [:]
        /// The ids.
        let expected: [String]

        var testDescription: String { query }
    }

    private static let tags: @Sendable () throws(QueryError) -> IndexDefinition = { () throws(QueryError) in
        try IndexDefinition("i", .elements(of: "tags", path: nil))
    }

    private static func tags(where filter: String) -> @Sendable () throws(QueryError) -> IndexDefinition {
        { () throws(QueryError) in try IndexDefinition("i", .elements(of: "tags", path: nil), where: filter) }
    }

    private static func values(
        _ expression: String, where filter: String? = nil
    ) -> @Sendable () throws(QueryError) -> IndexDefinition {
        { () throws(QueryError) in try IndexDefinition("i", .values([expression]), where: filter) }
    }

    private static let withNull = [#"{"tags":[null,"x"]}"#, #"{"tags":["y"]}"#]
    private static let named = [#"{"name":null}"#, #"{"name":"x"}"#, #"{"name":"y"}"#, "{}"]

    static let cases = [
        // ARRAY_CONTAINS takes NULL as a value; IN does not.
        Case(bodies: withNull, definition: tags, query: "ARRAY_CONTAINS(tags, NULL)", expected: ["d0"]),
        Case(
            bodies: withNull, definition: tags, query: "ARRAY_CONTAINS(tags, $p)", parameters: ["p": .null],
            expected: ["d0"]),
        Case(bodies: withNull, definition: tags, query: "ARRAY_CONTAINS(tags, MISSING)", expected: []),
        Case(
            bodies: withNull, definition: tags, query: "ARRAY_CONTAINS(tags, NULL COLLATE NOCASE)", expected: ["d0"]),
        Case(bodies: withNull, definition: tags, query: "NULL IN tags", expected: []),
        Case(bodies: withNull, definition: tags, query: "$p IN tags", parameters: ["p": .null], expected: []),
        Case(bodies: withNull, definition: tags, query: "'y' IN tags", expected: ["d1"]),
        // Elements of IN that are NULL or MISSING, also with a COLLATE of their own.
        Case(
            bodies: named, definition: values("name"), query: "name IN ['x', NULL COLLATE NOCASE]", expected: ["d1"]),
        Case(
            bodies: named, definition: values("name COLLATE NOCASE"),
            query: "name IN ['X' COLLATE NOCASE, $p COLLATE NOCASE]", parameters: ["p": .null], expected: []),
        Case(
            bodies: named, definition: values("name"), query: "name NOT IN ['x', MISSING COLLATE NOCASE]",
            expected: ["d2"]),
        Case(
            bodies: named, definition: values("name"), query: "name NOT IN ['x', $p COLLATE NOCASE]",
            parameters: ["p": .null], expected: ["d2"]),
        // What is the same for all documents and large.
        Case(
            bodies: ["{\"m\":1,\"n\":3}", "{\"m\":1,\"n\":-1}"],
            definition: values("m", where: "ARRAY_CONTAINS(ARRAY_RANGE(0, 21000), n)"),
            query: "m >= 0 AND ARRAY_CONTAINS(ARRAY_RANGE(0, 21000), n)", expected: ["d0"]),
        Case(
            bodies: ["{\"n\":3}", "{\"n\":4}"], definition: values("n"), query: "n IN ARRAY_RANGE(0, 4)",
            expected: ["d0"]),
        // Names that differ in their bytes alone.
        Case(
            bodies: ["{\"tags\":[\"x\"],\"e\u{301}\":1}"], definition: tags(where: "`\u{e9}` = 1"),
            query: "'x' IN tags AND `e\u{301}` = 1", expected: ["d0"]),
        // A literal that looks like a column.
        Case(
            bodies: [#"{"kind":"d0.x","tags":["q"]}"#, #"{"kind":"d1.x","tags":["q"]}"#],
            definition: tags(where: "REGEXP_LIKE(kind, 'd0.x')"),
            query: "REGEXP_LIKE(kind, 'd0.x') AND 'q' IN tags", expected: ["d0"]),
    ]

    @Test(arguments: cases)
    func anIndexDoesNotChangeTheAnswer(_ test: Case) throws {
        var harness = try QueryHarness()
        try harness.put(try test.bodies.map { try #require(JSONValue(parsing: $0).object) })
        let query = try QueryStatement(parsing: "SELECT RAW META().id FROM t WHERE \(test.query)").checked()
        let parameters = ParameterValues(test.parameters)
        func ids(_ rows: [QueryRow]) -> [String] { rows.compactMap(\.value.string).sorted() }
        #expect(ids(try harness.expected(query, parameters)) == test.expected)
        #expect(ids(try harness.rows(query, parameters)) == test.expected)
        try harness.makeIndex(try test.definition())
        #expect(ids(try harness.rows(query, parameters)) == test.expected)
        #expect(try harness.store.findings() == [])
    }

    @Test func aPartialArrayIndexIsUsedForTheSourceThatItCovers() throws {
        var harness = try QueryHarness()
        try harness.put([["kind": "d1.x", "tags": ["q"], "n": 1]])
        try harness.makeIndex(try Self.tags(where: "REGEXP_LIKE(kind, 'd0.x')")())
        func query(_ pattern: String) -> String {
            "SELECT RAW META(b).id FROM t AS a JOIN t AS b ON a.n = b.n "
                + "WHERE REGEXP_LIKE(b.kind, '\(pattern)') AND 'q' IN b.tags"
        }
        #expect(try harness.text(query("d1.x")) == #""d0""#)
        #expect(try harness.store.reader.explain(query("d0.x")).indexes == ["i"])
        #expect(try harness.store.reader.explain(query("d1.x")).indexes == [])
    }

    @Test(arguments: ["FROM x", "d0.", "documents, ", "new.", "'", "\u{1}"])
    func aPathOfAnArrayIndexMayHaveAnyName(_ name: String) throws {
        var harness = try QueryHarness()
        try harness.put([["items": [.object([name: 1])]]])
        let quoted = QueryExpression.identifier(name).sql
        try harness.makeIndex(IndexDefinition("i", .elements(of: "items", path: quoted)))
        try harness.put([["items": [.object([name: 1])]], ["items": [.object([name: 2])]]])
        let query = "SELECT RAW META().id FROM t WHERE ANY p IN items SATISFIES p.\(quoted) = 2 END"
        #expect(try harness.store.reader.explain(query).indexes == ["i"])
        #expect(try harness.text(query) == #""d1""#)
        #expect(try harness.store.findings() == [])
    }

    @Test func aDefinitionWhoseTextIsTooLongToBeReadIsRefused() throws {
        let error = #expect(throws: QueryError.self) {
            try IndexDefinition("i", .values(["n"]), where: "CONTAINS(s, REPEAT('a', 300000))")
        }
        #expect(error?.message.contains("too long") == true)
    }

    @Test func definitionsThatDifferInTheBytesOfANameAreTwo() throws {
        let store = try TestStore()
        try store.store.createIndex(IndexDefinition("i", .values(["`\u{e9}`"])))
        #expect(failure { try store.store.createIndex(IndexDefinition("i", .values(["`e\u{301}`"]))) } == .invalid)
    }

    // Compaction.

    /// The number of an index that is dropped is given to the next one: what the copy has by that name is another's.
    @Test(
        arguments: [
            ("tags", "labels", nil), ("tags", "tags", "n > 0"), ("tags", "tags", nil),
        ] as [(String, String, String?)])
    func anIndexThatIsMadeWhileACopyIsMadeIsKeptInIt(_ first: String, _ second: String, _ filter: String?) throws {
        let store = try TestStore()
        try store.put("a", #"{"n":1,"tags":["q"],"labels":["q"]}"#)
        try store.store.createIndex(IndexDefinition("one", .elements(of: first, path: nil)))
        try Compaction.write(store.file)
        try store.store.dropIndex("one")
        try store.store.createIndex(IndexDefinition("other", .elements(of: second, path: nil), where: filter))
        try store.put("b", #"{"n":1,"tags":["q"],"labels":["q"]}"#)
        try store.store.completeCopy()
        store.close()
        try Compaction.install(store.file)
        try store.reopen()
        try store.put("c", #"{"n":1,"tags":["q"],"labels":["q"]}"#)
        try store.delete("a")
        #expect(try store.findings() == [])
        let query = "SELECT RAW META().id FROM t WHERE n > 0 AND 'q' IN \(second) ORDER BY META().id"
        #expect(try store.reader.explain(query).indexes == ["other"])
        #expect(try store.reader.query(query).rows().map(\.value) == [.string("b"), .string("c")])
    }

    @Test func aFullTextIndexThatIsMadeWhileACopyIsMadeIsKeptInIt() throws {
        let store = try TestStore()
        try store.put("a", #"{"a":"milk","b":"bread"}"#)
        try store.store.createIndex(IndexDefinition("one", .text(["a"], TextIndexOptions())))
        try Compaction.write(store.file)
        try store.store.dropIndex("one")
        try store.store.createIndex(IndexDefinition("other", .text(["b"], TextIndexOptions())))
        try store.store.completeCopy()
        store.close()
        try Compaction.install(store.file)
        try store.reopen()
        try store.put("b", #"{"a":"milk","b":"more bread"}"#)
        #expect(try store.findings() == [])
        let query = "SELECT RAW META().id FROM t WHERE MATCH(other, 'bread') ORDER BY META().id"
        #expect(try store.reader.query(query).rows().map(\.value) == [.string("a"), .string("b")])
    }

    // Transactions.

    @Test func whatATransactionKnewOfIndexesGoesWithItsRollback() throws {
        let store = try TestStore()
        try store.put("a", #"{"tags":["q"],"labels":["l"]}"#)
        let query = "SELECT RAW META().id FROM t WHERE 'q' IN tags"
        let definition = try Self.tags()
        #expect(throws: StoreError.self) {
            try store.store.write { (transaction) throws(StoreError) in
                try transaction.createIndex(definition)
                _ = try transaction.reader.query(query).rows()
                throw StoreError(.conflict, "test", "no")
            }
        }
        try store.store.createIndex(IndexDefinition("i", .elements(of: "labels", path: nil)))
        let found = try store.store.write { (transaction) throws(StoreError) in
            try transaction.reader.query(query).rows().map(\.value)
        }
        #expect(found == [.string("a")])
    }
}

/// What is written down of indexes may come from another program, or be damaged.
@Suite struct IndexRecordTests {
    private static func filled() throws -> TestStore {
        let store = try TestStore()
        try store.store.createIndex(IndexDefinition("tags", .elements(of: "tags", path: nil)))
        try store.store.createIndex(IndexDefinition("n", .values(["n"])))
        for number in 0..<5 { try store.put("d\(number)", #"{"n":\#(number),"tags":["t\#(number % 2)"]}"#) }
        return store
    }

    /// Changes the file behind the back of its store, which is opened again.
    private static func change(_ store: TestStore, _ statements: String) throws {
        let path = store.store.file.path
        store.close()
        do {
            let connection = try Connection(path: path, subject: "test", access: .write)
            try connection.run(statements)
        }
        try store.reopen()
    }

    private static func record(_ part: String, _ other: String, of name: String = "tags") -> String {
        """
        UPDATE settings SET value = CAST(replace(CAST(value AS TEXT), '\(part)', '\(other)') AS BLOB)
        WHERE key = 'index.\(name)';
        """
    }

    private static func count(_ store: TestStore, _ names: String) throws -> Int64? {
        try store.reader.connection.number("SELECT count(*) FROM sqlite_schema WHERE name GLOB '\(names)'")
    }

    @Test(arguments: ["\"functions\":0", "\"functions\":99", "\"f\":1"])
    func anIndexOfOtherFunctionsIsMadeAnew(_ functions: String) throws {
        let store = try Self.filled()
        try Self.change(
            store,
            Self.record("\"functions\":1", functions) + Self.record("\"functions\":1", functions, of: "n")
                + "DELETE FROM elements_1; DROP INDEX index_2; CREATE INDEX index_2 ON documents(id)")
        #expect(try store.findings() == [])
        #expect(try store.reader.query("SELECT RAW n FROM t WHERE 't0' IN tags").rows().count == 3)
        #expect(try store.reader.explain("SELECT RAW n FROM t WHERE n = 3").indexes == ["n"])
        #expect(try store.reader.query("SELECT RAW n FROM t WHERE n = 3").rows().count == 1)
        #expect(
            try store.reader.connection.number(
                "SELECT count(*) FROM settings WHERE CAST(value AS TEXT) LIKE '%\"functions\":1%'") == 2)
    }

    @Test func anIndexOfAKindThatIsNotKnownStopsNoWriteAndComesBack() throws {
        let store = try Self.filled()
        try Self.change(
            store, Self.record("\"functions\":1", "\"functions\":2") + Self.record("\"elements\"", "\"newer\""))
        #expect(try Self.count(store, "elements_*") == 0)
        #expect(try store.findings().map(\.message).contains { $0.contains("the index tags can't be read") })
        try store.put("late", #"{"n":9,"tags":["t0"]}"#)
        try store.reopen()
        try Self.change(store, Self.record("\"newer\"", "\"elements\""))
        #expect(try store.findings() == [])
        #expect(try store.reader.explain("SELECT RAW n FROM t WHERE 't0' IN tags").indexes == ["tags"])
        #expect(try store.reader.query("SELECT RAW n FROM t WHERE 't0' IN tags").rows().count == 4)
    }

    @Test func anIndexThatCanNotBeReadIsDropped() throws {
        let store = try Self.filled()
        try Self.change(store, Self.record("\"elements\"", "\"newer\""))
        #expect(try Self.count(store, "elements_*") == 4)
        let error = #expect(throws: StoreError.self) { try store.store.dropIndex("none") }
        #expect(error?.message == "there is no index 'none'; there are: n, tags")
        try store.store.dropIndex("tags")
        #expect(try Self.count(store, "elements_*") == 0)
        #expect(try store.findings() == [])
        try store.store.createIndex(IndexDefinition("tags", .elements(of: "tags", path: nil)))
        #expect(try store.findings() == [])
    }

    @Test(arguments: [
        "CREATE TABLE \"index_1; DROP TABLE local; --\"(a)", "CREATE TABLE \"elements_1_insert; x\"(a)",
        "CREATE VIEW index_77 AS SELECT 1", "CREATE TABLE elements_01(a)",
    ])
    func aNameThatIsNoneOfOursIsNotRun(_ statement: String) throws {
        let store = try Self.filled()
        try Self.change(store, statement)
        let tables = try Self.count(store, "*")
        try Compaction.write(store.file)
        #expect(failure { try store.store.completeCopy() } == .damaged)
        try store.put("late", #"{"n":9}"#)
        #expect(try Self.count(store, "*") == tables)
    }

    @Test func aTableOfAnyNameIsCopied() throws {
        let store = try Self.filled()
        try Self.change(store, "CREATE TABLE \"a\"\"; DROP TABLE local; --\"(a)")
        try Compaction.write(store.file)
        try store.store.completeCopy()
        store.close()
        try Compaction.install(store.file)
        try store.reopen()
        #expect(try store.findings() == [])
    }

    @Test func aRepairDoesNotFailForTwoIndexesOfOneNumber() throws {
        let store = try Self.filled()
        try store.store.createIndex(IndexDefinition("other", .elements(of: "tags", path: nil), where: "n > 1"))
        try Self.change(
            store,
            "DROP TRIGGER elements_3_insert; DROP TRIGGER elements_3_update; DROP TRIGGER elements_3_delete;"
                + "DROP TABLE elements_3;" + Self.record("\"number\":3", "\"number\":1", of: "other"))
        try store.repair()
        #expect(try store.reader.indexes().map(\.definition.name) == ["n", "other", "tags"])
        try store.put("late", #"{"n":9,"tags":["t0"]}"#)
        #expect(try store.findings() == [])
    }
}
