import Foundation
import Kith
import KithDocument
import KithQuery
import KithQueryBuilder
import KithTestSupport
import KithTesting
import Testing

/// Queries that are built at random, and what a database, the evaluator and a live query make of them.
struct RandomQueries {
    var random: SeededGenerator

    private static let words = ["", "a", "A", "ab", "b%", "é", "milk"]

    /// A document's fields; some are missing, NULL, or of another type than elsewhere.
    mutating func body() -> KithDocument.JSONValue {
        var members: [(String, KithDocument.JSONValue)] = [("type", .string(random.pick(["x", "x", "y"])))]
        for name in ["a", "b"] where random.chance(5, in: 6) { members.append((name, scalar())) }
        if random.chance(4, in: 5) { members.append(("s", .string(random.pick(Self.words)))) }
        if random.chance(4, in: 5) {
            members.append(("tags", .array((0..<random.below(4)).map { _ in .string(random.pick(Self.words)) })))
        }
        return .object(JSONObject(members))
    }

    private mutating func scalar() -> KithDocument.JSONValue {
        switch random.below(8) {
        case 0: .null
        case 1: .bool(random.chance(1, in: 2))
        case 2: .string(random.pick(Self.words))
        case 3: .number(Double(random.below(5)) + 0.5)
        default: .number(random.within(-2...4))
        }
    }

    // Terms.

    private mutating func number() -> RowTerm<Int> { .value(random.within(-2...4)) }

    private mutating func value(_ alias: String) -> Field {
        switch random.below(6) {
        case 0: Field("\(alias).a") + Field("\(alias).b")
        case 1: Field("\(alias).s")
        case 2: Field("\(alias).tags")[0]
        case 3: Field.function("IFMISSINGORNULL", Field("\(alias).b"), 3)
        case 4: Field("\(alias).b")
        default: Field("\(alias).a")
        }
    }

    mutating func condition(_ alias: String, depth: Int = 2) -> RowTerm<Bool> {
        let word = random.pick(Self.words)
        switch random.below(depth > 0 ? 12 : 9) {
        case 0: return Field("\(alias).a") >= number().untyped
        case 1: return value(alias) == value(alias)
        case 2: return Field("\(alias).b").isIn([1, 2, 3])
        case 3: return RowTerm<String>.function("TOSTRING", Field("\(alias).s")).contains(word)
        case 4: return Field("\(alias).tags").containsElement(word)
        case 5: return Field("\(alias).a").isValued
        case 6: return Field("\(alias).b").isMissing
        case 7: return Field("\(alias).type") == RowTerm<String>.value(random.pick(["x", "y"])).untyped
        case 8: return Field("\(alias).tags").any { $0 == RowTerm<String>.value(word).untyped }
        case 9: return condition(alias, depth: depth - 1) && condition(alias, depth: depth - 1)
        case 10: return condition(alias, depth: depth - 1) || condition(alias, depth: depth - 1)
        default: return !condition(alias, depth: depth - 1)
        }
    }

    /// A query whose rows come in an order that is said, or are to be sorted.
    mutating func query() -> any BuiltQuery {
        var query = DocumentQuery(from: "_", as: "d")
        if random.chance(1, in: 4) {
            let on = Field("d.a") == Field("e.b") && condition("e", depth: 0)
            query = random.chance(1, in: 2) ? query.join("_", as: "e", on: on) : query.leftJoin("_", as: "e", on: on)
            if random.chance(1, in: 3) { query = query.where(Field("e.a").isMissing) }
        } else if random.chance(1, in: 5) {
            query = query.unnest(Field("d.tags"), as: "e")
        }
        for _ in 0..<random.below(3) { query = query.where(condition("d")) }
        if random.chance(1, in: 4) {
            let grouped = query.group(by: value("d").named("key"))
            let counted = random.chance(1, in: 2) ? grouped.having(Field.rowCount > 1) : grouped
            return counted.select(Field("key").ofGroup, Field.rowCount.named("n"), Field("d.a").sum().named("sum"))
        }
        if random.chance(1, in: 6) {
            return query.select(Field.rowCount.named("n"), Field("d.b").maximum().named("most"))
        }
        if random.chance(1, in: 5) { return query.select(Field("d.a"), Field("d.s")).distinct() }
        for _ in 0..<random.below(3) {
            query = query.order(
                value("d"), random.pick([.ascending, .descending]), nils: random.pick([nil, .first, .last]))
        }
        if random.chance(1, in: 3) {
            query = query.order(Field.metadata(.id, of: "d")).limit(random.within(1...6))
            if random.chance(1, in: 3) { query = query.offset(random.below(4)) }
        }
        if random.chance(1, in: 4) { return query.select(value: Field("d.a")) }
        if random.chance(1, in: 4) { return query }
        return query.select(Field("d.s"), Field("d.a").named("x"), Field.metadata(.id, of: "d"))
    }
}

