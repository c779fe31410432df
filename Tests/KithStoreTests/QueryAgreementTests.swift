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
    /// Pairs of a set of documents and a query that are compared, each without indexes and with them: `KITH_QUERY_PAIRS`, else
    /// 10,000 in the long form and 400 in the short one (docs/query.md).
    private static let pairs = number("KITH_QUERY_PAIRS") ?? (getenv("KITH_LONG_TESTS") == nil ? 400 : 10_000)
    /// The first seed: `KITH_QUERY_SEED`.
    private static let firstSeed = UInt64(number("KITH_QUERY_SEED") ?? 7_000)

    private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

    @Test(arguments: [false, true])
    func randomQueriesAgreeWithTheInterpreter(withIndexes: Bool) throws {
        var outcomes: [Outcome: Int] = [:]
        var seed = Self.firstSeed
        while outcomes.values.reduce(0, +) < Self.pairs {
            defer { seed += 1 }
            var queries = RandomQueries(seed: seed)
            var harness = try QueryHarness(seed: seed)
            if withIndexes { try Self.makeIndexes(harness) }
            try harness.put(queries.documents(25))
            for number in 0..<50 {
                let statement = queries.statement()
                guard let query = try? statement.checked() else { continue }
                outcomes[try Self.compare(query, harness, "seed \(seed), query \(number)"), default: 0] += 1
            }
        }
        let (agree, fail) = (outcomes[.agree] ?? 0, outcomes[.fail] ?? 0)
        let apart = (outcomes[.isAnswered] ?? 0) + (outcomes[.isRefused] ?? 0)
        print(
            "\(agree) queries agree \(withIndexes ? "with" : "without") indexes, \(fail) fail on both sides, "
                + "\(apart) on one, seeds \(Self.firstSeed) to \(seed - 1)")
        #expect(agree > Self.pairs / 2)
        #expect(apart < Self.pairs / 50)
    }

    private enum Outcome {
        case agree
        /// On both sides.
        case fail
        /// By the store, where the interpreter fails: for what it evaluates, and the store need not.
        case isAnswered
        /// By the store for a pattern that is wrong, where the interpreter answers: SQLite evaluates the parts of AND and OR in
        /// an order of its own.
        case isRefused
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

    private static func compare(_ query: CheckedQuery, _ harness: QueryHarness, _ place: String) throws -> Outcome {
        let expected: [QueryRow]
        do throws(QueryError) {
            expected = try harness.expected(query, RandomQueries.parameters)
        } catch { return (try? harness.rows(query, RandomQueries.parameters)) == nil ? .fail : .isAnswered }
        let comment = "\(place): \(query.statement.sql)"
        let rows: [QueryRow]
        do {
            rows = try harness.rows(query, RandomQueries.parameters)
        } catch let error as StoreError where error.query?.message.contains("in the pattern") == true {
            return .isRefused
        } catch {
            Issue.record("\(error) (\(comment))")
            return .agree
        }
        func texts(_ rows: [QueryRow]) -> [String] {
            let values = query.statement.order.isEmpty ? rows.map(\.value).sorted() : rows.map(\.value)
            return values.map { Self.text($0) }
        }
        #expect(texts(rows) == texts(expected), "\(comment)")
        return .agree
    }

    /// As far as equal values are one: of a number beyond 21 digits that was grouped or was the least, the digits.
    private static func text(_ value: QueryValue) -> String { "\(ValueKey(value).bytes)" }
}
