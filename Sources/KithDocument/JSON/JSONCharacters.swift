// Bytes of JSON text by name.
extension UInt8 {
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let comma = UInt8(ascii: ",")
    static let colon = UInt8(ascii: ":")
    static let minus = UInt8(ascii: "-")
    static let point = UInt8(ascii: ".")
    static let zero = UInt8(ascii: "0")

    /// Space, tab, line feed, carriage return: the space that JSON allows between tokens.
    @inline(__always)
    var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }

    @inline(__always)
    var isDigit: Bool { self &- .zero < 10 }

    var isExponentMark: Bool { self | 0x20 == UInt8(ascii: "e") }

    /// The value of a hexadecimal digit in either case.
    var hexValue: UInt32? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(self - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(self - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(self - UInt8(ascii: "A")) + 10
        default: nil
        }
    }

    static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? .zero + value : UInt8(ascii: "a") + value - 10 }
}

/// Work on eight bytes at once.
enum EightBytes {
    @inline(__always)
    static func load(_ text: UnsafePointer<UInt8>) -> UInt64 {
        UInt64(littleEndian: UnsafeRawPointer(text).loadUnaligned(as: UInt64.self))
    }

    /// Not zero when a byte ends a run of plain string characters: a quote, a backslash, a control character or a byte
    /// of a character beyond ASCII. The lowest bit set is in the first such byte; bits above it say nothing.
    @inline(__always)
    static func endOfPlain(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5C)
        let control = (word &- (ones &* 0x20)) & ~word
        return (((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes) | control | word) & highs
    }

    /// Not zero when a byte is a quote or a backslash; the lowest bit set is in the first one.
    @inline(__always)
    static func quoteOrBackslash(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5C)
        return (((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)) & 0x8080_8080_8080_8080
    }
}
