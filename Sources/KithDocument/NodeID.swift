/// Who a node is: the SHA-256 of its public key (DER SubjectPublicKeyInfo), written as 64 hex digits.
package struct NodeID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// 32 bytes.
    package let bytes: [UInt8]

    /// Nil unless there are 32 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        self.bytes = Array(bytes)
    }

    /// Reads 64 lower-case hex digits.
    package init?(_ text: String) {
        guard let bytes = Hex.decode(text.utf8) else { return nil }
        self.init(bytes: bytes)
    }

    package var description: String { Hex.encode(bytes) }

    /// The first eight digits, for people.
    package var short: String { Hex.encode(bytes.prefix(4)) }

    package static func < (left: Self, right: Self) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}
