import KithDocument
import KithQuery

/// A query that is translated and prepared once, and asked again and again.
///
/// It belongs to the reader that made it, and is used like that, by one thread at a time. It follows the indexes that are
/// made and dropped.
package final class PreparedQuery {
    package let checked: CheckedQuery
    /// As of this version of the schema.
    fileprivate var version: Int64?
    fileprivate var translated: TranslatedQuery?
    fileprivate var prepared: QueryCache.Prepared?

    init(_ checked: CheckedQuery) { self.checked = checked }

    /// The statement as it was prepared before, where no cursor stands on it. Whether it still fits the indexes that there
    /// are shows when it steps: of another schema SQLite prepares it anew (`Statement.preparations`).
    var ready: QueryCache.Prepared? { prepared.flatMap { $0.isBusy ? nil : $0 } }
}

/// What one connection keeps of queries: statements that are prepared, and the indexes that there are.
final class QueryCache {
    /// A statement, and what SQLite does for it.
    final class Prepared {
        let translated: TranslatedQuery
        let statement: Statement
        let plan: QueryPlan
        /// The names of all indexes that it uses.
        let indexes: [String]
        /// Whether a cursor stands on it.
        var isBusy = false
        /// How often it was run since somebody asked.
        fileprivate var runs: UInt64 = 0

        init(_ translated: TranslatedQuery, _ statement: Statement, _ plan: QueryPlan) {
            self.translated = translated
            self.statement = statement
            self.plan = plan
            indexes = plan.indexes + translated.usedArrays.filter { !plan.indexes.contains($0) }
        }
    }

    /// Queries by their text, the last used at the end.
    private var queries: [(text: [UInt8], query: PreparedQuery)] = []
    /// The indexes, as of this version of the file's schema.
    private var catalog: (version: Int64, catalog: IndexCatalog)?
    private var version: Statement?
    /// What was run since somebody asked, each once: a query counts in its statement, since looking up a plan by its text
    /// costs as much as finding a document.
    private var used: [Prepared] = []
    /// Indexes and plans of those of them that were too many to remember.
    private var usedIndexes: Set<String> = []
    private var plans: [[String]: UInt64] = [:]

    /// Grows where the schema goes back, so that a version of it that comes again is another one.
    private var rollbacks: Int64 = 0

    /// After a rollback: what was known of indexes may never have been.
    func forget() { rollbacks += 1 }

    func removeAll() {
        gather()
        queries.removeAll()
        version = nil
    }

    /// The query of a text, made once.
    func query(
        _ text: String, _ make: () throws(StoreError) -> CheckedQuery
    ) throws(StoreError) -> PreparedQuery {
        let key = Array(text.utf8)
        if let place = queries.lastIndex(where: { $0.text == key }) {
            let known = queries.remove(at: place)
            queries.append(known)
            return known.query
        }
        let made = PreparedQuery(try make())
        if queries.count >= Limits.preparedQueries { queries.removeFirst() }
        queries.append((key, made))
        return made
    }

    /// Brings a query in step with the indexes that there are, and runs the body with a statement that no cursor stands on.
    /// What the body begins to read is of the same moment.
    func withStatement<Value>(
        of query: PreparedQuery, _ connection: Connection, _ body: (Prepared) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try withCatalog(connection) { version, catalog throws(StoreError) in
            let translated: TranslatedQuery
            if let known = query.translated, query.version == version {
                translated = known
            } else {
                do throws(QueryError) {
                    translated = try TranslatedQuery(
                        query.checked, arrays: catalog.arrays, texts: catalog.texts, hidesExpired: catalog.hasExpiring)
                } catch {
                    throw StoreError(error, connection.subject)
                }
                (query.translated, query.version, query.prepared) = (translated, version, nil)
            }
            if let ready = query.ready { return try body(ready) }
            let prepared = Prepared(
                translated, try connection.prepare(translated.sql),
                try QueryPlan(of: translated.sql, connection, catalog))
            if query.prepared == nil { query.prepared = prepared }
            return try body(prepared)
        }
    }

    /// Runs the body with the indexes that there are; what it begins to read is of the same moment.
    private func withCatalog<Value>(
        _ connection: Connection, _ body: (Int64, IndexCatalog) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        if version == nil { version = try connection.prepare("PRAGMA schema_version") }
        guard let statement = version else { preconditionFailure("it was prepared just now") }
        // While it stands on its row nothing else of this connection is of a later moment.
        defer { statement.reset() }
        // The file's has 32 bits.
        let now = (try statement.step() ? statement.number(0) & 0xFFFF_FFFF : 0) | rollbacks << 32
        if let catalog, catalog.version == now { return try body(now, catalog.catalog) }
        let fresh = try IndexCatalog(connection)
        catalog = (now, fresh)
        return try body(now, fresh)
    }

    /// A query is run.
    func note(_ prepared: Prepared) {
        prepared.runs += 1
        if prepared.runs > 1 { return }
        if used.count >= Limits.preparedQueries { gather() }
        used.append(prepared)
    }

    private func gather() {
        for prepared in used {
            usedIndexes.formUnion(prepared.indexes)
            if plans[prepared.plan.lines] != nil || plans.count < Limits.plansCounted {
                plans[prepared.plan.lines, default: 0] += prepared.runs
            }
            prepared.runs = 0
        }
        used.removeAll(keepingCapacity: true)
    }

    /// How queries were run since the last call, with how many of each.
    func takePlans() -> [[String]: UInt64] {
        gather()
        defer { plans = [:] }
        return plans
    }

    /// The indexes that were used since the last call, ascending.
    func takeUsed() -> [String] {
        gather()
        defer { usedIndexes = [] }
        return usedIndexes.sorted()
    }
}
