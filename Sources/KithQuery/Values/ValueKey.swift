import KithDocument

/// The collation key of a value: bytes that `memcmp` puts in the order of values, that are the same exactly when the
/// values are equal, and that can be read back.
///
///     MISSING 02   NULL 03   FALSE 04   TRUE 05
///     number   06 below zero, 07 zero, 08 above: exponent, digits (ValueKey+Numbers.swift)
///     string   09, the bytes with 00 as 00 FF, then 00
///     array    0A, the keys of the elements, then 00
///     object   0B, for each member its key as a string and the key of its value, then 00
///
/// No key is the beginning of another's: keys after one another are compared one by one, so that the key of several
/// values is simply theirs in a row. What ends a string, an array or an object is lower than all that can go on there.
package struct ValueKey: Hashable, Comparable, Sendable {
    package let bytes: [UInt8]

    /// - Complexity: O(n).
    package init(_ value: QueryValue) {
        var bytes: [UInt8] = []
        Self.append(value, to: &bytes)
        self.bytes = bytes
    }

    /// The keys of several values in a row.
    package init(_ values: [QueryValue]) {
        var bytes: [UInt8] = []
        for value in values { Self.append(value, to: &bytes) }
        self.bytes = bytes
    }

    package static func < (left: Self, right: Self) -> Bool { left.bytes.precedes(right.bytes) }

    enum Tag {
        static let end: UInt8 = 0x00
        static let missing: UInt8 = 0x02
        static let null: UInt8 = 0x03
        static let no: UInt8 = 0x04
        static let yes: UInt8 = 0x05
        static let negative: UInt8 = 0x06
        static let zero: UInt8 = 0x07
        static let positive: UInt8 = 0x08
        static let string: UInt8 = 0x09
        static let array: UInt8 = 0x0A
        static let object: UInt8 = 0x0B
        /// After 00: the byte 00 itself, in a string.
        static let escaped: UInt8 = 0xFF
    }

    /// What is still to be written.
    private enum Piece {
        case value(QueryValue)
        case key(String)
        case end
    }

    private static func append(_ value: QueryValue, to bytes: inout [UInt8]) {
        var pieces: [Piece] = []
        append(value, to: &bytes, within: &pieces)
        // A stack of its own, since documents decide how deep it goes.
        while let piece = pieces.popLast() {
            switch piece {
            case .value(let value): append(value, to: &bytes, within: &pieces)
            case .key(let key): append(key, to: &bytes)
            case .end: bytes.append(Tag.end)
            }
        }
    }

    private static func append(_ value: QueryValue, to bytes: inout [UInt8], within pieces: inout [Piece]) {
        switch value {
        case .missing: bytes.append(Tag.missing)
        case .null: bytes.append(Tag.null)
        case .bool(let bool): bytes.append(bool ? Tag.yes : Tag.no)
        case .number(let number): append(number, to: &bytes)
        case .string(let string): append(string, to: &bytes)
        case .array(let array):
            bytes.append(Tag.array)
            pieces.append(.end)
            for element in array.reversed() { pieces.append(.value(QueryValue(element))) }
        case .object(let object):
            bytes.append(Tag.object)
            pieces.append(.end)
            for (key, value) in object.reversed() {
                pieces.append(.value(QueryValue(value)))
                pieces.append(.key(key))
            }
        }
    }

    private static func append(_ string: String, to bytes: inout [UInt8]) {
        var string = string
        if bytes.isEmpty { bytes.reserveCapacity(string.utf8.count + 2) }
        bytes.append(Tag.string)
        string.withUTF8 { text in
            if !text.contains(0) {
                bytes.append(contentsOf: text)
                return
            }
            for byte in text {
                bytes.append(byte)
                if byte == 0 { bytes.append(Tag.escaped) }
            }
        }
        bytes.append(Tag.end)
    }
}
