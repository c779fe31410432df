/// Reads the deterministic encoding of CBOR (RFC 8949, 4.2.1) and nothing else: what has an indefinite length, a longer
/// head than it needs, or map keys that do not ascend is refused.
///
/// Every length is checked against the bytes that are there before anything is taken. The bytes must outlive the reader:
/// it is made and used inside `read`.
package struct CBORReader {
    private let bytes: UnsafeRawBufferPointer
    package private(set) var offset = 0

    private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Reads a whole payload: bytes left over are an error.
    package static func read<Value>(
        _ bytes: [UInt8], _ body: (inout CBORReader) throws(ProtocolError) -> Value
    ) throws(ProtocolError) -> Value {
        let result = bytes.withUnsafeBytes { buffer -> Result<Value, ProtocolError> in
            var reader = CBORReader(buffer)
            do throws(ProtocolError) {
                let value = try body(&reader)
                if reader.remaining > 0 { return .failure(ProtocolError("\(reader.remaining) bytes follow a message")) }
                return .success(value)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    package var remaining: Int { bytes.count - offset }

    package mutating func uint() throws(ProtocolError) -> UInt64 { try head(0, "a number") }

    /// An unsigned number of at most `limit`.
    package mutating func uint(atMost limit: UInt64, _ what: StaticString) throws(ProtocolError) -> UInt64 {
        let number = try uint()
        if number > limit { throw ProtocolError("\(what) is \(number), over the limit of \(limit)") }
        return number
    }

    package mutating func int() throws(ProtocolError) -> Int64 {
        guard remaining > 0 else { throw Self.truncated }
        let isNegative = bytes[offset] >> 5 == 1
        let number = try head(isNegative ? 1 : 0, "a number")
        guard let value = Int64(exactly: number) else { throw ProtocolError("a number is out of range") }
        return isNegative ? ~value : value
    }

    package mutating func bool() throws(ProtocolError) -> Bool {
        guard remaining > 0 else { throw Self.truncated }
        let byte = bytes[offset]
        guard byte == 0xF4 || byte == 0xF5 else { throw ProtocolError("a truth value was expected") }
        offset += 1
        return byte == 0xF5
    }

    /// The count of an array whose items follow; never more than bytes are left.
    package mutating func array(atMost limit: Int, _ what: StaticString) throws(ProtocolError) -> Int {
        try count(4, perItem: 1, limit, what)
    }

    /// The head of an array that has exactly `count` items.
    package mutating func tuple(_ expected: Int, _ what: StaticString) throws(ProtocolError) {
        let count = try head(4, what)
        if count != UInt64(expected) { throw ProtocolError("\(what) has \(count) parts, not \(expected)") }
    }

    /// The bytes of a byte string, in place.
    package mutating func byteString(atMost limit: Int, _ what: StaticString) throws(ProtocolError)
        -> UnsafeRawBufferPointer
    {
        take(try count(2, perItem: 1, limit, what))
    }

    package mutating func byteArray(atMost limit: Int, _ what: StaticString) throws(ProtocolError) -> [UInt8] {
        Array(try byteString(atMost: limit, what))
    }

    package mutating func text(atMost limit: Int, _ what: StaticString) throws(ProtocolError) -> String {
        let utf8 = take(try count(3, perItem: 1, limit, what))
        guard let text = String(validating: utf8, as: UTF8.self) else { throw ProtocolError("\(what) is no UTF-8") }
        return text
    }

    /// The keys of a map, which ascend; whoever asks for the next has read or skipped the value of the last.
    package mutating func map() throws(ProtocolError) -> CBORMapKeys {
        CBORMapKeys(remaining: try count(5, perItem: 2, ReplicationLimits.frameBytes, "a map"))
    }

    private mutating func take(_ count: Int) -> UnsafeRawBufferPointer {
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
    }

    private mutating func count(
        _ major: UInt8, perItem: Int, _ limit: Int, _ what: StaticString
    ) throws(ProtocolError) -> Int {
        let number = try head(major, what)
        if number > UInt64(limit) { throw ProtocolError("\(what) has \(number) parts, over the limit of \(limit)") }
        guard Int(number) * perItem <= remaining else { throw Self.truncated }
        return Int(number)
    }

    private mutating func head(_ major: UInt8, _ what: StaticString) throws(ProtocolError) -> UInt64 {
        guard remaining > 0 else { throw Self.truncated }
        let first = bytes[offset]
        guard first >> 5 == major else { throw ProtocolError("\(what) was expected and something else came") }
        offset += 1
        return try argument(first & 31)
    }

    /// The number in a head, in its shortest form.
    private mutating func argument(_ short: UInt8) throws(ProtocolError) -> UInt64 {
        if short < 24 { return UInt64(short) }
        guard short <= 27 else { throw ProtocolError("a length is indefinite or reserved") }
        let size = 1 << (Int(short) - 24)
        guard remaining >= size else { throw Self.truncated }
        var number: UInt64 = 0
        for index in 0..<size { number = number << 8 | UInt64(bytes[offset + index]) }
        offset += size
        let least: UInt64 = [24, 1 << 8, 1 << 16, 1 << 32][Int(short) - 24]
        if number < least { throw ProtocolError("a number is not in its shortest form") }
        return number
    }

    private static var truncated: ProtocolError { ProtocolError("a message ends too early") }

    /// Skips one value of any kind, checking its form.
    package mutating func skip(depth: Int = ReplicationLimits.skippedDepth) throws(ProtocolError) {
        guard remaining > 0 else { throw Self.truncated }
        guard depth > 0 else { throw ProtocolError("a value is nested too deeply") }
        let first = bytes[offset]
        switch first >> 5 {
        case 0, 1:
            _ = try head(first >> 5, "a number")
        case 2:
            _ = take(try count(2, perItem: 1, .max / 2, "a byte string"))
        case 3:
            _ = try text(atMost: .max / 2, "a text")
        case 4:
            for _ in 0..<(try count(4, perItem: 1, .max / 2, "an array")) { try skip(depth: depth - 1) }
        case 5:
            try skipMap(depth: depth)
        case 6:
            _ = try head(6, "a tag")
            try skip(depth: depth - 1)
        default:
            try skipSimple(first & 31)
        }
    }

    private mutating func skipMap(depth: Int) throws(ProtocolError) {
        var last: UnsafeRawBufferPointer.SubSequence?
        for _ in 0..<(try count(5, perItem: 2, .max / 4, "a map")) {
            let start = offset
            try skip(depth: depth - 1)
            let key = bytes[start..<offset]
            if let last, !last.lexicographicallyPrecedes(key) { throw Self.unordered }
            last = key
            try skip(depth: depth - 1)
        }
    }

    fileprivate static var unordered: ProtocolError { ProtocolError("the keys of a map do not ascend") }

    /// Truth values, null, other simple values and floating-point numbers.
    private mutating func skipSimple(_ short: UInt8) throws(ProtocolError) {
        offset += 1
        let size = short < 24 ? 0 : short <= 27 ? 1 << (Int(short) - 24) : -1
        guard size >= 0 else { throw ProtocolError("a length is indefinite or reserved") }
        guard remaining >= size else { throw Self.truncated }
        var number: UInt64 = 0
        for index in 0..<size { number = number << 8 | UInt64(bytes[offset + index]) }
        offset += size
        let isShortest =
            switch size {
            case 1: number >= 32
            case 4: !Self.fitsHalf(Float(bitPattern: UInt32(truncatingIfNeeded: number)))
            case 8: !Self.fitsSingle(Double(bitPattern: number))
            default: true
            }
        if !isShortest { throw ProtocolError("a number is not in its shortest form") }
    }

    private static func fitsSingle(_ number: Double) -> Bool { number.isNaN || Double(Float(number)) == number }

    private static func fitsHalf(_ number: Float) -> Bool {
        if number.isNaN || number.isInfinite || number == 0 { return true }
        // Eleven bits of significand; exponents from -14 to 15, below them multiples of 2^-24.
        let scaled = number.magnitude * 16_777_216
        guard number.magnitude <= 65_504, scaled == scaled.rounded(.towardZero), scaled >= 1 else { return false }
        return number.significandBitPattern.trailingZeroBitCount >= 13 || scaled < 2048
    }
}

/// The keys of one map in order.
package struct CBORMapKeys {
    private var remaining: Int
    private var last: UInt64?

    init(remaining: Int) { self.remaining = remaining }

    /// The next key; nil after the last.
    package mutating func next(_ reader: inout CBORReader) throws(ProtocolError) -> UInt64? {
        guard remaining > 0 else { return nil }
        remaining -= 1
        let key = try reader.uint()
        if let last, key <= last { throw CBORReader.unordered }
        last = key
        return key
    }
}
