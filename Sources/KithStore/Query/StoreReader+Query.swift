import KithQuery

extension StoreReader {
    /// Asks a query of the live documents, each with the revision that a plain read shows. Every source that FROM and JOIN
    /// name is this database.
    /// - Parameters:
    ///   - context: the time of the query, the same for all its rows.
    ///   - bounds: how long it may go on, also within one row.
    /// - Returns: a cursor before the first row. All rows are of one moment.
    /// - Throws: `StoreError` `invalid` with `query` set, which has the place: a parameter without a value, an index that is
    ///   not there; what the disk gives.
    package func query(
        _ query: CheckedQuery, parameters: ParameterValues = ParameterValues(), now: Int64 = 0, offset: Int = 0,
        bounds: QueryBounds = QueryBounds()
    ) throws(StoreError) -> QueryCursor {
        let rest = QueryBounds.Rest(bounds)
        let context = FunctionContext(
            now: now, offset: offset,
            work: QueryWork { rest.isUnwanted(after: QueryLimits.stepsBetweenLooks) })
        let connection = connection
        return try connection.queries.withCatalog(connection) { catalog throws(StoreError) in
            let translated = try Self.translated(query, catalog, connection.subject)
            let run = try Self.run(translated, parameters, context, connection.subject)
            connection.functions.know(translated.expressions)
            let prepared = try connection.queries.statement(translated.sql, connection, catalog)
            return QueryCursor(connection, translated, prepared, run, context, rest)
        }
    }

    /// The same of SQL++ text.
    package func query(
        _ text: String, parameters: ParameterValues = ParameterValues(), now: Int64 = 0, offset: Int = 0,
        bounds: QueryBounds = QueryBounds()
    ) throws(StoreError) -> QueryCursor {
        try query(
            try checked(text), parameters: parameters, now: now, offset: offset, bounds: bounds)
    }

    func checked(_ text: String) throws(StoreError) -> CheckedQuery {
        do throws(QueryError) {
            return try QueryStatement(parsing: text).checked()
        } catch {
            throw StoreError(error, connection.subject)
        }
    }

    static func translated(
        _ query: CheckedQuery, _ catalog: IndexCatalog, _ subject: String
    ) throws(StoreError) -> TranslatedQuery {
        do throws(QueryError) {
            return try TranslatedQuery(query, arrays: catalog.arrays)
        } catch {
            throw StoreError(error, subject)
        }
    }

    private static func run(
        _ query: TranslatedQuery, _ parameters: ParameterValues, _ context: FunctionContext, _ subject: String
    ) throws(StoreError) -> TranslatedQuery.Run {
        do throws(QueryError) {
            return try query.run(parameters, context)
        } catch {
            throw StoreError(error, subject)
        }
    }

    /// The indexes that queries of this reader have used since the last call: for `WriteTransaction.noteIndexUse`.
    package func takeUsedIndexes() -> [String] { connection.queries.takeUsed() }
}
