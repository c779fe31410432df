import KithQuery

/// How a query is run.
package struct QueryExplanation: Sendable, Equatable {
    /// What SQLite is asked.
    package let sql: String
    /// What it does for it, in its own words, a step a line.
    package let plan: [String]
    /// The indexes that it uses.
    package let indexes: [String]
    /// What an index would have that could help, as it is defined: the expressions that are compared for equality first, then
    /// one that is compared otherwise or sorted by. Empty where one is used, or none could help.
    package let suggestion: [String]
    /// What else is worth knowing; a sentence each.
    package let notes: [String]

    package init(sql: String, plan: [String], indexes: [String], suggestion: [String], notes: [String]) {
        self.sql = sql
        self.plan = plan
        self.indexes = indexes
        self.suggestion = suggestion
        self.notes = notes
    }

    /// All of it for people, a line each.
    package var lines: [String] {
        var lines = ["SQL: \(sql)"]
        lines += plan.map { "plan: \($0)" }
        lines.append(indexes.isEmpty ? "index: none is used" : "index: \(indexes.joined(separator: ", "))")
        if !suggestion.isEmpty { lines.append("an index on (\(suggestion.joined(separator: ", "))) could help") }
        return lines + notes.map { "note: \($0)" }
    }
}

extension StoreReader {
    /// Says how a query is run, without running it.
    /// - Throws: `StoreError` as `query`; parameters need no values.
    package func explain(_ query: PreparedQuery) throws(StoreError) -> QueryExplanation {
        let connection = connection
        return try connection.queries.withStatement(of: query, connection) { prepared throws(StoreError) in
            let translated = prepared.translated
            return QueryExplanation(
                sql: translated.sql, plan: prepared.plan.lines, indexes: prepared.indexes,
                suggestion: prepared.indexes.isEmpty ? translated.suggestedIndex : [],
                notes: Self.notes(translated, prepared.plan))
        }
    }

    /// The same of SQL++ text.
    package func explain(_ text: String) throws(StoreError) -> QueryExplanation { try explain(try prepare(text)) }

    private static func notes(_ query: TranslatedQuery, _ plan: QueryPlan) -> [String] {
        var notes: [String] = []
        if query.isArbitrary {
            notes.append("LIMIT or OFFSET without ORDER BY takes any rows, and others another time")
        }
        if plan.lines.contains(where: { $0.contains("USE TEMP B-TREE FOR ORDER BY") }) {
            notes.append(
                "all rows are sorted before the first one comes: an index on what they are ordered by would spare it")
        }
        return notes
    }
}
