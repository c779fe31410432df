import KithDocument
import KithNode

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What values encode as: changes of fields, since a value says nothing of fields that its type does not know.
///
/// Times are RFC 3339 in UTC with milliseconds, data is Base64, URLs are their text, decimals are exact numbers.
enum ModelEncoding {
    /// The fields of a value that is an object.
    static func changes(of value: some Encodable, document: String) throws(KithError) -> FieldChanges {
        let slot = try encode(value, document)
        guard case .object = slot.content else {
            throw KithError(
                .invalid, Shown.name(document),
                "document \(Shown.name(document)): \(type(of: value)) does not encode as an object, and a document is one"
            )
        }
        return slot.changes
    }

    static func tree(of value: some Encodable, document: String) throws(KithError) -> KithDocument.JSONValue {
        try encode(value, document).tree
    }

    private static func encode(_ value: some Encodable, _ document: String) throws(KithError) -> ModelSlot {
        let slot = ModelSlot()
        do { try slot.set(value, []) } catch {
            throw KithError(
                .invalid, Shown.name(document),
                "document \(Shown.name(document)): \(type(of: value)) does not encode: \(reason(error))")
        }
        return slot
    }

    private static func reason(_ error: any Error) -> String {
        guard case EncodingError.invalidValue(_, let context) = error else { return Shown.name("\(error)") }
        let path = context.codingPath.map { "/" + $0.stringValue }.joined()
        return path.isEmpty ? context.debugDescription : "\(Shown.name(path)) \(context.debugDescription)"
    }
}

/// Where a value, or a part of one, is encoded to.
final class ModelSlot {
    enum Content {
        case empty
        case removed
        case value(KithDocument.JSONValue)
        case object
        case array
    }

    var content = Content.empty
    /// Whether an object stands in the place of the one before, rather than change members of it.
    private var isWhole = false
    private var keys: [String] = []
    private var parts: [ModelSlot] = []

    var count: Int { parts.count }

    func becomeObject() { content = .object }

    func becomeArray() { content = .array }

    func member(_ key: String) -> ModelSlot {
        if let index = keys.firstIndex(where: { $0.utf8.elementsEqual(key.utf8) }) { return parts[index] }
        keys.append(key)
        return append()
    }

    func append() -> ModelSlot {
        let slot = ModelSlot()
        parts.append(slot)
        return slot
    }

    func set(_ value: some Encodable, _ path: [any CodingKey]) throws {
        if let scalar = try Self.scalar(value, path) {
            content = .value(scalar)
            return
        }
        // Types of dictionaries and enumerations have no members of their own that others might not know.
        let isWhole = value is any WholeEncodable || Mirror(reflecting: value).displayStyle == .enum
        try value.encode(to: ModelEncoder(self, path))
        if case .empty = content { content = .object }
        self.isWhole = self.isWhole || isWhole
    }

    private static func scalar(_ value: some Encodable, _ path: [any CodingKey]) throws -> KithDocument.JSONValue? {
        switch value {
        case let text as String: .string(text)
        case let bool as Bool: .bool(bool)
        case let number as Double: try real(number, number, path)
        case let number as Float: try real(Double(number.description) ?? .nan, number, path)
        case let integer as any FixedWidthInteger: KithDocument.JSONValue.number(integer)
        case let date as Date: JSONValue.date(date).tree
        case let data as Data: JSONValue.data(data).tree
        case let url as URL: .string(url.absoluteString)
        case let decimal as Decimal: try exact(decimal, path)
        case let value as JSONValue: value.tree
        default: nil
        }
    }

    private static func real(
        _ number: Double, _ given: Any, _ path: [any CodingKey]
    ) throws -> KithDocument.JSONValue {
        guard number.isFinite else {
            throw EncodingError.invalidValue(given, .init(codingPath: path, debugDescription: "is no number of JSON"))
        }
        return .number(number)
    }

    private static func exact(_ decimal: Decimal, _ path: [any CodingKey]) throws -> KithDocument.JSONValue {
        guard let value = try? KithDocument.JSONValue(parsing: decimal.description), value.number != nil else {
            throw EncodingError.invalidValue(decimal, .init(codingPath: path, debugDescription: "is no number of JSON"))
        }
        return value
    }

    /// All that was encoded.
    var tree: KithDocument.JSONValue {
        switch content {
        case .value(let value): return value
        case .array: return .array(parts.map(\.tree))
        case .object, .empty, .removed:
            var object = JSONObject()
            for (key, part) in zip(keys, parts) {
                if case .removed = part.content { continue }
                object[key] = part.tree
            }
            return .object(object)
        }
    }

    /// What was encoded of an object.
    var changes: FieldChanges {
        var changes = FieldChanges()
        for (key, part) in zip(keys, parts) {
            switch part.content {
            case .removed: changes.add(key, .remove)
            case .object where !part.isWhole: changes.add(key, .members(part.changes))
            default: changes.add(key, .set(part.tree))
            }
        }
        return changes
    }
}

/// Types whose values replace what was there as a whole, though they encode as objects.
private protocol WholeEncodable {}

extension Dictionary: WholeEncodable {}

struct ModelEncoder: Encoder {
    let slot: ModelSlot
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ slot: ModelSlot, _ codingPath: [any CodingKey]) {
        self.slot = slot
        self.codingPath = codingPath
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        slot.becomeObject()
        return KeyedEncodingContainer(ModelKeyedContainer<Key>(slot: slot, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        slot.becomeArray()
        return ModelUnkeyedContainer(slot: slot, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { ModelSingleContainer(encoder: self) }
}

/// Values of JSON are encoded by other encoders as what they are.
extension JSONValue: Codable {
    /// Numbers beyond 64 bits are encoded as decimals.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch tree {
        case .null: try container.encodeNil()
        case .bool(let bool): try container.encode(bool)
        case .number(let number):
            if let integer = number.integer {
                try container.encode(integer)
            } else if let integer = number.natural {
                try container.encode(integer)
            } else {
                try container.encode(Decimal(string: number.text) ?? Decimal(number.double))
            }
        case .string(let string): try container.encode(string)
        case .array(let array): try container.encode(array.map { JSONValue($0) })
        case .object(let object):
            try container.encode(
                Dictionary(object.map { ($0.key, JSONValue($0.value)) }, uniquingKeysWith: { $1 }))
        }
    }

    /// Numbers come as the decoder has them: integers of up to 64 bits, and doubles.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? container.decode(Int64.self) {
            self = .int(integer)
        } else if let integer = try? container.decode(UInt64.self) {
            self = .int(integer)
        } else if let double = try? container.decode(Double.self) {
            self = .double(double)
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let array = try? container.decode([JSONValue].self) {
            self = .array(array)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }
}
