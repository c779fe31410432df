import KithDocument
import KithQuery
import KithTestSupport
import Testing

@testable import KithStore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What SQLite answers is what the interpreter says, over random documents and random queries.
@Suite struct QueryAgreementTests {
    private static let isLong = getenv("KITH_LONG_TESTS") != nil

    /// Pairs of a set of documents and a query: 10,000 in the long form.
    @Test(arguments: [false, true])
    func randomQueriesAgreeWithTheInterpreter(withIndexes: Bool) throws {
        let rounds: UInt64 = Self.isLong ? 100 : 4
        var compared = 0
        for round in 0..<rounds {
            let seed = 7_000 + round
            var queries = RandomQueries(seed: seed)
            var harness = try QueryHarness(seed: seed)
            if withIndexes { try Self.makeIndexes(harness) }
            try harness.put(queries.documents(25))
            for number in 0..<50 {
                let statement = queries.statement()
                guard let query = try? statement.checked() else { continue }
                compared += try Self.compare(query, harness, "seed \(seed), query \(number)") ? 1 : 0
            }
        }
        print("\(compared) queries agree \(withIndexes ? "with" : "without") indexes, seeds 7000 to \(6_999 + rounds)")
        #expect(compared > 25 * Int(rounds))
    }

    static func makeIndexes(_ harness: QueryHarness) throws {
        try harness.makeIndex(IndexDefinition("n", .values(["n"])))
        try harness.makeIndex(IndexDefinition("s-n", .values(["s", "n"])))
        try harness.makeIndex(IndexDefinition("a", .values(["a"]), where: "b IS MISSING"))
        try harness.makeIndex(IndexDefinition("lower", .values(["LOWER(s)", "s COLLATE NOCASE"])))
        try harness.makeIndex(IndexDefinition("o", .values(["o", "`é`"])))
        try harness.makeIndex(IndexDefinition("tags", .elements(of: "tags", path: nil)))
        try harness.makeIndex(IndexDefinition("items", .elements(of: "items", path: "k")))
        try harness.makeIndex(IndexDefinition("some-items", .elements(of: "items", path: nil), where: "n >= 0"))
    }

    /// - Returns: whether there was something to compare: what fails on one side fails on the other, or is not asked there.
    private static func compare(_ query: CheckedQuery, _ harness: QueryHarness, _ place: String) throws -> Bool {
        let expected: [QueryRow]
        do throws(QueryError) {
            expected = try harness.expected(query, RandomQueries.parameters)
        } catch { return false }
        let comment = "\(place): \(query.statement.sql)"
        let rows: [QueryRow]
        do {
            rows = try harness.rows(query, RandomQueries.parameters)
        } catch {
            Issue.record("\(error) (\(comment))")
            return true
        }
        func texts(_ rows: [QueryRow]) -> [String] {
            let values = query.statement.order.isEmpty ? rows.map(\.value).sorted() : rows.map(\.value)
            return values.map { Self.text($0) }
        }
        #expect(texts(rows) == texts(expected), "\(comment)")
        return true
    }

    /// As far as equal values are one: of a number beyond 21 digits that was grouped or was the least, the digits.
    private static func text(_ value: QueryValue) -> String { "\(ValueKey(value).bytes)" }
}
