/// Appends numbers and bytes in the encodings that hashes, the store and the wire share.
package struct ByteWriter {
    package private(set) var bytes: [UInt8]

    package init(capacity: Int = 64) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Begins anew in the same memory.
    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    package mutating func append(_ byte: UInt8) { bytes.append(byte) }

    package mutating func append(contentsOf other: some Sequence<UInt8>) { bytes.append(contentsOf: other) }

    package mutating func append(bigEndian number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    // The same for the types that most are of: other modules call these and no unspecialised generic code.

    package mutating func append(contentsOf other: [UInt8]) { bytes.append(contentsOf: other) }

    package mutating func append(contentsOf other: String.UTF8View) { bytes.append(contentsOf: other) }

    package mutating func append(bigEndian number: UInt64) { appendBytes(of: number.bigEndian) }

    // Several at once: what an append costs is not the bytes.

    package mutating func append(bigEndian first: UInt64, _ second: UInt64) {
        appendBytes(of: (first.bigEndian, second.bigEndian))
    }

    package mutating func append(bigEndian first: UInt64, _ second: UInt64, _ third: UInt64) {
        appendBytes(of: (first.bigEndian, second.bigEndian, third.bigEndian))
    }

    @inline(__always)
    private mutating func appendBytes<Value: BitwiseCopyable>(of value: Value) {
        withUnsafeBytes(of: value) { raw in
            raw.withMemoryRebound(to: UInt8.self) { bytes.append(contentsOf: $0) }
        }
    }

    package mutating func append(bigEndian number: UInt32) { appendBytes(of: number.bigEndian) }

    /// Seven bits a byte, the least significant first (LEB128).
    package mutating func append(varint number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// What `write` appends, after its length in four bytes.
    package mutating func appendLengthPrefixed(_ write: (inout ByteWriter) -> Void) {
        let start = bytes.count
        append(bigEndian: UInt32(0))
        write(&self)
        let length = UInt32(bytes.count - start - 4)
        for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(index))) }
    }

    package mutating func appendLengthPrefixed(_ other: [UInt8]) {
        appendLengthPrefixed { $0.append(contentsOf: other) }
    }
}

/// Reads what `ByteWriter` wrote. Reading past the end throws; nothing here traps on bad input.
package struct ByteReader {
    private let bytes: [UInt8]
    private var offset: Int
    private let end: Int

    package init(_ bytes: [UInt8]) { self.init(bytes, in: 0..<bytes.count) }

    package init(_ bytes: [UInt8], in range: Range<Int>) {
        precondition(range.upperBound <= bytes.count, "the range \(range) is not within \(bytes.count) bytes")
        self.bytes = bytes
        offset = range.lowerBound
        end = range.upperBound
    }

    package var isAtEnd: Bool { offset == end }

    package var remaining: Int { end - offset }

    package mutating func byte() throws(DocumentError) -> UInt8 {
        guard offset < end else { throw Self.truncated }
        defer { offset += 1 }
        return bytes[offset]
    }

    package mutating func bigEndian<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type = Number.self
    ) throws(DocumentError) -> Number {
        guard remaining >= MemoryLayout<Number>.size else { throw Self.truncated }
        defer { offset += MemoryLayout<Number>.size }
        return Number(bigEndian: bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) })
    }

    package mutating func varint() throws(DocumentError) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let byte = try byte()
            if shift == 63, byte > 1 { break }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
        }
        throw .malformed("a number is longer than 64 bits")
    }

    /// A count or length of at most `limit`.
    package mutating func count(atMost limit: Int) throws(DocumentError) -> Int {
        let number = try varint()
        guard number <= UInt64(limit) else { throw .malformed("a count of \(number) is over the limit of \(limit)") }
        return Int(number)
    }

    package mutating func take(_ count: Int) throws(DocumentError) -> [UInt8] {
        try Array(bytes[takeRange(count)])
    }

    /// A reader of the next `count` bytes, which this one skips.
    package mutating func reader(of count: Int) throws(DocumentError) -> ByteReader {
        ByteReader(bytes, in: try takeRange(count))
    }

    private mutating func takeRange(_ count: Int) throws(DocumentError) -> Range<Int> {
        guard count >= 0, remaining >= count else { throw Self.truncated }
        defer { offset += count }
        return offset..<(offset + count)
    }

    private static var truncated: DocumentError { .malformed("an encoded value ends too early") }
}
