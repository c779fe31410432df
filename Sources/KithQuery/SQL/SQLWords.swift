/// The words that mean something, in upper case; as names they stand between backquotes.
enum SQLWords {
    static let reserved: Set<String> = [
        "ALL", "AND", "ANY", "AS", "ASC", "BETWEEN", "BY", "CASE", "COLLATE", "CROSS", "DESC", "DISTINCT", "ELSE",
        "END",
        "ESCAPE", "EVERY", "EXISTS", "FALSE", "FROM", "GROUP", "HAVING", "IN", "INNER", "IS", "JOIN", "LEFT", "LET",
        "LIKE",
        "LIMIT", "MISSING", "NOT", "NULL", "OFFSET", "ON", "OR", "ORDER", "OUTER", "SATISFIES", "SELECT", "SOME",
        "THEN",
        "TRUE", "UNNEST", "WHEN", "WHERE",
    ]

    /// Whether a name can stand without backquotes.
    static func isPlain(_ name: String) -> Bool {
        guard let first = name.utf8.first, first.isNameStart, name.utf8.allSatisfy({ $0.isNamePart && $0 < 0x80 })
        else {
            return false
        }
        let upper = name.uppercased()
        return !reserved.contains(upper) && !wholeRow.contains(upper)
    }

    /// After SELECT: that a row is a value and no object. They are names everywhere else.
    static let wholeRow = ["RAW", "VALUE", "ELEMENT"]

    /// A name as it is written.
    static func quoted(_ name: String) -> String {
        isPlain(name) ? name : "`\(doubling(name, "`"))`"
    }

    /// A string as it is written.
    static func literal(_ string: String) -> String { "'\(doubling(string, "'"))'" }

    /// By scalars: a quote with a combining mark is one character, and still a quote.
    static func doubling(_ text: String, _ quote: Unicode.Scalar) -> String {
        var doubled = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            doubled.append(scalar)
            if scalar == quote { doubled.append(scalar) }
        }
        return String(doubled)
    }
}

extension UInt8 {
    /// A letter, `_`, or a byte of a character beyond ASCII.
    var isNameStart: Bool { (self | 0x20) &- 0x61 < 26 || self == 0x5F || self >= 0x80 }

    /// The same, or a digit.
    var isNamePart: Bool { isNameStart || isDecimalDigit }

    var isDecimalDigit: Bool { self &- 0x30 < 10 }
}
