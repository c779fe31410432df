import KithDocument

/// Pieces of SQLite's SQL. Texts are quoted here and nowhere else.
enum SQLText {
    /// A text as a literal; with control characters in hexadecimal, since SQLite ends its SQL at a zero.
    static func literal(_ text: String) -> String {
        if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return "CAST(\(blob(Array(text.utf8))) AS TEXT)" }
        return "'\(SQLWords.doubling(text, "'"))'"
    }

    static func blob(_ bytes: [UInt8]) -> String { "x'\(Hex.encode(bytes))'" }

    /// The key of NULL: what is above it is a value, what is SQL's NULL is MISSING.
    static let null = "x'03'"

    /// A chain of one operator, as flat as SQLite's bound on the depth of expressions wants it.
    static func chain(_ terms: [String], _ word: String, empty: String) -> String {
        if terms.isEmpty { return empty }
        if terms.count == 1 { return terms[0] }
        if terms.count <= 50 { return "(\(terms.joined(separator: " \(word) ")))" }
        let middle = terms.count / 2
        let (left, right) = (Array(terms[..<middle]), Array(terms[middle...]))
        return "(\(chain(left, word, empty: empty)) \(word) \(chain(right, word, empty: empty)))"
    }

    static func and(_ terms: [String]) -> String { chain(terms, "AND", empty: "1") }

    static func or(_ terms: [String]) -> String { chain(terms, "OR", empty: "0") }
}
