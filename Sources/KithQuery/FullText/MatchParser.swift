/// Reads what MATCH is to look for: the language of FTS5, with errors that say where.
struct MatchParser {
    private let tokens: [MatchToken]
    private let fields: [String]
    private var index = 0
    private var depth = 0
    private var phrases = 0

    /// - Parameter fields: those of the index.
    /// - Returns: the expression as FTS5 takes it.
    static func fts(_ text: String, fields: [String]) throws(MatchFault) -> String {
        var parser = MatchParser(tokens: try MatchLexer.tokens(of: text), fields: fields)
        if parser.token.kind == .end { return MatchExpression.nothing.fts }
        let expression = try parser.alternatives()
        guard parser.token.kind == .end else { throw parser.expected("a word, AND, OR, NOT or the end") }
        return expression.fts
    }

    private init(tokens: [MatchToken], fields: [String]) {
        self.tokens = tokens
        self.fields = fields
    }

    private var token: MatchToken { tokens[index] }

    private func expected(_ what: String) -> MatchFault {
        MatchFault(message: "found \(token.shown), expected \(what)", place: token.place)
    }

    private mutating func advance() { if index < tokens.count - 1 { index += 1 } }

    private mutating func take(_ sign: Unicode.Scalar) -> Bool {
        guard token.kind == .sign(sign) else { return false }
        advance()
        return true
    }

    private mutating func take(word: String) -> Bool {
        guard token.kind == .word(word) else { return false }
        advance()
        return true
    }

    private mutating func require(_ sign: Unicode.Scalar) throws(MatchFault) {
        if !take(sign) { throw expected(String(Character(sign))) }
    }

    // From what binds loosest to what binds tightest: OR, AND, NOT, words beside each other.

    private mutating func alternatives() throws(MatchFault) -> MatchExpression {
        var parts = [try conjunction()]
        while take(word: "OR") { parts.append(try conjunction()) }
        parts.removeAll { $0 == .nothing }
        return parts.count > 1 ? .or(parts) : parts.first ?? .nothing
    }

    private mutating func conjunction() throws(MatchFault) -> MatchExpression {
        var parts = [try difference()]
        while take(word: "AND") { parts.append(try difference()) }
        return Self.all(of: parts)
    }

    private mutating func difference() throws(MatchFault) -> MatchExpression {
        var wanted = try neighbours()
        while take(word: "NOT") {
            let other = try neighbours()
            if wanted != .nothing, other != .nothing { wanted = .without(wanted, other) }
        }
        return wanted
    }

    private mutating func neighbours() throws(MatchFault) -> MatchExpression {
        var parts = [try part()]
        while beginsPart { parts.append(try part()) }
        return Self.all(of: parts)
    }

    /// What has nothing that could be a word says nothing.
    private static func all(of parts: [MatchExpression]) -> MatchExpression {
        let parts = parts.filter { $0 != .nothing }
        return parts.count > 1 ? .and(parts) : parts.first ?? .nothing
    }

    private var beginsPart: Bool {
        switch token.kind {
        case .word(let word): !["AND", "OR", "NOT"].contains(word)
        case .phrase, .sign("("), .sign("{"), .sign("^"): true
        default: false
        }
    }

    private mutating func part() throws(MatchFault) -> MatchExpression {
        depth += 1
        defer { depth -= 1 }
        if depth > QueryLimits.matchDepth {
            throw MatchFault(
                message: "it is nested deeper than \(QueryLimits.matchDepth) levels", place: token.place)
        }
        if let fields = try fieldFilter() {
            let part = try part()
            return part == .nothing ? .nothing : .within(fields, part)
        }
        if take("(") {
            let inner = try alternatives()
            try require(")")
            return inner
        }
        if token.kind == .word("NEAR"), tokens[index + 1].kind == .sign("(") { return try near() }
        return try phrase(allowsInitial: true).map { .phrase($0) } ?? .nothing
    }

    // Phrases.

    private mutating func phrase(allowsInitial: Bool) throws(MatchFault) -> MatchPhrase? {
        let isInitial = allowsInitial && take("^")
        var text = try words()
        while take("+") { text += " " + (try words()) }
        let isPrefix = take("*")
        phrases += 1
        if phrases > QueryLimits.matchPhrases {
            throw MatchFault(message: "it has more than \(QueryLimits.matchPhrases) words", place: token.place)
        }
        guard var phrase = MatchPhrase(text) else { return nil }
        phrase.isInitial = isInitial
        if isPrefix { phrase.isPrefix = true }
        return phrase
    }

    private mutating func words() throws(MatchFault) -> String {
        switch token.kind {
        case .phrase(let text):
            advance()
            return text
        case .word(let word) where !["AND", "OR", "NOT"].contains(word):
            if word.hasPrefix("-"), MatchPhrase(word) != nil {
                throw MatchFault(
                    message: "found \(word), expected a word: what is left out stands behind NOT, as in milk NOT bread",
                    place: token.place)
            }
            advance()
            return word
        default: throw expected("a word or a phrase between \"")
        }
    }

    private mutating func near() throws(MatchFault) -> MatchExpression {
        advance()
        advance()
        var phrases: [MatchPhrase] = []
        while token.kind != .sign(")"), token.kind != .sign(",") {
            if let phrase = try phrase(allowsInitial: false) { phrases.append(phrase) }
        }
        var distance = Self.usualDistance
        if take(",") {
            guard case .word(let word) = token.kind, let number = Int(word),
                (0...QueryLimits.matchDistance).contains(number)
            else { throw expected("how many words may stand between, from 0 to \(QueryLimits.matchDistance)") }
            distance = number
            advance()
        }
        try require(")")
        if phrases.isEmpty { return .nothing }
        return phrases.count == 1 ? .phrase(phrases[0]) : .near(phrases, distance: distance)
    }

    /// FTS5's own.
    private static let usualDistance = 10

    // Fields.

    /// `title :`, `{title text} :`, each also with `-` before it for all others; nil where nothing of the kind begins here.
    private mutating func fieldFilter() throws(MatchFault) -> [Int]? {
        let place = token.place
        var isOpposite = false
        var numbers: [Int] = []
        if token.kind == .word("-"), tokens[index + 1].kind == .sign("{") {
            isOpposite = true
            advance()
        }
        if take("{") {
            repeat { numbers.append(try field(nil)) } while token.kind != .sign("}")
            try require("}")
        } else {
            guard tokens.indices.contains(index + 1), tokens[index + 1].kind == .sign(":") else { return nil }
            switch token.kind {
            case .word(let word):
                isOpposite = word.hasPrefix("-") && word.count > 1
                numbers = [try field(isOpposite ? String(word.dropFirst()) : word)]
            case .phrase: numbers = [try field(nil)]
            default: return nil
            }
        }
        try require(":")
        let wanted = fields.indices.filter { numbers.contains($0) != isOpposite }
        if wanted.isEmpty { throw MatchFault(message: "no field is left to look in", place: place) }
        return Array(wanted)
    }

    /// - Parameter name: where it is not all of what stands there.
    private mutating func field(_ name: String?) throws(MatchFault) -> Int {
        let found: String
        switch token.kind {
        case .word(let word): found = name ?? word
        case .phrase(let phrase): found = phrase
        default: throw expected("the name of a field")
        }
        guard let number = fields.firstIndex(where: { $0.hasSameBytes(as: found) }) else {
            throw MatchFault(
                message: "the index has no field \(found): it has \(fields.joined(separator: ", "));"
                    + " a : that is meant as such stands between \"",
                place: token.place)
        }
        advance()
        return number
    }
}
