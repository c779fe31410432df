import KithDocument
import KithQuery

/// The rows of a query, read and decoded one after the other as they are asked for: of one moment, that of the first.
///
/// While it stands on a row its reader's connection reads that moment, and the write-ahead log can't be emptied: read it to
/// its end or close it. One thread at a time, with its reader.
package final class QueryCursor {
    /// The indexes that the query uses.
    package let indexes: [String]
    private let connection: Connection
    private let query: TranslatedQuery
    private let prepared: QueryCache.Prepared
    private let run: TranslatedQuery.Run
    private let context: FunctionContext
    private let rest: QueryBounds.Rest
    private let watcher: Connection.Watcher
    private var isOpen = true

    init(
        _ connection: Connection, _ query: TranslatedQuery, _ prepared: QueryCache.Prepared,
        _ run: TranslatedQuery.Run, _ context: FunctionContext, _ rest: QueryBounds.Rest
    ) {
        self.connection = connection
        self.query = query
        self.prepared = prepared
        self.run = run
        self.context = context
        self.rest = rest
        watcher = Connection.Watcher { [functions = connection.functions] in
            functions.failure != nil || rest.isUnwanted(after: UInt64(Limits.watchInstructions))
        }
        indexes = prepared.indexes
        prepared.isBusy = true
        for (index, value) in run.bound.enumerated() { prepared.statement.bind(Int32(index) + 1, value) }
        connection.queries.note(prepared)
    }

    deinit { close() }

    /// The next row; nil after the last one.
    /// - Throws: `StoreError`: `cancelled` where the bounds are reached; `invalid` with `query` set where a row can't be made,
    ///   as of a pattern that is wrong; what the disk gives. The cursor is closed then.
    package func next() throws(StoreError) -> QueryRow? {
        guard isOpen else { return nil }
        do throws(StoreError) {
            if try step() { return try row() }
            close()
            return nil
        } catch {
            close()
            throw rest.isGivenUp ? .queryGivenUp(connection.subject) : error
        }
    }

    /// All rows that are left.
    package func rows() throws(StoreError) -> [QueryRow] {
        var rows: [QueryRow] = []
        while let row = try next() { rows.append(row) }
        return rows
    }

    /// Lets go of the moment that is read.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        prepared.statement.reset()
        prepared.isBusy = false
    }

    private func step() throws(StoreError) -> Bool {
        let functions = connection.functions
        functions.context = context
        functions.clearFailure()
        connection.watch(by: watcher)
        defer {
            connection.watch(nil)
            functions.context = functions.idle
        }
        let isRow: Bool
        do throws(StoreError) {
            isRow = try prepared.statement.step()
        } catch {
            if let failure = functions.failure { throw StoreError(failure, connection.subject) }
            throw error
        }
        if let failure = functions.failure { throw StoreError(failure, connection.subject) }
        return isRow
    }

    private func row() throws(StoreError) -> QueryRow {
        let statement = prepared.statement
        var values: [QueryValue] = []
        values.reserveCapacity(query.columnCount)
        for column in 0..<Int32(query.columnCount) {
            if statement.isNull(column) {
                values.append(.missing)
                continue
            }
            guard let value = statement.withBytes(column, { JSONValue(canonical: $0) }) else {
                throw StoreError(
                    .damaged, connection.subject, "a document of \(connection.subject) is no JSON: see kith verify")
            }
            values.append(QueryValue(value))
        }
        do throws(QueryError) {
            return try query.row(values, run, context)
        } catch {
            throw StoreError(error, connection.subject)
        }
    }
}

extension Statement {
    func bind(_ index: Int32, _ value: SQLValue) {
        switch value {
        case .null: bindNull(index)
        case .integer(let number): bind(index, number)
        case .text(let text): bind(index, text: text)
        case .blob(let blob): bind(index, blob: blob)
        }
    }
}

extension StoreError {
    /// What is wrong with a query.
    package init(_ error: QueryError, _ subject: String) { self.init(.invalid, subject, error.message, query: error) }

    static func queryGivenUp(_ subject: String) -> StoreError {
        StoreError(
            .cancelled, subject, "the query on \(subject) was given up before its end: it took longer than was allowed")
    }
}
