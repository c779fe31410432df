import KithDocument

/// Reads SQL++ text into a tree: what is written, whether or not it makes sense. `QueryChecker` looks at that.
///
/// Recursive descent, with binding levels for operators. It never goes deeper than `QueryLimits.depth`, and chains of one
/// operator are read in a loop.
struct SQLParser {
    private let text: [UInt8]
    private let tokens: [SQLToken]
    private var index = 0
    private var depth = 0
    private var expressionCount = 0
    /// Parameters written as `?` so far.
    var parameterCount = 0
    private var hasNumberedParameter = false

    init(_ text: String) throws(QueryError) {
        self.text = Array(text.utf8)
        tokens = try SQLLexer.tokens(of: self.text)
    }

    // Looking at tokens.

    var token: SQLToken { tokens[index] }

    func token(ahead: Int) -> SQLToken { tokens[min(index + ahead, tokens.count - 1)] }

    var position: SourcePosition { token.position }

    mutating func advance() { if index < tokens.count - 1 { index += 1 } }

    func isAt(_ symbol: SQLSymbol) -> Bool { token.kind == .symbol(symbol) }

    func isAt(word: String, ahead: Int = 0) -> Bool {
        if case .word(_, word) = token(ahead: ahead).kind { true } else { false }
    }

    mutating func take(_ symbol: SQLSymbol) -> Bool {
        guard isAt(symbol) else { return false }
        advance()
        return true
    }

    mutating func take(word: String) -> Bool {
        guard isAt(word: word) else { return false }
        advance()
        return true
    }

    mutating func require(_ symbol: SQLSymbol, _ why: String = "") throws(QueryError) {
        if !take(symbol) { throw expected(why.isEmpty ? symbol.rawValue : "\(symbol.rawValue) \(why)") }
    }

    mutating func require(word: String) throws(QueryError) {
        if !take(word: word) { throw expected(word) }
    }

    /// What was expected, and what stands there.
    func expected(_ what: String) -> QueryError { .at(position, "expected \(what), found \(found)") }

    private var found: String {
        if token.kind == .end { return "the end of the query" }
        let written = String(decoding: text[token.start..<token.end].prefix(48), as: UTF8.self)
        let isReserved = if case .word(_, let upper) = token.kind { SQLWords.reserved.contains(upper) } else { false }
        return isReserved
            ? "the word \(written.uppercased()) (as a name it stands between backquotes: `\(written)`)" : written
    }

    // Bounds.

    /// One level deeper.
    mutating func enter() throws(QueryError) {
        depth += 1
        if depth > QueryLimits.depth {
            throw .at(position, "expressions are nested deeper than \(QueryLimits.depth) levels")
        }
    }

    mutating func leave() { depth -= 1 }

    /// A node of the tree, counted.
    mutating func make(_ kind: QueryExpression.Kind, at position: SourcePosition) throws(QueryError) -> QueryExpression
    {
        expressionCount += 1
        if expressionCount > QueryLimits.expressions {
            throw .at(
                position,
                "the query has more than \(QueryLimits.expressions) expressions: pass long lists as parameters")
        }
        return QueryExpression(kind, at: position)
    }

    /// A parameter that is written as `?`, which can't be mixed with numbers.
    mutating func nextParameter() throws(QueryError) -> QueryParameter {
        if hasNumberedParameter { throw mixedParameters }
        parameterCount += 1
        return .positional(parameterCount)
    }

    mutating func noteNumbered() throws(QueryError) {
        if parameterCount > 0 { throw mixedParameters }
        hasNumberedParameter = true
    }

    private var mixedParameters: QueryError {
        .at(position, "a query has parameters like ? or parameters like $1, not both")
    }
}

extension SQLParser {
    /// The end of the text, perhaps after a semicolon.
    mutating func requireEnd(_ expectation: String) throws(QueryError) {
        _ = take(.semicolon)
        if token.kind != .end { throw expected(expectation) }
    }

    /// A name: a word that means nothing else, or one between backquotes.
    mutating func name(_ what: String) throws(QueryError) -> String {
        switch token.kind {
        case .word(let word, let upper) where !SQLWords.reserved.contains(upper):
            advance()
            return word
        case .quotedName(let name):
            advance()
            return name
        default: throw expected(what)
        }
    }

    /// Whether a name stands here.
    var isAtName: Bool {
        switch token.kind {
        case .word(_, let upper): !SQLWords.reserved.contains(upper)
        case .quotedName: true
        default: false
        }
    }

    /// `AS name`, or a name alone.
    mutating func alias(_ what: String) throws(QueryError) -> String? {
        if take(word: "AS") { return try name(what) }
        return isAtName ? try name(what) : nil
    }
}
