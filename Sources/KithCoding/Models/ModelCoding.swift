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
        if let type, body[Self.typeKey] != .string(type) {
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

    /// The body with which a model is saved where there is a document already: what the model does not know stays.
    /// - Throws: `DocumentCodingError`, also for a document that does not decode: it is not overwritten.
    package func body(
        saving model: Model, over stored: JSONObject
    ) throws(DocumentCodingError) -> ModelChange {
        let (id, now) = try document(of: model)
        let was = try document(of: try self.model(id: id, body: stored)).body
        return ModelChange(from: was, to: now, in: stored)
    }

    /// The model and the body after a change.
    /// - Throws: `DocumentCodingError` for a document that does not decode, a model that does not encode, and a changed id;
    ///   and what the closure throws.
    package func updated(
        id: String, stored: JSONObject, by change: (inout Model) throws -> Void
    ) throws -> (model: Model, change: ModelChange) {
        let before = try model(id: id, body: stored)
        var after = before
        try change(&after)
        let (newID, now) = try document(of: after)
        guard newID.utf8.elementsEqual(id.utf8) else {
            throw DocumentCodingError(
                documentID: id, path: "/\(idKey.escapedForPointer)",
                reason: "was changed: a document keeps its id; save it as a new one and delete this one")
        }
        return (after, ModelChange(from: try document(of: before).body, to: now, in: stored))
    }
}

extension DocumentCodingError {
    func about(_ documentID: String) -> DocumentCodingError {
        var error = self
        error.documentID = documentID
        return error
    }
}

/// What an update makes of a document.
package struct ModelChange: Sendable {
    /// The whole body, with what the model does not know.
    package private(set) var body: JSONObject
    /// The fields that it changes, as JSON Pointers in the order of the body; empty where there is nothing to write.
    package private(set) var paths: [String] = []

    /// - Parameters:
    ///   - was: what the model made of the stored body.
    ///   - now: what it makes of its new value.
    init(from was: JSONObject, to now: JSONObject, in stored: JSONObject) {
        body = stored
        body = merged(stored, was, now, at: "")
    }

    private mutating func merged(_ stored: JSONObject, _ was: JSONObject, _ now: JSONObject, at path: String)
        -> JSONObject
    {
        var result = stored
        for key in JSONObject((was.keys + now.keys).map { ($0, .null) }).keys {
            let place = "\(path)/\(key.escapedForPointer)"
            switch (was[key], now[key]) {
            case (let was, let now) where was == now: break
            case (_, nil):
                // What the model reads as nil may be missing already.
                if stored[key] != nil { paths.append(place) }
                result[key] = nil
            case (let was, let now?): result[key] = merged(stored[key], was, now, at: place)
            }
        }
        return result
    }

    /// A value that the model changed.
    private mutating func merged(
        _ stored: JSONValue?, _ was: JSONValue?, _ now: JSONValue, at path: String
    ) -> JSONValue {
        switch (stored, was, now) {
        case (.object(let stored), .object(let was), .object(let now)):
            return .object(merged(stored, was, now, at: path))
        case (.array(let stored), .array(let was), .array(let now)) where stored.count == was.count:
            // An array is one field: its elements have no stamps of their own.
            paths.append(path)
            return .array(ArrayMerge(stored: stored, was: was).merged(now))
        default:
            paths.append(path)
            return now
        }
    }

    /// What the model does not know of an element stays with it.
    fileprivate static func element(_ stored: JSONValue, _ was: JSONValue, _ now: JSONValue) -> JSONValue {
        guard case (.object(let stored), .object(let was), .object(let now)) = (stored, was, now) else { return now }
        return .object(ModelChange(from: was, to: now, in: stored).body)
    }

    /// Finds for each element of a changed array the one that it was.
    private struct ArrayMerge {
        let stored: [JSONValue]
        let was: [JSONValue]

        func merged(_ now: [JSONValue]) -> [JSONValue] {
            var isFree = was.map { _ in true }
            var origins: [Int?] = now.map { _ in nil }
            func match(_ fits: (_ old: Int, _ new: Int) -> Bool) {
                for new in now.indices where origins[new] == nil {
                    // In its own place first.
                    let places = (isFree.indices.contains(new) ? [new] : []) + Array(isFree.indices)
                    guard let old = places.first(where: { isFree[$0] && fits($0, new) }) else { continue }
                    (origins[new], isFree[old]) = (old, false)
                }
            }
            match { was[$0] == now[$1] }
            match { old, new in was[old]["id"].map { $0 == now[new]["id"] } ?? false }
            if was.count == now.count {
                match { old, new in old == new && was[old]["id"] == nil && now[new]["id"] == nil }
            }
            return zip(now, origins).map { element, origin in
                guard let origin else { return element }
                return was[origin] == element
                    ? stored[origin] : ModelChange.element(stored[origin], was[origin], element)
            }
        }
    }
}
