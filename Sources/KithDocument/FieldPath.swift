/// The path of a field from the root of a document: the keys on the way, outermost first.
///
/// Kept encoded so that comparing bytes compares paths key by key and an ancestor is a byte prefix of what is under it:
/// each key as its UTF-8 bytes with 0xFF after every 0x00, and then a 0x00. (0xFF never occurs in UTF-8.)
package struct FieldPath: Hashable, Comparable, Sendable {
    package let encoded: [UInt8]

    /// Longest encoded path in bytes: a path may be as long as 512 levels of ordinary keys; longer keys are bounded by
    /// the size of the document only where they stand in it, but not in an exception of its stamps.
    package static let maximumBytes = 1 << 16

    package init(encoded: some Sequence<UInt8>) { self.encoded = Array(encoded) }

    package init(keys: [String]) {
        var encoded: [UInt8] = []
        for key in keys {
            for byte in key.utf8 {
                encoded.append(byte)
                if byte == 0 { encoded.append(0xFF) }
            }
            encoded.append(0)
        }
        self.encoded = encoded
    }

    /// Nil unless the bytes are whole keys in UTF-8; the root (no key) is no field.
    package init?(validating encoded: some Collection<UInt8>) {
        guard encoded.count <= Self.maximumBytes, encoded.last == 0 else { return nil }
        self.encoded = Array(encoded)
        guard keyBytes.allSatisfy({ String(validating: $0, as: UTF8.self) != nil }) else { return nil }
        guard FieldPath(keys: keys).encoded == self.encoded else { return nil }
    }

    /// The keys on the way, outermost first.
    package var keys: [String] { keyBytes.map { String(decoding: $0, as: UTF8.self) } }

    private var keyBytes: [[UInt8]] {
        var keys: [[UInt8]] = []
        var key: [UInt8] = []
        var index = 0
        while index < encoded.count {
            let byte = encoded[index]
            index += 1
            if byte != 0 {
                key.append(byte)
            } else if index < encoded.count, encoded[index] == 0xFF {
                key.append(0)
                index += 1
            } else {
                keys.append(key)
                key = []
            }
        }
        return keys
    }

    /// The path as a JSON Pointer (RFC 6901).
    package var pointer: String {
        keys.map { key in
            var text = "/"
            for character in key.unicodeScalars {
                switch character {
                case "~": text += "~0"
                case "/": text += "~1"
                default: text.unicodeScalars.append(character)
                }
            }
            return text
        }.joined()
    }

    /// Whether this path leads through `other`: `other` is this path or above it.
    package func isAtOrUnder(_ other: FieldPath) -> Bool { encoded.starts(with: other.encoded) }

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
