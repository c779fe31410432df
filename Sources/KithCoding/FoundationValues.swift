import KithDocument

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Values of Foundation that documents keep in another form than their types would write.
///
/// - Dates are RFC 3339 texts in UTC with milliseconds (`2026-11-30T16:54:32.123Z`), so that their order as texts is that of
///   time; any form that the functions of queries read is read.
/// - Data is base64, a URL its text. A `UUID` writes its text by itself.
/// - A `Decimal` is refused: as a number it could lose digits, so money is an integer of the smallest unit.
enum FoundationValues {
    /// The form of a date, as documents have it.
    static func text(of date: Date) -> String? {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        return Int64(exactly: milliseconds).flatMap { DateText.text($0) }
    }

    /// Nil for values that no rule here is about.
    static func json<Value>(of value: Value, at path: [any CodingKey]) throws -> JSONValue? {
        switch Value.self {
        case is Date.Type:
            guard let text = text(of: value as! Date) else {
                throw DocumentCodingError(path: path.pointer, reason: "is a date beyond the years 0 to 9999")
            }
            return .string(text)
        case is Data.Type: return .string((value as! Data).base64EncodedString())
        case is URL.Type: return .string((value as! URL).absoluteString)
        case is Decimal.Type: throw refusedDecimal(at: path)
        default: return nil
        }
    }

    /// Nil for types that no rule here is about.
    static func value<Value>(_ type: Value.Type, from json: JSONValue, at path: [any CodingKey]) throws -> Value? {
        switch type {
        case is Date.Type:
            let found = json.string.flatMap { DateText($0) }.map {
                Date(timeIntervalSince1970: Double($0.milliseconds) / 1000)
            }
            return try required(found, json, "a date such as 2026-11-30T16:54:32.123Z", type, at: path) as! Value?
        case is Data.Type:
            return try required(json.string.flatMap { Data(base64Encoded: $0) }, json, "base64", type, at: path)
                as! Value?
        case is URL.Type:
            return try required(json.string.flatMap { URL(string: $0) }, json, "a URL", type, at: path) as! Value?
        case is Decimal.Type: throw refusedDecimal(at: path)
        default: return nil
        }
    }

    /// Two values of a type for a model's shape; nil for types that no rule here is about.
    static func madeUp<Value>(_ type: Value.Type, _ number: Int) -> (JSONValue, JSONValue?)? {
        switch type {
        case is Date.Type:
            let times = [number, number + 1].map { text(of: Date(timeIntervalSince1970: Double($0))) }
            return (JSONValue(times[0]), JSONValue(times[1]))
        case is Data.Type: return ("AA==", "AQ==")
        case is URL.Type: return (.string("https://example.org/\(number)"), .string("https://example.net/\(number)"))
        case is UUID.Type:
            return ("00000000-0000-4000-8000-000000000000", "00000000-0000-4000-8000-000000000001")
        default: return nil
        }
    }

    private static func required<Found>(
        _ found: Found?, _ json: JSONValue, _ expected: String, _ type: Any.Type, at path: [any CodingKey]
    ) throws -> Found {
        if let found { return found }
        throw DecodingError.mismatch(type, json, expected: expected, at: path)
    }

    private static func refusedDecimal(at path: [any CodingKey]) -> DocumentCodingError {
        DocumentCodingError(
            path: path.pointer,
            reason: "is a Decimal, which JSON numbers don't keep: use an integer of the smallest unit, or a text")
    }
}

extension DecodingError {
    /// Another type stands there than was asked for.
    static func mismatch(
        _ type: Any.Type, _ json: JSONValue, expected: String, at path: [any CodingKey]
    ) -> DecodingError {
        let reason = "is \(json.kindName), expected \(expected)"
        let context = Context(codingPath: path, debugDescription: reason, underlyingError: OwnReason(text: reason))
        return json.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }
}

extension JSONValue {
    /// What it is, for an error.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
