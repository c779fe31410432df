import KithCoding
import KithDocument
import KithQueryBuilder

extension Database {
    /// The documents of one type as values of a model (docs/querying.md).
    ///
    ///     struct TodoItem: Codable, Identifiable, Sendable { var id: String; var title: String; var dueDate: Date? }
    ///
    ///     let tasks = try database.collection(of: TodoItem.self, type: "todo")
    ///     try await tasks.save(TodoItem(id: "milk", title: "Milk"))
    ///     let next = try await tasks.where(\.dueDate != nil).order(\.dueDate).limit(20).fetch()
    ///
    /// Nothing is registered and nothing is written: a collection is a way to see documents, and there may be many of one type.
    /// - Parameters:
    ///   - model: the type of the values.
    ///   - type: what the member `type` of the documents is; nil where all documents of the database are of this model.
    ///   - examples: two values or more that differ in every field, where the library can't make values up.
    /// - Throws: `KithError` `invalid` with the path, for a model of which values can't be made up, encoded or decoded, or whose
    ///   `id` is no text.
    /// - Complexity: the coding of as many values as the model has fields: a program makes a collection once.
    public func collection<Model: Codable & Identifiable & Sendable>(
        of model: Model.Type = Model.self, type: String?, examples: [Model] = []
    ) throws(KithError) -> ModelCollection<Model> {
        do throws(DocumentCodingError) {
            var collection = try ModelCollection(of: model, type: type, examples: examples)
            collection.database = self
            return collection
        } catch {
            throw KithError(.invalid, "\(model)", "\(model) can't be a model: \(error)")
        }
    }
}

extension ModelCollection {
    /// The database that it is of.
    /// - Throws: `KithError` `invalid` for a collection that was made without one.
    func home() throws(KithError) -> Database {
        if let database = database as? Database { return database }
        throw KithError(
            .invalid, "\(Model.self)",
            "the collection of \(Model.self) has no database: make it with Database.collection(of:type:)")
    }

    /// A new document of a model, as `save` writes it where there is none: for what only documents have, `expiresAt` and
    /// `WriteBatch.saveInitial`.
    /// - Throws: `KithError` `invalid` for a value that can't be a document.
    public func document(of model: Model) throws(KithError) -> Document {
        let new: (id: String, body: JSONObject)
        do { new = try coding.document(of: model) } catch {
            throw ValueCoding.refused(value: model, error.documentID ?? "\(Model.self)", error)
        }
        return Document(id: new.id, JSONValue(.object(new.body)))
    }

    /// The id of a document for that of a model.
    func documentID(_ id: Model.ID) throws(KithError) -> String {
        do { return try coding.documentID(id) } catch { throw KithError(.invalid, "\(Model.self)", "an id: \(error)") }
    }
}

// Operations on one document, and on several as one: each is a `write { }` or `read { }` of its own. Code that is not
// asynchronous uses these closures, which have the same.
extension ModelCollection {
    /// The model of an id; nil where there is none in this collection.
    /// - Throws: `KithError`: `decoding` names the document, the path and what is wrong there; what the disk gives.
    public func get(_ id: Model.ID) async throws -> Model? {
        let (database, id) = (try home(), try documentID(id))
        return try await database.reading { try $0.model(id, of: self) }
    }

    /// Saves a model under its id. Where there is a document already, the fields that the model does not know stay.
    /// On disk when this returns.
    /// - Returns: the document as it is stored now.
    /// - Throws: `KithError`: `invalid` for a value that can't be a document; `decoding` for a document of that id that is no
    ///   such model: it is not overwritten; `forbidden` on a node that only reads; what the disk gives.
    @discardableResult
    public func save(_ model: Model) async throws -> Document {
        try await home().write { try $0.save(model, in: self) }
    }

    /// Saves models, all or none.
    public func save(_ models: [Model]) async throws {
        try await home().write { batch in
            for model in models { try batch.save(model, in: self) }
        }
    }

    /// Reads a model, changes it and saves what was changed, with nobody writing in between. Fields that it does not know
    /// stay, and those that did not change are not written.
    ///
    ///     try await tasks.update("milk") { $0.status = .done }
    ///
    /// - Parameters:
    ///   - id: of the model.
    ///   - change: runs within the write. When it throws nothing is written, and this throws the same.
    /// - Returns: the model as it is now; nil where there is none of that id in this collection.
    @discardableResult
    public func update(
        _ id: Model.ID, _ change: @escaping @Sendable (inout Model) throws -> Void
    ) async throws -> Model? {
        let (database, id) = (try home(), try documentID(id))
        return try await database.write { try $0.update(id, of: self, change) }
    }

    /// Deletes a model everywhere: a tombstone takes its place.
    /// - Returns: false where there is none of that id in this collection.
    @discardableResult
    public func delete(_ id: Model.ID) async throws -> Bool {
        let (database, id) = (try home(), try documentID(id))
        return try await database.write { try $0.delete(id, of: self) }
    }
}
