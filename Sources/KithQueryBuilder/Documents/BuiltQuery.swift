import KithQuery

/// A query that was built in Swift, and can be run.
public protocol BuiltQuery: Sendable {
    /// What the library keeps of it.
    var draft: QueryDraft { get }
}

/// One whose calls each give another one, by a change of its draft.
protocol DraftedQuery: BuiltQuery {
    var draft: QueryDraft { get set }
}

extension DraftedQuery {
    func changed(_ change: (inout QueryDraft) -> Void) -> Self {
        var query = self
        change(&query.draft)
        return query
    }
}

extension BuiltQuery {
    /// The tree. Whether it makes sense, `QueryStatement.checked()` looks at.
    package var statement: QueryStatement {
        get throws(QueryBuilderError) { try draft.finished() }
    }

    /// The query as SQL++ text, which reads as the same query. Constants stand in it as they are: it is to be looked at.
    /// - Throws: `QueryBuilderError`, for what is wrong with the query.
    public var sql: String {
        get throws(QueryBuilderError) {
            let statement = try statement
            do throws(QueryError) {
                _ = try statement.checked()
            } catch {
                throw QueryBuilderError(error.message)
            }
            return statement.sql
        }
    }
}
