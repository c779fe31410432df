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
    fileprivate(set) var translated: TranslatedQuery?
    fileprivate var prepared: QueryCache.Prepared?

    init(_ checked: CheckedQuery) { self.checked = checked }
}

/// What one connection keeps of queries: statements that are prepared, and the indexes that there are.
final class QueryCache {
    /// A statement, and what SQLite does for it.
    final class Prepared {
        let statement: Statement
        let plan: QueryPlan
        /// The names of all indexes that it uses.
        let indexes: [String]
        /// Whether a cursor stands on it.
        var isBusy = false

        init(_ statement: Statement, _ plan: QueryPlan, arrays: [String]) {
            self.statement = statement
            self.plan = plan
            indexes = plan.indexes + arrays.filter { !plan.indexes.contains($0) }
        }
    }

    /// Queries by their text, the last used at the end.
    private var queries: [(text: [UInt8], query: PreparedQuery)] = []
    /// The indexes, as of this version of the file's schema.
    private var catalog: (version: Int64, catalog: IndexCatalog)?
    private var version: Statement?
    /// Indexes that were used since somebody asked.
    private var used: Set<String> = []
    /// How queries were run since somebody asked, with how many.
    private var plans: [[String]: UInt64] = [:]

    /// Grows where the schema goes back, so that a version of it that comes again is another one.
    private var rollbacks: Int64 = 0

    /// After a rollback: what was known of indexes may never have been.
    func forget() { rollbacks += 1 }

    func removeAll() {
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

    /// Brings a query in step with the indexes that there are, and runs the body with it and a statement that no cursor
    /// stands on. What the body begins to read is of the same moment.
    func withStatement<Value>(
        of query: PreparedQuery, _ connection: Connection,
        _ body: (TranslatedQuery, Prepared) throws(StoreError) -> Value
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
            connection.functions.know(translated.expressions)
            if let known = query.prepared, !known.isBusy { return try body(translated, known) }
            let prepared = Prepared(
                try connection.prepare(translated.sql), try QueryPlan(of: translated.sql, connection, catalog),
                arrays: translated.usedArrays)
            if query.prepared == nil { query.prepared = prepared }
            return try body(translated, prepared)
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
        used.formUnion(prepared.indexes)
        if plans[prepared.plan.lines] != nil || plans.count < Limits.plansCounted {
            plans[prepared.plan.lines, default: 0] += 1
        }
    }

    /// How queries were run since the last call, with how many of each.
    func takePlans() -> [[String]: UInt64] {
        defer { plans = [:] }
        return plans
    }

    /// The indexes that were used since the last call, ascending.
    func takeUsed() -> [String] {
        defer { used.removeAll() }
        return used.sorted()
    }
}
