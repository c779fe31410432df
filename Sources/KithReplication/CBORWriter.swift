package import KithDocument

/// Appends values in the deterministic encoding of CBOR (RFC 8949, 4.2.1): shortest heads, definite lengths.
///
/// Whoever writes a map writes its keys in ascending order.
package struct CBORWriter {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    package mutating func append(uint number: UInt64) { append(head: 0, number) }

    package mutating func append(int number: Int64) {
        if number >= 0 { append(head: 0, UInt64(number)) } else { append(head: 1 << 5, ~UInt64(bitPattern: number)) }
    }

    package mutating func append(bool: Bool) { bytes.append(bool ? 0xF5 : 0xF4) }

    /// The head of an array of `count` items, which follow.
    package mutating func beginArray(_ count: Int) { append(head: 4 << 5, UInt64(count)) }

    /// The head of a map of `count` pairs, which follow.
    package mutating func beginMap(_ count: Int) { append(head: 5 << 5, UInt64(count)) }

    /// The head of a byte string whose `count` bytes follow by `append(raw:)`.
    package mutating func beginBytes(_ count: Int) { append(head: 2 << 5, UInt64(count)) }

    package mutating func append(bytes other: [UInt8]) {
        beginBytes(other.count)
        bytes.append(contentsOf: other)
    }

    package mutating func append(text: String) {
        append(head: 3 << 5, UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    package mutating func append(raw byte: UInt8) { bytes.append(byte) }

    package mutating func append(raw other: [UInt8]) { bytes.append(contentsOf: other) }

    package mutating func append(raw other: ArraySlice<UInt8>) { bytes.append(contentsOf: other) }

    /// Eight bytes, big-endian, inside a byte string.
    package mutating func append(raw number: UInt64) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// 24 bytes inside a byte string, as `RevisionID.encode` has them.
    package mutating func append(raw id: RevisionID) {
        withUnsafeBytes(of: (id.generation.bigEndian, id.digest.high.bigEndian, id.digest.low.bigEndian)) {
            bytes.append(contentsOf: $0)
        }
    }

    private mutating func append(head major: UInt8, _ number: UInt64) {
        if number < 24 {
            bytes.append(major | UInt8(truncatingIfNeeded: number))
        } else if number <= 0xFF {
            bytes.append(major | 24)
            bytes.append(UInt8(truncatingIfNeeded: number))
        } else if number <= 0xFFFF {
            bytes.append(major | 25)
            withUnsafeBytes(of: UInt16(truncatingIfNeeded: number).bigEndian) { bytes.append(contentsOf: $0) }
        } else if number <= 0xFFFF_FFFF {
            bytes.append(major | 26)
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { bytes.append(contentsOf: $0) }
        } else {
            bytes.append(major | 27)
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }
    }

    // Frames.

    /// Begins a frame: room for its length, and its type.
    /// - Returns: where it begins, for `endFrame`.
    mutating func beginFrame(_ type: FrameType) -> Int {
        let start = bytes.count
        bytes.append(contentsOf: [0, 0, 0, 0, type.rawValue])
        return start
    }

    /// Writes the length of the frame that began at `start`.
    /// - Returns: the bytes of the frame with its head.
    @discardableResult
    mutating func endFrame(_ start: Int) -> Int {
        let length = bytes.count - start - Frame.headBytes
        precondition(length <= ReplicationLimits.frameBytes, "a frame of \(length) bytes was made")
        for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index)) }
        return length + Frame.headBytes
    }

    /// The bytes written, which this writer gives up.
    mutating func take() -> [UInt8] {
        let taken = bytes
        bytes = []
        return taken
    }
}
