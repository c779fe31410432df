/// A query that makes sense: every name in it is that of a variable, aggregates stand where they can, and functions exist.
///
/// `statement` says the same as what was checked, with the fields of the only source written as paths from its alias, and
/// what ORDER BY, GROUP BY and HAVING call by the alias of a column in its place.
package struct CheckedQuery: Sendable, Equatable {
    package let statement: QueryStatement
    /// Whether rows are groups.
    package let isGrouped: Bool
    /// The name of each column; empty for `*` and `x.*`, and for RAW.
    package let columnNames: [String]
}

/// A condition on single documents that makes sense.
package struct CheckedFilter: Sendable, Equatable {
    package let condition: QueryExpression
    /// The variable that the document is.
    package let alias: String
}

extension QueryStatement {
    /// - Throws: `QueryError.text` with the place, or `QueryError.running` for trees that come from no text.
    package func checked() throws(QueryError) -> CheckedQuery {
        try requireDepth()
        var checker = QueryChecker(self)
        return try checker.check()
    }
}

extension QueryExpression {
    /// The expression as a condition on documents: its names are fields, without aggregates.
    package func checkedAsFilter(alias: String = "document") throws(QueryError) -> CheckedFilter {
        var statement = QueryStatement(selection: .columns([]), from: QuerySource(alias))
        statement.filter = self
        return CheckedFilter(condition: try statement.checked().statement.filter!, alias: alias)
    }
}
