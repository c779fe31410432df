import KithDocument
import KithQueryBuilder

// What asks the database of a query's collection. Each is a reading of its own, of one moment; in `read { }` and `write { }`
// `fetch(query)` and `count(query)` see what the others there see.
extension ModelQuery {
    /// The models that it finds.
    /// - Parameter options: how long it may take, and how much it may give.
    /// - Throws: `KithError`: `decoding` names the first document that is no such model, the path and what is wrong there;
    ///   `invalid` for a query that can't be run; `cancelled` with the task, and where it would cost more than the options allow;
    ///   what the disk gives.
    /// - Complexity: all of them are held in memory; `explain` says how they are found.
    public func fetch(options: QueryOptions = QueryOptions()) async throws -> [Model] {
        try await collection.home().read { try $0.fetch(self, options: options) }
    }

    /// The first model that it finds; nil where there is none.
    public func first() async throws -> Model? { try await limit(1).fetch().first }

    /// How many it finds; order, limit and offset do not count.
    public func count() async throws -> Int { try await collection.home().read { try $0.count(self) } }

    /// How it would be run: the SQL, SQLite's plan, the indexes that are used, or one that would help; a line each.
    public func explain() async throws -> [String] { try await collection.home().explain(self) }

    // MARK: Aggregates

    /// An aggregate of all that it finds; order, limit and offset do not count.
    ///
    ///     let tags = try await tasks.where(\.status == .pending).value { $0.title.collected() }
    ///
    /// - Returns: nil where the aggregate is NULL.
    public func value<Value: Decodable & Sendable>(
        _ term: (RowTerm<Model>) -> GroupTerm<Value>
    ) async throws -> Value? {
        let rows = try await collection.home().query(aggregating(term))
        guard let row = rows.first, !row.isNull else { return nil }
        return try RowCoding.row(Value.self, of: row.tree, 0)
    }

    /// The sum of a field; 0 of none.
    public func sum<Value: QueryNumber & Decodable & Sendable>(
        _ field: ModelField<Model, Value>
    ) async throws -> Value { try await sum { $0[dynamicMember: field].sum() } }

    /// The sum of a field that may be nil; 0 of none.
    public func sum<Value: QueryNumber & Decodable & Sendable>(
        _ field: ModelField<Model, Value?>
    ) async throws -> Value {
        try await sum { GroupTerm<Value>($0[dynamicMember: field].sum()) }
    }

    private func sum<Value: Decodable & Sendable>(
        _ term: (RowTerm<Model>) -> GroupTerm<Value>
    ) async throws -> Value {
        if let sum = try await value(term) { return sum }
        throw KithError(.internalError, "\(Model.self)", "a sum is NULL, which no sum is")
    }

    /// The mean of a field; nil of none.
    public func average<Value: QueryNumber>(_ field: ModelField<Model, Value>) async throws -> Double? {
        try await value { GroupTerm<Double>($0[dynamicMember: field].average()) }
    }

    /// The least of a field; nil of none.
    public func minimum<Value: QueryOrdered & Decodable & Sendable>(
        _ field: ModelField<Model, Value>
    ) async throws -> Value? { try await value { $0[dynamicMember: field].minimum() } }

    /// The least of a field that may be nil; nil of none.
    public func minimum<Value: QueryOrdered & Decodable & Sendable>(
        _ field: ModelField<Model, Value?>
    ) async throws -> Value? { try await value { GroupTerm<Value>($0[dynamicMember: field].minimum()) } }

    /// The greatest of a field; nil of none.
    public func maximum<Value: QueryOrdered & Decodable & Sendable>(
        _ field: ModelField<Model, Value>
    ) async throws -> Value? { try await value { $0[dynamicMember: field].maximum() } }

    /// The greatest of a field that may be nil; nil of none.
    public func maximum<Value: QueryOrdered & Decodable & Sendable>(
        _ field: ModelField<Model, Value?>
    ) async throws -> Value? { try await value { GroupTerm<Value>($0[dynamicMember: field].maximum()) } }

    // MARK: Changing

    /// Changes all that it finds, in one transaction (`ModelCollection.update`).
    /// - Returns: how many there were.
    @discardableResult
    public func update(_ change: @escaping @Sendable (inout Model) throws -> Void) async throws -> Int {
        try await collection.home().write { batch in
            let ids = try batch.ids(self)
            for id in ids { _ = try batch.update(id, of: collection, change) }
            return ids.count
        }
    }

    /// Deletes all that it finds, in one transaction.
    /// - Returns: how many there were.
    @discardableResult
    public func delete() async throws -> Int {
        try await collection.home().write { batch in
            let ids = try batch.ids(self)
            for id in ids { _ = try batch.delete(id, of: collection) }
            return ids.count
        }
    }
}

extension ModelCollection {
    /// How many there are.
    public func count() async throws -> Int { try await all.count() }
}

extension DocumentReading {
    /// The ids of the documents that a query finds.
    fileprivate func ids<Model>(_ query: ModelQuery<Model>) throws(KithError) -> [String] {
        try RunnableQuery(query.selectingIDs).values(by: access).compactMap(\.string)
    }
}

extension QueryTerm {
    /// The same of another type.
    fileprivate init<Other>(_ term: QueryTerm<Other, Level>) { self.init(term.expression, fault: term.fault) }
}