struct RandomQueryTests {
    /// `KITH_LONG_TESTS=1` tries more.
    private static let seeds = ProcessInfo.processInfo.environment["KITH_LONG_TESTS"] == nil ? UInt64(4) : 100

    /// Whether rows come in an order that is the same everywhere.
    private static func isOrdered(_ statement: QueryStatement) -> Bool { statement.limit != nil }

    private static func texts(_ rows: [KithDocument.JSONValue], _ statement: QueryStatement) -> [String] {
        let texts = rows.map(\.description)
        return isOrdered(statement) && statement.joins.isEmpty ? texts : texts.sorted()
    }

    /// Whether two places where queries are run may give other rows: a LIMIT of rows that are equal in their order.
    private static func isArbitrary(_ statement: QueryStatement) -> Bool {
        statement.limit != nil && !statement.joins.isEmpty
    }

    @Test func `a database and the evaluator find the same by queries that are built at random`() async throws {
        for seed in 0..<Self.seeds {
            var queries = RandomQueries(random: SeededGenerator(seed: 4_000 + seed))
            let database = try Database.inMemory()
            var documents: [QueryDocument] = []
            for number in 0..<30 {
                let body = queries.body()
                let saved = try await database.save(Kith.Document(id: "d\(number)", Kith.JSONValue(body)))
                documents.append(
                    QueryDocument(
                        DocumentMetadata(id: saved.id, revision: saved.revision!, sequence: saved.sequence),
                        body.object!))
            }
            if seed.isMultiple(of: 2) {
                try await database.createIndex(DatabaseIndex("a", on: "type", "a"))
                try await database.createIndex(DatabaseIndex("tags", onElementsOf: "tags"))
            }
            let all = documents
            for _ in 0..<60 {
                let query = queries.query()
                let statement = try query.statement
                if Self.isArbitrary(statement) { continue }
                let expected = try QueryEvaluator().rows(of: statement.checked()) { _ in all }.map(\.value.element)
                let found = try await database.rows(query)
                #expect(
                    Self.texts(found.map(\.tree), statement) == Self.texts(expected, statement),
                    "seed \(4_000 + seed): \(statement.sql)")
            }
        }
    }

    /// Live queries over changes of all kinds: the difference makes each result of the one before, and the result is what a
    /// query of its own finds.
    @Test(.timeLimit(.minutes(30)))
    func `live queries that are built at random give what the query finds`() async throws {
        for seed in 0..<Self.seeds {
            let database = try Database.inMemory()
            var random = RandomQueries(random: SeededGenerator(seed: 5_000 + seed))
            func change() async throws {
                let bodies = (0..<random.random.within(1...3)).map { _ in
                    (
                        id: "d\(random.random.below(12))", body: Kith.JSONValue(random.body()),
                        kind: random.random.below(8)
                    )
                }
                try await database.write { batch in
                    for (id, body, kind) in bodies {
                        switch kind {
                        case 0: try batch.delete(id)
                        case 1: try batch.purge(id)
                        default: try batch.save(Kith.Document(id: id, body), .replace)
                        }
                    }
                }
            }
            for _ in 0..<4 { try await change() }
            var readers:
                [(query: any BuiltQuery, results: LiveQuery<Kith.JSONValue>.Iterator, rows: [Kith.JSONValue])] =
                    []
            for _ in 0..<12 {
                let query = random.query()
                if Self.isArbitrary(try query.statement) { continue }
                readers.append((query, try database.liveRows(query).makeAsyncIterator(), []))
            }
            for round in 0..<15 {
                if round > 0 { try await change() }
                for index in readers.indices {
                    let statement = try readers[index].query.statement
                    let note: Comment = "seed \(5_000 + seed), round \(round): \(statement.sql)"
                    let found = try await database.rows(readers[index].query)
                    let before = readers[index].rows
                    if let result = try await readers[index].results.nextIfAny() {
                        #expect(before.applying(result.difference, of: result.rows) == result.rows, note)
                        readers[index].rows = result.rows
                    }
                    #expect(
                        Self.texts(readers[index].rows.map(\.tree), statement)
                            == Self.texts(found.map(\.tree), statement), note)
                }
            }
        }
    }
}

extension Database {
    /// Of a query of whatever type.
    fileprivate func rows(_ query: some BuiltQuery) async throws -> [Kith.JSONValue] { try await self.query(query) }

    fileprivate func liveRows(_ query: some BuiltQuery) throws -> LiveQuery<Kith.JSONValue> { try live(query) }
}

extension Array {
    /// What a list shows that follows the difference.
    func applying(_ difference: RowDifference, of rows: [Element]) -> [Element] {
        var list = self
        for place in (difference.removed + difference.moved.map(\.from)).sorted(by: >) { list.remove(at: place) }
        for place in (difference.inserted + difference.moved.map(\.to)).sorted() {
            list.insert(rows[place], at: place)
        }
        for place in difference.updated { list[place] = rows[place] }
        return list
    }
}
