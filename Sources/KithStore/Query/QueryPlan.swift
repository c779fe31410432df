import KithQuery

/// What SQLite does for a statement.
struct QueryPlan {
    /// SQLite's own words, indented by what belongs to what.
    let lines: [String]
    /// The names of the indexes that it uses, array indexes apart.
    let indexes: [String]

    init(of sql: String, _ connection: Connection, _ catalog: IndexCatalog) throws(StoreError) {
        let row = try connection.prepare("EXPLAIN QUERY PLAN " + sql)
        var lines: [String] = []
        var indexes: [String] = []
        var depths: [Int64: Int] = [:]
        while try row.step() {
            let depth = depths[row.number(1)].map { $0 + 1 } ?? 0
            depths[row.number(0)] = depth
            let detail = row.string(3)
            lines.append(String(repeating: "  ", count: depth) + detail)
            for entry in catalog.entries
            where Self.uses(entry.table, detail) && !indexes.contains(entry.definition.name) {
                indexes.append(entry.definition.name)
            }
        }
        self.lines = lines
        self.indexes = indexes
    }

    /// Whether SQLite's words name an index or a table.
    private static func uses(_ table: String, _ detail: String) -> Bool {
        detail.split(separator: " ").contains { $0 == table }
    }
}
