import KithDocument

/// How the values of a model become documents and come back.
///
/// The document's id is the model's `id`, a text, and not in the body. With a type, the body's member `type` has it.
package struct ModelCoding<Model: Codable & Identifiable & Sendable>: ModelFields {
    /// What the member `type` of every document is; nil where all documents are of this model.
    package let type: String?
    package let shape: ModelShape<Model>
    /// The model's own name for its id.
    private let idKey: String

    /// The member that says what a document is.
    package static var typeKey: String { "type" }

    /// - Parameter examples: as `ModelShape.init(examples:)` takes them.
    /// - Throws: `DocumentCodingError`, for a model whose values can't be made up, or whose `id` is no member of its own or no text.
    package init(type: String?, examples: [Model] = []) throws(DocumentCodingError) {
        self.type = type
        shape = try ModelShape(examples: examples)
        let place = try shape.place(of: [.member(\Model.id as any PartialKeyPath<Model> & Sendable)])
        guard place.count == 1, shape.isText(place) else {
            throw DocumentCodingError(
                path: place.map { "/\($0.escapedForPointer)" }.joined(),
                reason: "is the id of \(Model.self), which has to be one text")
        }
        idKey = place[0]
    }

    package func place(of steps: [ModelStep]) throws(DocumentCodingError) -> [String] {
        try shape.place(of: steps)
    }

    /// The document's id for a value of `id`.
    /// - Throws: `DocumentCodingError` for what encodes as no text.
    package func documentID(_ id: Model.ID) throws(DocumentCodingError) -> String {
        if let id = id as? String { return id }
        guard let encodable = id as? any Encodable, let text = try DocumentEncoder().json(of: encodable).string else {
            throw DocumentCodingError(
                path: "/\(idKey.escapedForPointer)", reason: "is the id of \(Model.self), and no text")
        }
        return text
    }

    /// Whether a body is that of a document of this type.
    package func isMember(_ body: JSONObject) -> Bool { type.map { body[Self.typeKey] == .string($0) } ?? true }

    package func isID(_ place: [String]) -> Bool { place.count == 1 && place[0].utf8.elementsEqual(idKey.utf8) }

    /// The id of a model, and the body of a document that is new.
    package func document(of model: Model) throws(DocumentCodingError) -> (id: String, body: JSONObject) {
        var body = try DocumentEncoder().body(of: model)
        guard case .string(let id) = body[idKey] else {
            throw DocumentCodingError(path: "/\(idKey.escapedForPointer)", reason: "is missing")
        }
        body[idKey] = nil
        guard let type else { return (id, body) }
        if let own = body[Self.typeKey], own != .string(type) {
            throw DocumentCodingError(
                documentID: id, path: "/\(Self.typeKey)", reason: "is not \(type), which its collection is of")
        }
        body[Self.typeKey] = .string(type)
        return (id, body)
    }

    /// - Throws: `DocumentCodingError` with the id and the path.
    package func model(id: String, body: JSONObject) throws(DocumentCodingError) -> Model {
        if let type, !isMember(body) {
            throw DocumentCodingError(
                documentID: id, path: "/\(Self.typeKey)", reason: "is not \(type), which its collection is of")
        }
        var body = body
        body[idKey] = .string(id)
        do {
            return try DocumentDecoder().value(Model.self, from: .object(body))
        } catch {
            throw error.about(id)
        }
    }

    /// What a model changes where there is a document already: what it does not know stays.
    /// - Throws: `DocumentCodingError`, also for a document that does not decode: it is not overwritten.
    package func changes(
        saving model: Model, over stored: JSONObject
    ) throws(DocumentCodingError) -> FieldChanges {
        let (id, now) = try document(of: model)
        let was = try document(of: try self.model(id: id, body: stored)).body
        return FieldChanges(from: was, to: now, in: stored)
    }

    /// The model after a change, and what that changes of the document.
    /// - Throws: `DocumentCodingError` for a document that does not decode, a model that does not encode, and a changed id;
    ///   and what the closure throws.
    package func updated(
        id: String, stored: JSONObject, by change: (inout Model) throws -> Void
    ) throws -> (model: Model, changes: FieldChanges) {
        let before = try model(id: id, body: stored)
        var after = before
        try change(&after)
        let (newID, now) = try document(of: after)
        guard newID.utf8.elementsEqual(id.utf8) else {
            throw DocumentCodingError(
                documentID: id, path: "/\(idKey.escapedForPointer)",
                reason: "was changed: a document keeps its id; save it as a new one and delete this one")
        }
        return (after, FieldChanges(from: try document(of: before).body, to: now, in: stored))
    }
}

extension DocumentCodingError {
    func about(_ documentID: String) -> DocumentCodingError {
        var error = self
        error.documentID = documentID
        return error
    }
}
