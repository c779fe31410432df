/// How much a query may cost. What goes beyond is given up with `KithError` `cancelled`.
///
///     let rows = try await database.query(text, options: QueryOptions(timeLimit: .seconds(2), rowLimit: 1_000))
///
/// A query whose task is cancelled is given up too, whatever it may cost.
public struct QueryOptions: Hashable, Sendable {
    /// How long it may run, from its beginning; waiting for a reader is not counted. Nil for as long as it takes.
    public var timeLimit: Duration?
    /// How many rows it may have; LIMIT in the query gives the first ones instead. Nil for any.
    public var rowLimit: Int?
    /// How many bytes its rows may have as JSON, about. Nil for any.
    public var byteLimit: Int?

    /// - Parameters:
    ///   - timeLimit: how long it may run.
    ///   - rowLimit: how many rows it may have.
    ///   - byteLimit: how many bytes they may have as JSON, about.
    public init(timeLimit: Duration? = nil, rowLimit: Int? = nil, byteLimit: Int? = nil) {
        self.timeLimit = timeLimit
        self.rowLimit = rowLimit
        self.byteLimit = byteLimit
    }
}
