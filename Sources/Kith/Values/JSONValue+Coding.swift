import KithCoding
import KithDocument

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// In documents a value of JSON is what it is.
extension JSONValue: JSONTree {}

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
