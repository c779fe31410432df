import KithDocument

/// What an expression of a query gives: a JSON value, or MISSING, which is what a path gives that leads nowhere.
///
/// Values of all types stand in one order: MISSING, NULL, FALSE, TRUE, numbers, strings, arrays, objects. Numbers are
/// compared exactly as decimals of any size, strings by their UTF-8 bytes, arrays element by element, objects member by
/// member in the order of their keys; what is a beginning of the other comes first. `==` is this order too, so that
/// `1` and `1.0` are equal wherever they stand.
package enum QueryValue: Sendable {
    case missing
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    package init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let bool): self = .bool(bool)
        case .number(let number): self = .number(number)
        case .string(let string): self = .string(string)
        case .array(let array): self = .array(array)
        case .object(let object): self = .object(object)
        }
    }

    /// MISSING for nil.
    package init(_ value: JSONValue?) { self = value.map { QueryValue($0) } ?? .missing }

    package static func number(_ integer: some FixedWidthInteger) -> QueryValue { .number(JSONNumber(integer)) }

    /// NULL for infinities and NaN, which JSON does not have.
    package static func number(_ double: Double) -> QueryValue { JSONNumber(double).map { .number($0) } ?? .null }

    /// Nil for MISSING.
    package var json: JSONValue? {
        switch self {
        case .missing: nil
        case .null: .null
        case .bool(let bool): .bool(bool)
        case .number(let number): .number(number)
        case .string(let string): .string(string)
        case .array(let array): .array(array)
        case .object(let object): .object(object)
        }
    }

    /// As an element of an array, which can't be MISSING: NULL takes its place.
    package var element: JSONValue { json ?? .null }
}

extension QueryValue {
    /// Whether it is neither MISSING nor NULL.
    package var isValued: Bool {
        switch self {
        case .missing, .null: false
        default: true
        }
    }

    package var isMissing: Bool {
        if case .missing = self { true } else { false }
    }

    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// Whether it is TRUE itself: what WHERE, HAVING, ON and SATISFIES ask for.
    package var isTrue: Bool {
        if case .bool(true) = self { true } else { false }
    }

    package var string: String? {
        if case .string(let string) = self { string } else { nil }
    }

    package var array: [JSONValue]? {
        if case .array(let array) = self { array } else { nil }
    }

    package var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    package var number: JSONNumber? {
        if case .number(let number) = self { number } else { nil }
    }

    /// The name of its type, as the function TYPE gives it.
    package var typeName: String {
        switch self {
        case .missing: "missing"
        case .null: "null"
        case .bool: "boolean"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}
