/// What a JSON text may be at most, and whether it may use the names that are kept for the database.
package struct JSONLimits: Hashable, Sendable {
    /// Longest text in bytes, and longest canonical form of it. Texts over `JSONLimits.hardMaximumBytes` are refused
    /// whatever this says.
    package var maximumBytes: Int
    /// Deepest nesting of arrays and objects; `[]` has depth 1.
    package var maximumDepth: Int
    /// Whether top-level names may begin with `_`.
    package var allowsReservedNames: Bool

    /// 512 MiB: places in a text and in its canonical form (at most five times as long) are kept in 32 bits.
    package static let hardMaximumBytes = 1 << 29

    package init(
        maximumBytes: Int = DocumentLimits.documentBytes, maximumDepth: Int = DocumentLimits.depth,
        allowsReservedNames: Bool = false
    ) {
        self.maximumBytes = maximumBytes
        self.maximumDepth = maximumDepth
        self.allowsReservedNames = allowsReservedNames
    }
}
