import KithDocument

/// A piece of the text of a query.
struct SQLToken: Equatable {
    enum Kind: Equatable {
        /// A word; as it is written, and in upper case.
        case word(String, upper: String)
        /// A name between backquotes.
        case quotedName(String)
        case string(String)
        case number(JSONNumber)
        /// `$name`, `$1`.
        case parameter(QueryParameter)
        /// `?`
        case nextParameter
        case symbol(SQLSymbol)
        case end
    }

    let kind: Kind
    /// In bytes.
    let start: Int
    let end: Int
    let position: SourcePosition
}

enum SQLSymbol: String, CaseIterable {
    // The longer ones first, as they are looked for.
    case concatenation = "||"
    case doubleEqual = "=="
    case notEqual = "!="
    case lessGreater = "<>"
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case equal = "="
    case less = "<"
    case greater = ">"
    case plus = "+"
    case minus = "-"
    case star = "*"
    case slash = "/"
    case percent = "%"
    case open = "("
    case close = ")"
    case openBracket = "["
    case closeBracket = "]"
    case openBrace = "{"
    case closeBrace = "}"
    case comma = ","
    case point = "."
    case colon = ":"
    case semicolon = ";"
}
