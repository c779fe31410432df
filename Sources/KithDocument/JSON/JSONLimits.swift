/// What a JSON text may be at most, and whether it may use the names that are kept for the database.
package struct JSONLimits: Hashable, Sendable {
    /// Longest text in bytes, and longest canonical form of it. Texts over `JSONLimits.hardMaximumBytes` are refused
    /// whatever this says.
    package var maximumBytes: Int
    /// Deepest nesting of arrays and objects; `[]` has depth 1.
    package var maximumDepth: Int
    /// Whether top-level names may begin with `_`.
    package var allowsReservedNames: Bool

    /// 20 MiB: a document is held whole in memory on both ends of a link.
    package static let documentBytes = 20 << 20
    /// 512 levels: far above real data, and a tree of values that deep is still walked within a 512 KiB stack.
    package static let documentDepth = 512
    /// 512 MiB: places in a text and in its canonical form (at most five times as long) are kept in 32 bits.
    package static let hardMaximumBytes = 1 << 29

    package init(
        maximumBytes: Int = documentBytes, maximumDepth: Int = documentDepth, allowsReservedNames: Bool = false
    ) {
        self.maximumBytes = maximumBytes
        self.maximumDepth = maximumDepth
        self.allowsReservedNames = allowsReservedNames
    }
}
