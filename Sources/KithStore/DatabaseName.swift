import KithDocument

/// The name of a database: `[a-z][a-z0-9_$()+-]*`, up to 238 bytes, the same on all nodes of a group.
package struct DatabaseName: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let string: String

    /// - Throws: `StoreError` `invalid` with the rule.
    package init(_ string: String) throws(StoreError) {
        guard Self.isValid(string) else {
            throw StoreError(
                .invalid, string,
                "'\(StoreError.shortened(string, to: 60))' is no database name: use a to z first, then a to z, 0 to 9 and "
                    + "_ $ ( ) + -, up to \(DocumentLimits.databaseNameBytes) bytes")
        }
        self.string = string
    }

    /// Whether the text is a name.
    package static func isValid(_ string: String) -> Bool {
        let bytes = string.utf8
        guard let first = bytes.first, bytes.count <= DocumentLimits.databaseNameBytes, isLetter(first) else {
            return false
        }
        return bytes.allSatisfy { isLetter($0) || isDigit($0) || punctuation.contains($0) }
    }

    package var description: String { string }

    package static func < (left: Self, right: Self) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    private static let punctuation = Array("_$()+-".utf8)

    private static func isLetter(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
