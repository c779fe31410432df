/// The path of a field from the root of a document: the keys on the way, outermost first.
///
/// Kept as `FieldPathCoding` encodes it, so that comparing bytes compares paths key by key and what is under a path
/// follows it at once.
package struct FieldPath: Hashable, Comparable, Sendable {
    package let encoded: [UInt8]

    /// Longest encoded path in bytes among the exceptions of stamps: 512 levels of ordinary keys.
    package static let maximumBytes = 1 << 16

    /// - Parameter encoded: whole keys as `FieldPathCoding` encodes them.
    package init(encoded: some Sequence<UInt8>) { self.encoded = Array(encoded) }

    package init(keys: [String]) {
        var encoded: [UInt8] = []
        for key in keys { FieldPathCoding.append(key: key.utf8, to: &encoded) }
        self.encoded = encoded
    }

    /// Nil unless the bytes are whole keys in UTF-8; the root (no key) is no field.
    package init?(validating encoded: [UInt8]) {
        guard !encoded.isEmpty, encoded.count <= Self.maximumBytes, FieldPathCoding.isValid(encoded[...]) else {
            return nil
        }
        self.encoded = encoded
    }

    /// The path as a JSON Pointer (RFC 6901).
    package var pointer: String { FieldPathCoding.decode(encoded[...]) }

    /// Whether this path leads through `other`: it is `other` or under it.
    package func isAtOrUnder(_ other: FieldPath) -> Bool {
        FieldPathCoding.isAtOrUnder(encoded[...], other.encoded[...])
    }

    package static func < (left: Self, right: Self) -> Bool { left.encoded.precedes(right.encoded) }
}

extension [UInt8] {
    /// Byte order, as `memcmp` has it.
    package func precedes(_ other: [UInt8]) -> Bool {
        withUnsafeBytes { left in
            other.withUnsafeBytes { right in
                let shared = Swift.min(left.count, right.count)
                for index in 0..<shared where left[index] != right[index] { return left[index] < right[index] }
                return left.count < right.count
            }
        }
    }
}
