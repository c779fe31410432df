import KithDocument

/// Makes a `Decodable` value of JSON: the other way of `DocumentEncoder`.
///
/// Nothing is bent to fit: a number that the type has no room for, a fraction where an integer is expected and a text that is no
/// date are errors. A double takes the nearest to an integer beyond 2^53.
package struct DocumentDecoder: Sendable {
    package init() {}

    /// - Throws: `DocumentCodingError` with the path; nesting beyond `CodingLimits.depth` too.
    /// - Complexity: O(n), O(log n) for each member.
    package func value<Value: Decodable>(
        _ type: Value.Type = Value.self, from json: JSONValue
    ) throws(DocumentCodingError) -> Value {
        do {
            return try ValueDecoding.value(type, from: json, at: [])
        } catch {
            throw DocumentCodingError(error)
        }
    }
}

enum ValueDecoding {
    static func value<Value: Decodable>(
        _ type: Value.Type, from json: JSONValue, at path: [any CodingKey]
    ) throws -> Value {
        if let value = try scalar(type, from: json, at: path) { return value }
        if let value = try FoundationValues.value(type, from: json, at: path) { return value }
        guard path.count < CodingLimits.depth else {
            throw DocumentCodingError(
                path: path.pointer, reason: "is nested deeper than \(CodingLimits.depth) levels")
        }
        do {
            return try Value(from: ValueDecoder(json: json, codingPath: path))
        } catch DecodingError.dataCorrupted(let context) where !(context.underlyingError is OwnReason) {
            // A type's own sentence may quote what it refuses.
            let own = OwnReason(text: "is no value of \(Value.self)")
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: context.codingPath, debugDescription: own.text, underlyingError: own))
        }
    }

    private static func scalar<Value>(
        _ type: Value.Type, from json: JSONValue, at path: [any CodingKey]
    ) throws -> Value? {
        if type == String.self { return try required(json.string, type, "a string", json, path) }
        if type == Bool.self { return try required(json.bool, type, "a boolean", json, path) }
        if type == Double.self {
            return try required(finite(json.number?.text) as Double?, type, "a number", json, path)
        }
        if type == Float.self { return try required(finite(json.number?.text) as Float?, type, "a number", json, path) }
        if let tree = type as? any JSONTree.Type { return tree.init(json) as? Value }
        guard let integer = type as? any FixedWidthInteger.Type else { return nil }
        return try required(number(integer, json), type, integerRange(integer), json, path)
    }

    private static func number<Integer: FixedWidthInteger>(_ type: Integer.Type, _ json: JSONValue) -> Integer? {
        json.number.flatMap { Integer($0.text) }
    }

    private static func integerRange<Integer: FixedWidthInteger>(_ type: Integer.Type) -> String {
        "an integer from \(Integer.min) to \(Integer.max)"
    }

    private static func finite<Number: LosslessStringConvertible & FloatingPoint>(_ text: String?) -> Number? {
        text.flatMap { Number($0) }.flatMap { $0.isFinite ? $0 : nil }
    }

    private static func required<Value>(
        _ found: Any?, _ type: Value.Type, _ expected: @autoclosure () -> String, _ json: JSONValue,
        _ path: [any CodingKey]
    ) throws -> Value {
        if let found { return found as! Value }
        throw DecodingError.mismatch(type, json, expected: expected(), at: path)
    }
}
