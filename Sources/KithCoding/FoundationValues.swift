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
/// - A `Decimal` is a number where that keeps all its digits, and an error else: a fraction has the digits of a double.
package enum FoundationValues {
    /// The form of a date, as documents have it; nil beyond the years 0 to 9999.
    package static func text(of date: Date) -> String? {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        return Int64(exactly: milliseconds).flatMap { DateText.text($0) }
    }

    /// The date of a text; nil for one that is none.
    package static func date(of text: String) -> Date? {
        DateText(text).map { Date(timeIntervalSince1970: Double($0.milliseconds) / 1000) }
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
        case is Decimal.Type:
            guard let number = number(of: value as! Decimal) else { throw inexactDecimal(at: path) }
            return .number(number)
        default: return nil
        }
    }

    private static func number(of decimal: Decimal) -> JSONNumber? {
        guard let number = (try? JSONValue(parsing: decimal.description))?.number,
            self.decimal(of: number) == decimal
        else { return nil }
        return number
    }

    private static func decimal(of number: JSONNumber) -> Decimal? {
        guard let decimal = Decimal(string: number.text), decimal.isFinite,
            // A decimal takes no more digits than it has room for.
            (try? JSONValue(parsing: decimal.description))?.number == number
        else { return nil }
        return decimal
    }

    /// Nil for types that no rule here is about.
    static func value<Value>(_ type: Value.Type, from json: JSONValue, at path: [any CodingKey]) throws -> Value? {
        switch type {
        case is Date.Type:
            let found = json.string.flatMap { date(of: $0) }
            return try required(found, json, "a date such as 2026-11-30T16:54:32.123Z", type, at: path) as! Value?
        case is Data.Type:
            return try required(json.string.flatMap { Data(base64Encoded: $0) }, json, "base64", type, at: path)
                as! Value?
        case is URL.Type:
            return try required(json.string.flatMap { URL(string: $0) }, json, "a URL", type, at: path) as! Value?
        case is Decimal.Type:
            if json.number != nil, json.number.flatMap({ decimal(of: $0) }) == nil { throw inexactDecimal(at: path) }
            return try required(json.number.flatMap { decimal(of: $0) }, json, "a number", type, at: path) as! Value?
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
        case is Decimal.Type: return (.number(number), .number(number + 1))
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

    private static func inexactDecimal(at path: [any CodingKey]) -> DocumentCodingError {
        DocumentCodingError(
            path: path.pointer,
            reason: "has more digits than JSON and a Decimal both keep: use an integer of the smallest unit, or a text")
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
