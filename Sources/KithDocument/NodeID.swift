/// Who a node is: the SHA-256 of its public key (DER SubjectPublicKeyInfo), written as 64 hex digits.
package struct NodeID: Hashable, Comparable, Sendable, CustomStringConvertible {
    // Four words, big-endian, and not an array: a mesh of a thousand keeps, sorts and looks up a great many ids.
    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    /// Nil unless there are 32 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        self = Array(bytes).withUnsafeBytes { NodeID($0, from: 0) }
    }

    /// Reads the 32 bytes that are there from an offset on.
    package init(_ bytes: UnsafeRawBufferPointer, from offset: Int) {
        func word(_ number: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 8 * number, as: UInt64.self))
        }
        precondition(offset >= 0 && bytes.count - offset >= 32, "a node's id has 32 bytes")
        (first, second, third, fourth) = (word(0), word(1), word(2), word(3))
    }

    /// Reads 64 lower-case hex digits.
    package init?(_ text: String) {
        guard let bytes = Hex.decode(text.utf8) else { return nil }
        self.init(bytes: bytes)
    }

    /// 32 bytes.
    package var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            var next = 0
            for word in [first, second, third, fourth] {
                for shift in stride(from: 56, through: 0, by: -8) {
                    buffer[next] = UInt8(truncatingIfNeeded: word >> UInt64(shift))
                    next += 1
                }
            }
            count = next
        }
    }

    package var description: String { Hex.encode(bytes) }

    /// The first eight digits, for people.
    package var short: String { Hex.encode(bytes.prefix(4)) }

    package static func < (left: Self, right: Self) -> Bool {
        if left.first != right.first { return left.first < right.first }
        if left.second != right.second { return left.second < right.second }
        return left.third != right.third ? left.third < right.third : left.fourth < right.fourth
    }
}
