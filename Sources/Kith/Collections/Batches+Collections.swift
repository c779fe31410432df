import KithCoding
import KithDocument
import KithQueryBuilder

extension DocumentReading {
    /// The model of an id; nil where there is none in the collection.
    public func get<Model>(_ id: Model.ID, in collection: ModelCollection<Model>) throws(KithError) -> Model? {
        try model(try collection.documentID(id), of: collection)
    }

    /// The models that a query finds.
    /// - Parameters:
    ///   - query: of a collection of this database.
    ///   - options: how long it may take, and how much it may give.
    /// - Throws: `KithError`: `decoding` names the first document that is no such model, the path and what is wrong there;
    ///   `invalid` for a query that can't be run; `cancelled` where it would cost more than the options allow; what the disk
    ///   gives.
    public func fetch<Model>(
        _ query: ModelQuery<Model>, options: QueryOptions = QueryOptions()
    ) throws(KithError) -> [Model] {
        let rows = try RunnableQuery(query).values(by: access, options)
        var models: [Model] = []
        models.reserveCapacity(rows.count)
        for row in rows { models.append(try query.collection.model(ofRow: row)) }
        return models
    }

    /// How many models a query finds; its order, limit and offset do not count.
    public func count<Model>(_ query: ModelQuery<Model>) throws(KithError) -> Int {
        try RunnableQuery(query.counting).values(by: access).first?.integer.flatMap { Int(exactly: $0) } ?? 0
    }

    func model<Model>(_ id: String, of collection: ModelCollection<Model>) throws(KithError) -> Model? {
        guard let document = try document(id), collection.coding.isMember(document.body.object) else { return nil }
        return try collection.model(id, document.body.object)
    }
}

extension WriteBatch {
    /// Saves a model under its id (`ModelCollection.save`).
    /// - Returns: the document as it is stored now.
    @discardableResult
    public func save<Model>(_ model: Model, in collection: ModelCollection<Model>) throws(KithError) -> Document {
        let new = try collection.document(of: model)
        guard let stored = try document(new.id) else { return try save(new) }
        let changes: FieldChanges
        do { changes = try collection.coding.changes(saving: model, over: stored.body.object) } catch {
            throw ValueCoding.refused(Model.self, new.id, error)
        }
        return try save(stored.changed(by: changes))
    }

    /// Reads a model, changes it and saves what was changed (`ModelCollection.update`).
    /// - Returns: the model as it is now; nil where there is none of that id in the collection.
    @discardableResult
    public func update<Model>(
        _ id: Model.ID, in collection: ModelCollection<Model>, _ change: (inout Model) throws -> Void
    ) throws -> Model? { try update(try collection.documentID(id), of: collection, change) }

    /// Deletes a model everywhere.
    /// - Returns: false where there is none of that id in the collection.
    @discardableResult
    public func delete<Model>(_ id: Model.ID, in collection: ModelCollection<Model>) throws(KithError) -> Bool {
        try delete(try collection.documentID(id), of: collection)
    }

    func update<Model>(
        _ id: String, of collection: ModelCollection<Model>, _ change: (inout Model) throws -> Void
    ) throws -> Model? {
        guard let stored = try document(id), collection.coding.isMember(stored.body.object) else { return nil }
        let after: (model: Model, changes: FieldChanges)
        do { after = try collection.coding.updated(id: id, stored: stored.body.object, by: change) } catch {
            guard let error = error as? DocumentCodingError else { throw error }
            throw ValueCoding.refused(Model.self, id, error)
        }
        try save(stored.changed(by: after.changes))
        return after.model
    }

    func delete<Model>(_ id: String, of collection: ModelCollection<Model>) throws(KithError) -> Bool {
        guard let stored = try document(id), collection.coding.isMember(stored.body.object) else { return false }
        return try delete(id)
    }
}

extension ModelCollection {
    func model(_ id: String, _ body: JSONObject) throws(KithError) -> Model {
        do { return try coding.model(id: id, body: body) } catch { throw ValueCoding.refused(Model.self, id, error) }
    }

    /// Of a row of a `ModelQuery`.
    func model(ofRow row: KithDocument.JSONValue) throws(KithError) -> Model {
        try model(row["id"]?.string ?? "", row["body"]?.object ?? JSONObject())
    }
}

extension Document {
    func changed(by changes: FieldChanges) -> Document {
        var document = self
        document.body = DocumentBody(object: changes.applied(to: body.object))
        return document
    }
}
