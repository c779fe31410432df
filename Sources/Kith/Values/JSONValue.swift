import KithCoding
import KithDocument
import KithNode

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A JSON value: what stands in a field of a document.
///
/// Integers of any size are kept exactly, keys and text byte for byte. Equal values have equal canonical JSON.
///
///     let value: JSONValue = ["title": "Milk", "tags": ["shop", 3], "done": false]
///     value["title"]?.string      // "Milk"
///     value["tags"]?[1]?.int      // 3
public struct JSONValue: Hashable, Sendable, CustomStringConvertible {
    /// What a value is.
    public enum Kind: String, Sendable, CaseIterable {
        case null, bool, number, string, array, object
    }

    package var tree: KithDocument.JSONValue

    package init(_ tree: KithDocument.JSONValue) { self.tree = tree }

    /// JSON null.
    public static let null = JSONValue(.null)
    /// True or false.
    public static func bool(_ bool: Bool) -> JSONValue { JSONValue(.bool(bool)) }
    /// An integer, exactly.
    public static func int(_ integer: some FixedWidthInteger) -> JSONValue { JSONValue(.number(integer)) }
    /// Null for infinities and NaN, which JSON does not have.
    public static func double(_ double: Double) -> JSONValue { JSONValue(.number(double)) }
    /// Text.
    public static func string(_ string: String) -> JSONValue { JSONValue(.string(string)) }
    /// An array.
    public static func array(_ elements: [JSONValue]) -> JSONValue { JSONValue(.array(elements.map(\.tree))) }

    /// Keys that are equal as Swift compares text are one; `init(json:)` keeps those that differ in bytes.
    public static func object(_ members: [String: JSONValue]) -> JSONValue {
        JSONValue(.object(JSONObject(members.map { ($0.key, $0.value.tree) })))
    }

    /// RFC 3339 in UTC with milliseconds, so that times sort as text does: `2026-11-30T12:34:56.789Z`. Times outside the
    /// years 0 to 9999 are moved to the ends.
    public static func date(_ date: Date) -> JSONValue {
        let end: Int64 = date.timeIntervalSince1970 < 0 ? .min : .max
        return .string(FoundationValues.text(of: date) ?? Timestamp.text(ofMilliseconds: end))
    }

    /// Base64 (RFC 4648): for little data; a document is held whole in memory.
    public static func data(_ data: Data) -> JSONValue { .string(data.base64EncodedString()) }

    /// Reads JSON text (RFC 8259).
    /// - Throws: `KithError` `invalid` with line and column: for a key that stands twice, a number beyond a double's range,
    ///   a lone surrogate, nesting deeper than 512, more than 20 MiB.
    public init(json: String) throws(KithError) {
        do throws(DocumentError) { tree = try KithDocument.JSONValue(parsing: json) } catch {
            throw KithError(.invalid, "JSON", error.message)
        }
    }

    /// What the value is.
    public var kind: Kind {
        switch tree {
        case .null: .null
        case .bool: .bool
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    /// Whether it is JSON null.
    public var isNull: Bool { kind == .null }
    /// The value where it is true or false.
    public var bool: Bool? { tree.bool }
    /// The value where it is an integer that fits.
    public var int: Int? { tree.integer.flatMap { Int(exactly: $0) } }
    /// The nearest double of a number; infinite for integers beyond its range.
    public var double: Double? { tree.double }
    /// The value where it is text.
    public var string: String? { tree.string }
    /// The elements of an array.
    public var array: [JSONValue]? { tree.array?.map { JSONValue($0) } }
    /// The keys of an object, ascending by their bytes; nil for other values.
    public var keys: [String]? { tree.object?.keys }

    /// A time as `date(_:)` writes it, or in another form that queries read as a date (docs/query.md).
    public var date: Date? { string.flatMap { FoundationValues.date(of: $0) } }
    /// Data as `data(_:)` writes it.
    public var data: Data? { string.flatMap { Data(base64Encoded: $0) } }

    /// A member of an object. Reading gives nil for other values. Setting nil removes the member; setting a member of what
    /// is no object makes it one.
    public subscript(key: String) -> JSONValue? {
        get { tree.object?[key].map { JSONValue($0) } }
        set {
            var object = tree.object ?? JSONObject()
            tree = .null  // The object is held once, so that it is changed in place.
            object[key] = newValue?.tree
            tree = .object(object)
        }
    }

    /// An element of an array; nil for other values and beyond the end. Setting what is not there does nothing, and nil
    /// removes.
    public subscript(index: Int) -> JSONValue? {
        get { tree[index].map { JSONValue($0) } }
        set {
            guard case .array(var elements) = tree, elements.indices.contains(index) else { return }
            tree = .null
            if let newValue { elements[index] = newValue.tree } else { elements.remove(at: index) }
            tree = .array(elements)
        }
    }

    /// The canonical JSON text: keys in the order of their bytes, no spaces.
    public var json: String { tree.description }

    /// The text for people: a member or element a line.
    public var prettyJSON: String { tree.prettyText }

    /// The canonical JSON text.
    public var description: String { json }
}

// Not by nil: `value["x"] == nil` means that there is no such member.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// True or false.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// A double.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Of a key that stands twice the last counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(.object(JSONObject(elements.map { ($0.0, $0.1.tree) })))
    }
}
