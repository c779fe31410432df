/// 16 bytes, compared in byte order: the second half of a revision id.
package struct Digest128: Hashable, Comparable, Sendable {
    /// The first and the last eight bytes, each read as a big-endian number, so that comparing numbers compares bytes.
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The first 16 bytes of a longer hash.
    package init(prefixOf bytes: some Collection<UInt8>) {
        precondition(bytes.count >= 16, "a digest needs 16 bytes, got \(bytes.count)")
        var high: UInt64 = 0
        var low: UInt64 = 0
        for (index, byte) in bytes.prefix(16).enumerated() {
            if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
        }
        self.init(high: high, low: low)
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }
}

/// The id of a revision, `generation-digest`, as in CouchDB: `3-` and 32 hex digits.
///
/// Ids are ordered by generation and then by digest in byte order, which is the order that decides a winner.
package struct RevisionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// How many revisions its branch had when it was written; the first is 1.
    package let generation: UInt64
    package let digest: Digest128

    /// The highest generation accepted from anyone, far above any real history. Only what closes a leaf may have it: so each
    /// leaf that was accepted can be closed by everyone.
    package static let maximumGeneration: UInt64 = 1 << 53

    package init(generation: UInt64, digest: Digest128) {
        self.generation = generation
        self.digest = digest
    }

    /// Reads `generation-digest`; nil unless it is a number from 1 to `maximumGeneration` without leading zeros, a dash,
    /// and 32 lower-case hex digits.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard let dash = bytes.firstIndex(of: UInt8(ascii: "-")), dash > 0, dash <= 16, bytes.count == dash + 33,
            bytes[0] != UInt8(ascii: "0")
        else { return nil }
        var generation: UInt64 = 0
        for byte in bytes[..<dash] {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            generation = generation * 10 + UInt64(byte - UInt8(ascii: "0"))
        }
        guard generation <= Self.maximumGeneration, let digest = Hex.decode(bytes[(dash + 1)...]) else { return nil }
        self.init(generation: generation, digest: Digest128(prefixOf: digest))
    }

    package var description: String {
        "\(generation)-\(Hex.encode(digest.high))\(Hex.encode(digest.low))"
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.generation != right.generation ? left.generation < right.generation : left.digest < right.digest
    }
}
