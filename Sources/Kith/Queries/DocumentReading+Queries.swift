import KithDocument
import KithQueryBuilder
import KithStore

extension DocumentReading {
    /// The rows of a query in SQL++ (docs/query.md), of the moment that is read.
    ///
    ///     let titles = try snapshot.query(
    ///         "SELECT RAW title FROM _ WHERE type = $type ORDER BY title", ["type": "todo"])
    ///
    /// Every name in FROM is this database. Only documents that live are seen, each as a plain read shows it.
    /// - Parameters:
    ///   - text: the query.
    ///   - parameters: by their names without `$`; bound, never pasted into the text.
    ///   - options: how long it may take, and how much it may give.
    /// - Returns: for each row an object of its columns, those apart that are MISSING; for SELECT RAW the value, null for MISSING.
    /// - Throws: `KithError` `invalid` with line and column and what was expected there: a text that is wrong, a parameter
    ///   without a value, an index that is not there; `cancelled` where it would cost more than the options allow; what the disk
    ///   gives.
    /// - Complexity: all rows are held in memory; `explain` says how they are found.
    public func query(
        _ text: String, _ parameters: [String: JSONValue] = [:], options: QueryOptions = QueryOptions()
    ) throws(KithError) -> [JSONValue] {
        try RunnableQuery(text, parameters).values(by: access, options).map { JSONValue($0) }
    }

    /// The rows of a query that was built in Swift (docs/querying.md), as of one in SQL++.
    ///
    ///     let rows = try snapshot.query(
    ///         DocumentQuery(from: "_").where(Field("done") == false).select(Field("title")))
    ///
    /// - Throws: `KithError` `invalid` for what the compiler could not see; what the disk gives.
    public func query(
        _ query: some BuiltQuery, _ parameters: [String: JSONValue] = [:], options: QueryOptions = QueryOptions()
    ) throws(KithError) -> [JSONValue] {
        try RunnableQuery(query, parameters).values(by: access, options).map { JSONValue($0) }
    }

    /// The rows of a query in SQL++ as values of a type.
    ///
    ///     struct Count: Decodable { var city: String?; var people: Int }
    ///     let counts = try snapshot.query(
    ///         "SELECT city, COUNT(*) AS people FROM _ GROUP BY city", as: Count.self)
    ///
    /// - Throws: `KithError`: `decoding` names the row, the path and what is wrong there; as `query`.
    public func query<Row: Decodable>(
        _ text: String, _ parameters: [String: JSONValue] = [:], as type: Row.Type,
        options: QueryOptions = QueryOptions()
    ) throws(KithError) -> [Row] {
        try RowCoding.rows(type, of: RunnableQuery(text, parameters).values(by: access, options))
    }

    /// The same of a query that was built in Swift.
    public func query<Row: Decodable>(
        _ query: some BuiltQuery, _ parameters: [String: JSONValue] = [:], as type: Row.Type,
        options: QueryOptions = QueryOptions()
    ) throws(KithError) -> [Row] {
        try RowCoding.rows(type, of: RunnableQuery(query, parameters).values(by: access, options))
    }

    /// How a query would be run: the SQL, SQLite's plan, the indexes that are used, or one that would help. A line each, for
    /// people; parameters need no values.
    /// - Throws: `KithError` `invalid` as `query`.
    public func explain(_ text: String) throws(KithError) -> [String] {
        try RunnableQuery(text, [:]).explanation(by: access.reader())
    }

    /// The same of a query that was built in Swift.
    public func explain(_ query: some BuiltQuery) throws(KithError) -> [String] {
        try RunnableQuery(query).explanation(by: access.reader())
    }
}

/// Rows as values of types.
enum RowCoding {
    static func rows<Row: Decodable>(
        _ type: Row.Type, of values: [KithDocument.JSONValue]
    ) throws(KithError) -> [Row] {
        var rows: [Row] = []
        rows.reserveCapacity(values.count)
        for (index, value) in values.enumerated() { rows.append(try row(type, of: value, index)) }
        return rows
    }

    static func row<Row: Decodable>(
        _ type: Row.Type, of value: KithDocument.JSONValue, _ index: Int?
    ) throws(KithError) -> Row {
        try ValueCoding.value(type, from: value, of: index.map { "row \($0)" } ?? "a row", isRow: true)
    }
}

extension Database {
    /// The rows of a query in SQL++ (`DocumentReading.query`), in a snapshot of its own.
    public func query(
        _ text: String, _ parameters: [String: JSONValue] = [:], options: QueryOptions = QueryOptions()
    ) async throws -> [JSONValue] {
        try await read { try $0.query(text, parameters, options: options) }
    }

    /// The rows of a query that was built in Swift.
    public func query(
        _ query: some BuiltQuery, _ parameters: [String: JSONValue] = [:], options: QueryOptions = QueryOptions()
    ) async throws -> [JSONValue] {
        try await read { try $0.query(query, parameters, options: options) }
    }

    /// The rows of a query in SQL++ as values of a type.
    public func query<Row: Decodable & Sendable>(
        _ text: String, _ parameters: [String: JSONValue] = [:], as type: Row.Type,
        options: QueryOptions = QueryOptions()
    ) async throws -> [Row] {
        try await read { try $0.query(text, parameters, as: type, options: options) }
    }

    /// The rows of a query that was built in Swift as values of a type.
    public func query<Row: Decodable & Sendable>(
        _ query: some BuiltQuery, _ parameters: [String: JSONValue] = [:], as type: Row.Type,
        options: QueryOptions = QueryOptions()
    ) async throws -> [Row] {
        try await read { try $0.query(query, parameters, as: type, options: options) }
    }

    /// How a query would be run (`DocumentReading.explain`).
    public func explain(_ text: String) async throws -> [String] { try await read { try $0.explain(text) } }

    /// How a query that was built in Swift would be run.
    public func explain(_ query: some BuiltQuery) async throws -> [String] {
        try await read { try $0.explain(query) }
    }
}

extension Database {
    /// The same, blocking.
    public func query(
        _ text: String, _ parameters: [String: JSONValue] = [:], options: QueryOptions = QueryOptions()
    ) throws -> [JSONValue] {
        try read { try $0.query(text, parameters, options: options) }
    }

    /// The same, blocking.
    public func query(
        _ query: some BuiltQuery, _ parameters: [String: JSONValue] = [:], options: QueryOptions = QueryOptions()
    ) throws -> [JSONValue] {
        try read { try $0.query(query, parameters, options: options) }
    }

    /// The same, blocking.
    public func query<Row: Decodable & Sendable>(
        _ text: String, _ parameters: [String: JSONValue] = [:], as type: Row.Type,
        options: QueryOptions = QueryOptions()
    ) throws -> [Row] {
        try read { try $0.query(text, parameters, as: type, options: options) }
    }

    /// The same, blocking.
    public func query<Row: Decodable & Sendable>(
        _ query: some BuiltQuery, _ parameters: [String: JSONValue] = [:], as type: Row.Type,
        options: QueryOptions = QueryOptions()
    ) throws -> [Row] {
        try read { try $0.query(query, parameters, as: type, options: options) }
    }

    /// The same, blocking.
    public func explain(_ text: String) throws -> [String] { try read { try $0.explain(text) } }

    /// The same, blocking.
    public func explain(_ query: some BuiltQuery) throws -> [String] { try read { try $0.explain(query) } }
}
