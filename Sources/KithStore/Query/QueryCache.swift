import KithDocument
import KithQuery

/// What one connection keeps of queries: statements that are prepared, and the indexes that there are.
final class QueryCache {
    /// A statement, and what SQLite does for it.
    final class Prepared {
        let statement: Statement
        let plan: QueryPlan
        /// Whether a cursor stands on it.
        var isBusy = false
        fileprivate var lastUse: UInt64 = 0

        init(_ statement: Statement, _ plan: QueryPlan) {
            self.statement = statement
            self.plan = plan
        }
    }

    private var prepared: [[UInt8]: Prepared] = [:]
    private var uses: UInt64 = 0
    /// The indexes, as of this version of the file's schema.
    private var catalog: (version: Int64, catalog: IndexCatalog)?
    private var version: Statement?
    /// Indexes that were used since somebody asked.
    private var used: Set<String> = []

    func removeAll() {
        prepared.removeAll()
        version = nil
    }

    /// A statement that no cursor stands on.
    func statement(_ sql: String, _ connection: Connection, _ catalog: IndexCatalog) throws(StoreError) -> Prepared {
        let key = Array(sql.utf8)
        uses += 1
        if let known = prepared[key], !known.isBusy {
            known.lastUse = uses
            return known
        }
        let made = Prepared(try connection.prepare(sql), try QueryPlan(of: sql, connection, catalog))
        made.lastUse = uses
        if prepared[key] == nil {
            if prepared.count >= Limits.preparedQueries,
                let oldest = prepared.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                prepared[oldest.key] = nil
            }
            prepared[key] = made
        }
        return made
    }

    /// Runs the body with the indexes that there are; what it begins to read is of the same moment.
    func withCatalog<Value>(
        _ connection: Connection, _ body: (IndexCatalog) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        if version == nil { version = try connection.prepare("PRAGMA schema_version") }
        guard let statement = version else { preconditionFailure("it was prepared just now") }
        // While it stands on its row nothing else of this connection is of a later moment.
        defer { statement.reset() }
        let now = try statement.step() ? statement.number(0) : 0
        if let catalog, catalog.version == now { return try body(catalog.catalog) }
        let fresh = try IndexCatalog(connection)
        catalog = (now, fresh)
        prepared = prepared.filter(\.value.isBusy)
        return try body(fresh)
    }

    func note(_ indexes: [String]) { used.formUnion(indexes) }

    /// The indexes that were used since the last call, ascending.
    func takeUsed() -> [String] {
        defer { used.removeAll() }
        return used.sorted()
    }
}
