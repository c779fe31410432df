import KithCoding
import KithDocument
import KithNode
import KithQuery
import KithQueryBuilder

/// The result of a query as of one moment, and how it differs from the one before.
public struct LiveResult<Row: Sendable>: Sendable {
    /// All rows, in their order. Rows of equal order stand in the order of their documents' ids.
    public let rows: [Row]
    /// From the result before; of the first one all rows are inserted.
    public let difference: RowDifference
    /// The last change of the database that the result has seen. What was saved here is in it, or has left it, when this is not
    /// below the `Document.sequence` that saving gave.
    public let sequence: UInt64
}

/// A query whose result is followed: the result now, and then each newer one.
///
///     for try await result in try tasks.where(\.status == .pending).order(\.dueDate).live() {
///         show(result.rows)
///     }
///
/// Every iteration begins with the result as it is. The next one comes when the result differs: what many changes made of it
/// meanwhile comes as one. A reader that does not ask costs writers nothing, nothing is kept for it but the last result, and
/// the next one that it asks for is the newest. The iteration ends with its task, and when the database is closed.
///
/// Where each row follows from one document, changed documents are looked at alone and the query is not run again. Others
/// (groups, joins, DISTINCT, LIMIT, full text) are run again when a document has changed that may have part in the result or
/// had: by what the query asks of each source by itself, as its type. What a query makes of the time is as of the last run.
public struct LiveQuery<Row: Sendable>: AsyncSequence, Sendable {
    /// A result.
    public typealias Element = LiveResult<Row>

    private let database: Database
    private let plan: LivePlan
    private let parameters: ParameterValues
    private let decode: @Sendable (KithDocument.JSONValue) throws(KithError) -> Row
    private let counter = LiveRuns()

    init(
        _ query: RunnableQuery, of database: Database,
        _ decode: @escaping @Sendable (KithDocument.JSONValue) throws(KithError) -> Row
    ) throws(KithError) {
        self.database = database
        plan = LivePlan(try query.checked)
        parameters = query.parameters
        self.decode = decode
    }

    /// How often the query was run for all its iterations: once for each, and for changes that may concern its result and could
    /// not be put into it.
    public var runs: Int { counter.value }

    /// Follows the query from now on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(database: database, engine: LiveEngine(plan, parameters, counter, decode))
    }

    /// One reader of the results.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let database: Database
        let engine: LiveEngine<Row>
        private var follower: DatabaseFollower

        init(database: Database, engine: LiveEngine<Row>) {
            self.database = database
            self.engine = engine
            follower = DatabaseFollower(database)
        }

        /// The next result; nil when the task was cancelled or the database closed.
        /// - Throws: `KithError`: what the query finds wrong, as `query` does; `decoding` for a row that is no value of the type;
        ///   what the disk gives. It may be called again, and gives the result when it can be made.
        public mutating func next() async throws -> LiveResult<Row>? {
            while !Task.isCancelled {
                guard let moment = try await follower.moment(after: engine.moment, until: engine.nextExpiry) else {
                    return nil
                }
                do {
                    if let result = try await update(to: moment) { return result }
                } catch let error as KithError where error.code == .cancelled && Task.isCancelled { return nil }
            }
            return nil
        }

        /// The next result if there is one by now.
        package mutating func nextIfAny() async throws -> LiveResult<Row>? {
            guard let moment = try await follower.moment(after: nil) else { return nil }
            return moment == engine.moment ? nil : try await update(to: moment)
        }

        private func update(to moment: DatabaseMoment) async throws -> LiveResult<Row>? {
            if follower.isOther { engine.forget() }
            let engine = engine
            return try await database.read { snapshot in
                try engine.update(snapshot.access, since: moment)
            }
        }
    }
}

extension Database {
    /// Follows the result of a query in SQL++ (`LiveQuery`).
    /// - Parameters:
    ///   - text: the query.
    ///   - parameters: by their names without `$`.
    /// - Throws: `KithError` `invalid` with line and column for a text that is wrong.
    public func live(
        _ text: String, _ parameters: [String: JSONValue] = [:]
    ) throws(KithError) -> LiveQuery<JSONValue> {
        try LiveQuery(RunnableQuery(text, parameters), of: self) { JSONValue($0) }
    }

    /// Follows the result of a query that was built in Swift.
    public func live(
        _ query: some BuiltQuery, _ parameters: [String: JSONValue] = [:]
    ) throws(KithError) -> LiveQuery<JSONValue> {
        try LiveQuery(RunnableQuery(query, parameters), of: self) { JSONValue($0) }
    }

    /// Follows the result of a query in SQL++ as values of a type.
    public func live<Row: Decodable & Sendable>(
        _ text: String, _ parameters: [String: JSONValue] = [:], as type: Row.Type
    ) throws(KithError) -> LiveQuery<Row> {
        try LiveQuery(RunnableQuery(text, parameters), of: self) { (value) throws(KithError) in
            try RowCoding.row(type, of: value, nil)
        }
    }

    /// Follows the result of a query that was built in Swift as values of a type.
    public func live<Row: Decodable & Sendable>(
        _ query: some BuiltQuery, _ parameters: [String: JSONValue] = [:], as type: Row.Type
    ) throws(KithError) -> LiveQuery<Row> {
        try LiveQuery(RunnableQuery(query, parameters), of: self) { (value) throws(KithError) in
            try RowCoding.row(type, of: value, nil)
        }
    }
}

extension ModelQuery {
    /// Follows what it finds.
    /// - Throws: `KithError` `invalid` for a query that can't be run.
    public func live() throws(KithError) -> LiveQuery<Model> {
        let collection = collection
        return try LiveQuery(RunnableQuery(self), of: try collection.home()) { (row) throws(KithError) in
            try collection.model(ofRow: row)
        }
    }
}
