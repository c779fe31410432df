/// A 256-bit number that counts modulo 2^256: the running digest of a database is the sum of one hash a document, so
/// that a document is put in or taken out in any order.
package struct Digest256: Hashable, Sendable, CustomStringConvertible {
    /// The least significant word first.
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    package static let zero = Digest256()

    package init() {}

    /// Four words, the most significant first.
    package init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = (words.3, words.2, words.1, words.0) }

    /// 32 bytes, the most significant first.
    package init(bytes: some Collection<UInt8>) { self = Array(bytes).withUnsafeBytes { Digest256(bytes: $0) } }

    /// The same of bytes in place.
    package init(bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == 32, "a digest has 32 bytes, got \(bytes.count)")
        func word(_ number: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8 * number, as: UInt64.self))
        }
        words = (word(3), word(2), word(1), word(0))
    }

    /// 32 bytes, the most significant first.
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 32)
        writer.append(bigEndian: words.3, words.2)
        writer.append(bigEndian: words.1, words.0)
        return writer.bytes
    }

    package var description: String { Hex.encode(bytes) }

    package static func += (left: inout Self, right: Self) {
        var carry: UInt64 = 0
        func add(_ one: UInt64, _ other: UInt64) -> UInt64 {
            let (sum, first) = one.addingReportingOverflow(other)
            let (total, second) = sum.addingReportingOverflow(carry)
            carry = (first ? 1 : 0) + (second ? 1 : 0)
            return total
        }
        left.words.0 = add(left.words.0, right.words.0)
        left.words.1 = add(left.words.1, right.words.1)
        left.words.2 = add(left.words.2, right.words.2)
        left.words.3 = add(left.words.3, right.words.3)
    }

    package static func - (left: Self, right: Self) -> Self {
        var difference = left
        difference -= right
        return difference
    }

    package static func -= (left: inout Self, right: Self) {
        var negative = Digest256()
        negative.words = (~right.words.0, ~right.words.1, ~right.words.2, ~right.words.3)
        var one = Digest256()
        one.words.0 = 1
        negative += one
        left += negative
    }

    package static func == (left: Self, right: Self) -> Bool { left.words == right.words }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}
