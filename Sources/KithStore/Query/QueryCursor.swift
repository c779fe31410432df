import KithDocument
import KithQuery

/// The rows of a query, decoded one after the other as they are asked for: of one moment, that of the query, for which the
/// first row was found then.
///
/// While it stands on a row its reader's connection reads that moment, and the write-ahead log can't be emptied: read it to
/// its end or close it. One thread at a time, with its reader.
package final class QueryCursor {
    /// The indexes that the query uses.
    package var indexes: [String] { prepared.indexes }
    private let connection: Connection
    private let prepared: QueryCache.Prepared
    private let constants: TranslatedQuery.Constants
    private let context: FunctionContext
    private let rest: QueryBounds.Rest
    private var isOpen = true
    /// Whether it stands on a row that nobody has taken.
    private var isAhead = false

    /// - Throws: `StoreError` as `StoreReader.query`.
    init(
        _ connection: Connection, _ prepared: QueryCache.Prepared, _ parameters: ParameterValues,
        _ context: FunctionContext, _ rest: QueryBounds.Rest
    ) throws(StoreError) {
        self.connection = connection
        self.prepared = prepared
        self.context = context
        self.rest = rest
        let statement = prepared.statement
        do throws(QueryError) {
            constants = try prepared.translated.begin(parameters, context) { statement.bind(Int32($0) + 1, $1) }
        } catch {
            statement.reset()
            throw rest.isGivenUp ? .queryGivenUp(connection.subject) : StoreError(error, connection.subject)
        }
        prepared.isBusy = true
        connection.functions.know(prepared.translated.expressions)
        isAhead = try advance()
    }

    deinit { close() }

    /// The next row; nil after the last one.
    /// - Throws: `StoreError`: `cancelled` where the bounds are reached; `invalid` with `query` set where a row can't be made,
    ///   as of a pattern that is wrong; what the disk gives. The cursor is closed then.
    package func next() throws(StoreError) -> QueryRow? {
        guard isOpen else { return nil }
        if !isAhead, !(try advance()) { return nil }
        isAhead = false
        do throws(StoreError) { return try row() } catch {
            close()
            throw rest.isGivenUp ? .queryGivenUp(connection.subject) : error
        }
    }

    /// Whether there is a row more, on which the statement stands then; closes after the last one.
    private func advance() throws(StoreError) -> Bool {
        do throws(StoreError) {
            if try step() { return true }
            close()
            return false
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
        connection.watch(by: rest)
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
        let query = prepared.translated
        if let columns = query.plainColumns {
            var row = QueryRow(columns: [], isRaw: query.isRaw)
            row.columns.reserveCapacity(columns.count)
            for column in columns {
                row.columns.append(QueryRow.Column(name: column.name, value: try value(of: column.place)))
            }
            return row
        }
        var values: [QueryValue] = []
        values.reserveCapacity(query.columnCount)
        for column in 0..<query.columnCount { values.append(try value(of: column)) }
        do throws(QueryError) {
            return try query.row(values, constants, context)
        } catch {
            throw StoreError(error, connection.subject)
        }
    }

    /// What stands in a column of SQLite's row.
    private func value(of column: Int) throws(StoreError) -> QueryValue {
        let (statement, column) = (prepared.statement, Int32(column))
        if statement.isNull(column) { return .missing }
        guard let value = statement.withBytes(column, { JSONValue(canonical: $0) }) else {
            throw StoreError(
                .damaged, connection.subject, "a document of \(connection.subject) is no JSON: see kith verify")
        }
        return QueryValue(value)
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
