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
    /// - Returns: a cursor before the first row. All rows are of one moment, that of this call, which has found the first one.
    /// - Throws: `StoreError` `invalid` with `query` set, which has the place: a parameter without a value, an index that is
    ///   not there; `cancelled` where the bounds are reached; what the disk gives.
    package func query(
        _ query: PreparedQuery, parameters: ParameterValues = ParameterValues(), now: Int64? = nil, offset: Int = 0,
        bounds: QueryBounds = QueryBounds()
    ) throws(StoreError) -> QueryCursor {
        let connection = connection
        let rest = QueryBounds.Rest(bounds, connection.functions)
        let context = FunctionContext(now: now ?? self.now(), offset: offset, work: rest.work)
        if let ready = query.ready {
            let preparations = ready.statement.preparations
            do throws(StoreError) {
                let cursor = try QueryCursor(connection, ready, parameters, context, rest)
                if ready.statement.preparations == preparations {
                    connection.queries.note(ready)
                    return cursor
                }
                cursor.close()
            } catch {
                // The statement may be of indexes that are gone, and is told apart below from what is wrong in any case.
                let isSame = ready.statement.preparations == preparations
                if rest.isGivenUp || isSame && error.query != nil { throw error }
            }
        }
        return try connection.queries.withStatement(of: query, connection) { prepared throws(StoreError) in
            let cursor = try QueryCursor(connection, prepared, parameters, context, rest)
            connection.queries.note(prepared)
            return cursor
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
