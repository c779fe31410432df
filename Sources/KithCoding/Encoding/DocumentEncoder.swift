import KithDocument

/// Makes the JSON of an `Encodable` value, which keeps what Foundation's coder would lose: integers of any width are written
/// exactly, and a double as the shortest text that reads back as it.
///
/// A `Set`, and a `Dictionary` with other keys than texts and integers, becomes an array in the byte order of its elements, so
/// that equal values have equal JSON in every process. What is nil is left out, where the type has optionals of the compiler's
/// making; the values of Foundation are written as `FoundationValues` says.
package struct DocumentEncoder: Sendable {
    package init() {}

    /// - Throws: `DocumentCodingError` with the path, for NaN and infinities, what has no place in JSON, nesting beyond
    ///   `CodingLimits.depth`, and what the type itself refuses.
    /// - Complexity: O(n log n).
    package func json(of value: some Encodable) throws(DocumentCodingError) -> JSONValue {
        try change(of: value).json
    }

    /// What the value says of a place: for a value with members of its own what becomes of each, since it says nothing of
    /// those that its type does not know. A member that is nil is removed. Arrays, sets, dictionaries and enumerations are
    /// set as wholes: theirs are no fields of a type.
    package func change(of value: some Encodable) throws(DocumentCodingError) -> FieldChanges.Change {
        do {
            return try ValueEncoding.change(of: value, at: [])
        } catch {
            throw DocumentCodingError(error)
        }
    }

    /// The body of a document: an object without names that begin with `_`, which are kept for the database.
    /// - Throws: as `json(of:)`, and for values that are no such object.
    package func body(of value: some Encodable) throws(DocumentCodingError) -> JSONObject {
        guard case .object(let body) = try json(of: value) else {
            throw DocumentCodingError(path: "", reason: "is no object, which a document has to be")
        }
        if let key = body.keys.first(where: { $0.utf8.first == UInt8(ascii: "_") }) {
            throw DocumentCodingError(
                path: "/\(key.escapedForPointer)",
                reason: "begins with _, as only names of the database do: give it another coding key")
        }
        return body
    }
}

/// A type whose values are JSON: they are coded as what they are.
package protocol JSONTree {
    var tree: JSONValue { get }
    init(_ tree: JSONValue)
}

enum ValueEncoding {
    static func change<Value: Encodable>(
        of value: Value, at path: [any CodingKey]
    ) throws -> FieldChanges.Change {
        if let json = try scalar(value, at: path) { return .set(json) }
        if let json = try FoundationValues.json(of: value, at: path) { return .set(json) }
        guard path.count < CodingLimits.depth else {
            throw DocumentCodingError(
                path: path.pointer, reason: "is nested deeper than \(CodingLimits.depth) levels")
        }
        let place = EncodedPlace()
        try value.encode(to: PlaceEncoder(place: place, codingPath: path))
        let change = try place.change(at: path)
        if value is any UnorderedElements { return .set(ordered(change.json, isMap: value is any UnorderedMap)) }
        if case .members = change, Mirror(reflecting: value).displayStyle == .enum { return .set(change.json) }
        return change
    }

    private static func scalar<Value>(_ value: Value, at path: [any CodingKey]) throws -> JSONValue? {
        if Value.self == String.self { return .string(value as! String) }
        if Value.self == Bool.self { return .bool(value as! Bool) }
        if Value.self == Int.self { return .number(value as! Int) }
        if Value.self == Double.self { return try number(value as! Double, at: path) }
        // Shortest as what it is: 0.1 and not the double beside it.
        if Value.self == Float.self {
            let float = value as! Float
            return try number(float.isFinite ? Double(float.description)! : Double(float), at: path)
        }
        if let integer = value as? any FixedWidthInteger { return JSONValue.number(integer) }
        return (value as? any JSONTree)?.tree
    }

    private static func number(_ double: Double, at path: [any CodingKey]) throws -> JSONValue {
        guard let number = JSONNumber(double) else {
            throw DocumentCodingError(path: path.pointer, reason: "is infinite or no number, which JSON does not have")
        }
        return .number(number)
    }

    /// What came in the order of a hash, in byte order; the pairs of a map as keys and values in turn.
    private static func ordered(_ json: JSONValue, isMap: Bool) -> JSONValue {
        guard case .array(let array) = json else { return json }
        let width = isMap ? 2 : 1
        let pairs = stride(from: 0, to: array.count, by: width).map { start in
            (key: array[start].canonicalBytes, values: array[start..<min(start + width, array.count)])
        }
        return .array(pairs.sorted { $0.key.precedes($1.key) }.flatMap(\.values))
    }
}

/// Collections whose order is that of a hash.
private protocol UnorderedElements {}
private protocol UnorderedMap: UnorderedElements {}
extension Set: UnorderedElements {}
extension Dictionary: UnorderedElements, UnorderedMap {}
