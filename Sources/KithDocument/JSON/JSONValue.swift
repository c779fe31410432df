/// A JSON value as a tree, for status, control requests and the command line. Documents themselves stay bytes
/// (`CanonicalJSON`).
///
/// Equal values have equal canonical bytes and the reverse.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    package static func number(_ integer: some FixedWidthInteger) -> JSONValue { .number(JSONNumber(integer)) }

    /// Null for infinities and NaN, which JSON does not have.
    package static func number(_ double: Double) -> JSONValue { JSONNumber(double).map { .number($0) } ?? .null }

    /// Null for nil.
    package init(_ string: String?) { self = string.map { .string($0) } ?? .null }

    /// Null for nil.
    package init(_ integer: (some FixedWidthInteger)?) { self = integer.map { .number($0) } ?? .null }
}

extension JSONValue {
    package var isNull: Bool { self == .null }

    package var bool: Bool? {
        if case .bool(let bool) = self { bool } else { nil }
    }

    package var number: JSONNumber? {
        if case .number(let number) = self { number } else { nil }
    }

    /// The value where it is an integer that fits.
    package var integer: Int64? { number?.integer }

    /// The value where it is an integer from 0 on that fits.
    package var natural: UInt64? { number?.natural }

    /// The nearest double of a number.
    package var double: Double? { number?.double }

    package var string: String? {
        if case .string(let string) = self { string } else { nil }
    }

    package var array: [JSONValue]? {
        if case .array(let array) = self { array } else { nil }
    }

    package var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// A member of an object. Reading gives nil for other values; writing makes one of null, and is a programmer's error
    /// on anything else.
    package subscript(key: String) -> JSONValue? {
        get { object?[key] }
        set {
            switch self {
            case .object(var object):
                self = .null  // The object is held once, so that it is changed in place.
                object[key] = newValue
                self = .object(object)
            case .null:
                self = .object(JSONObject([(key, newValue)].compactMap { key, value in value.map { (key, $0) } }))
            default:
                preconditionFailure("only objects have members")
            }
        }
    }

    /// An element of an array; nil for other values and beyond the end.
    package subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }
}

// Arrays and objects are compared and hashed by their canonical bytes: which say it all, and are written with less stack
// than a comparison level by level would take.
extension JSONValue: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let mine), .bool(let its)): mine == its
        case (.number(let mine), .number(let its)): mine == its
        case (.string(let mine), .string(let its)): mine.utf8.elementsEqual(its.utf8)
        case (.array(let mine), .array(let its)): mine.count == its.count && left.canonicalBytes == right.canonicalBytes
        case (.object(let mine), .object(let its)): mine == its
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(canonicalBytes) }
}

extension JSONObject: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.count == right.count
            && JSONValue.object(left).canonicalBytes == JSONValue.object(right).canonicalBytes
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(JSONValue.object(self).canonicalBytes) }
}

// Not by nil: `value["x"] == nil` must mean that there is no such member.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .number(value) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// A key must not stand twice.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        let object = JSONObject(elements)
        precondition(object.count == elements.count, "a key stands twice in an object")
        self = .object(object)
    }
}
