import KithQuery

extension StoreReader {
    /// A query of the live documents, each with the revision that a plain read shows, to be asked again and again. Every
    /// source that FROM and JOIN name is this database.
    package func prepare(_ query: CheckedQuery) -> PreparedQuery { PreparedQuery(query) }

    /// The same of SQL++ text; the texts that were asked last are kept.
    /// - Throws: `StoreError` `invalid` with `query` set, which has the place.
    package func prepare(_ text: String) throws(StoreError) -> PreparedQuery {
        let subject = connection.subject
        return try connection.queries.query(text) { () throws(StoreError) in
            do throws(QueryError) {
                return try QueryStatement(parsing: text).checked()
            } catch {
                throw StoreError(error, subject)
            }
        }
    }

    /// Asks a query.
    /// - Parameters:
    ///   - query: made by `prepare` of this reader.
    ///   - now: the time of the query in milliseconds since 1970, the same for all its rows; nil for what the clock says.
    ///   - offset: minutes that this machine's clock is ahead of UTC.
    ///   - bounds: how long it may go on, also within one row.
    /// - Returns: a cursor before the first row. All rows are of one moment.
    /// - Throws: `StoreError` `invalid` with `query` set, which has the place: a parameter without a value, an index that is
    ///   not there; what the disk gives.
    package func query(
        _ query: PreparedQuery, parameters: ParameterValues = ParameterValues(), now: Int64? = nil, offset: Int = 0,
        bounds: QueryBounds = QueryBounds()
    ) throws(StoreError) -> QueryCursor {
        let rest = QueryBounds.Rest(bounds)
        let context = FunctionContext(
            now: now ?? self.now(), offset: offset,
            work: QueryWork { rest.isUnwanted(after: QueryLimits.stepsBetweenLooks) })
        let connection = connection
        return try connection.queries.withStatement(of: query, connection) { translated, prepared throws(StoreError) in
            let run: TranslatedQuery.Run
            do throws(QueryError) {
                run = try translated.run(parameters, context)
            } catch {
                throw rest.isGivenUp ? .queryGivenUp(connection.subject) : StoreError(error, connection.subject)
            }
            return QueryCursor(connection, translated, prepared, run, context, rest)
        }
    }

    /// Asks a query once.
    package func query(
        _ query: CheckedQuery, parameters: ParameterValues = ParameterValues(), now: Int64? = nil, offset: Int = 0,
        bounds: QueryBounds = QueryBounds()
    ) throws(StoreError) -> QueryCursor {
        try self.query(prepare(query), parameters: parameters, now: now, offset: offset, bounds: bounds)
    }

    /// Asks a query of SQL++ text.
    package func query(
        _ text: String, parameters: ParameterValues = ParameterValues(), now: Int64? = nil, offset: Int = 0,
        bounds: QueryBounds = QueryBounds()
    ) throws(StoreError) -> QueryCursor {
        try query(prepare(text), parameters: parameters, now: now, offset: offset, bounds: bounds)
    }

    /// The indexes that queries of this reader have used since the last call: for `WriteTransaction.noteIndexUse`.
    package func takeUsedIndexes() -> [String] { connection.queries.takeUsed() }

    /// How queries of this reader were run since the last call: SQLite's plan, a step a line, and how many. The plans name tables
    /// and indexes by numbers, and nothing of a document.
    package func takePlans() -> [[String]: UInt64] { connection.queries.takePlans() }
}
