import KithDocument

// Values that no operator is part of.
extension SQLParser {
    mutating func primary() throws(QueryError) -> QueryExpression {
        // Small functions: these are what the stack is full of where a query is deep.
        switch token.kind {
        case .symbol(.open): return try parenthesized()
        case .symbol(.openBracket): return try array(at: position)
        case .symbol(.openBrace): return try object(at: position)
        case .word(let word, let upper): return try primary(word: word, upper)
        default: return try atom()
        }
    }

    private mutating func parenthesized() throws(QueryError) -> QueryExpression {
        advance()
        if isAt(word: "SELECT") { throw expected("an expression (a query within a query is not supported)") }
        let inner = try expression()
        try require(.close)
        return inner
    }

    private mutating func atom() throws(QueryError) -> QueryExpression {
        let place = position
        let kind: QueryExpression.Kind
        switch token.kind {
        case .number(let number): kind = .literal(.number(number))
        case .string(let string): kind = .literal(.string(string))
        case .parameter(let parameter):
            if case .positional = parameter { try noteNumbered() }
            kind = .parameter(parameter)
        case .nextParameter: kind = .parameter(try nextParameter())
        case .quotedName(let name): kind = .identifier(name)
        default: throw expected("a value")
        }
        advance()
        return try make(kind, at: place)
    }

    private mutating func primary(word: String, _ upper: String) throws(QueryError) -> QueryExpression {
        switch upper {
        case "CASE": return try cases(at: position)
        case "ANY", "SOME", "EVERY": return try quantified(at: position)
        case "EXISTS": return try exists(at: position)
        case _ where SQLWords.reserved.contains(upper) || token(ahead: 1).kind != .symbol(.open):
            return try named(word, upper)
        default: return try call(upper)
        }
    }

    /// A literal with a name, or a name.
    private mutating func named(_ word: String, _ upper: String) throws(QueryError) -> QueryExpression {
        let place = position
        let literal = Self.literals[upper]
        if literal == nil, SQLWords.reserved.contains(upper) { throw expected("a value") }
        advance()
        return try make(literal.map { .literal($0) } ?? .identifier(word), at: place)
    }

    private mutating func exists(at place: SourcePosition) throws(QueryError) -> QueryExpression {
        advance()
        return try make(.exists(try primaryWithPath()), at: place)
    }

    private static let literals: [String: QueryValue] = [
        "NULL": .null, "MISSING": .missing, "TRUE": .bool(true), "FALSE": .bool(false),
    ]

    /// The operand of EXISTS: a path, or what stands between parentheses.
    private mutating func primaryWithPath() throws(QueryError) -> QueryExpression {
        try enter()
        let value = try suffixedPrimary()
        leave()
        return value
    }

    private mutating func array(at place: SourcePosition) throws(QueryError) -> QueryExpression {
        advance()
        var elements: [QueryExpression] = []
        if !isAt(.closeBracket) {
            repeat { elements.append(try expression()) } while take(.comma)
        }
        try require(.closeBracket, "after the elements of an array")
        return try make(.array(elements), at: place)
    }

    private mutating func object(at place: SourcePosition) throws(QueryError) -> QueryExpression {
        advance()
        var members: [ObjectMember] = []
        var keys: Set<[UInt8]> = []
        if !isAt(.closeBrace) {
            repeat {
                guard case .string(let key) = token.kind else { throw expected("the key of a member in quotes") }
                if !keys.insert(Array(key.utf8)).inserted {
                    throw .at(position, "the key \(SQLWords.literal(key)) stands twice in one object")
                }
                advance()
                try require(.colon, "after the key of a member")
                members.append(ObjectMember(key, try expression()))
            } while take(.comma)
        }
        try require(.closeBrace, "after the members of an object")
        return try make(.object(members), at: place)
    }

    private mutating func cases(at place: SourcePosition) throws(QueryError) -> QueryExpression {
        advance()
        let operand = isAt(word: "WHEN") ? nil : try expression()
        var branches: [CaseBranch] = []
        while take(word: "WHEN") {
            let when = try expression()
            try require(word: "THEN")
            branches.append(CaseBranch(when: when, then: try expression()))
        }
        if branches.isEmpty { throw expected("WHEN") }
        let otherwise = take(word: "ELSE") ? try expression() : nil
        if !take(word: "END") { throw expected(otherwise == nil ? "WHEN, ELSE or END" : "END") }
        return try make(
            .cases(CaseExpression(operand: operand, branches: branches, otherwise: otherwise)), at: place)
    }

    private mutating func quantified(at place: SourcePosition) throws(QueryError) -> QueryExpression {
        var quantifier = QuantifiedExpression.Quantifier.every
        if !take(word: "EVERY") {
            advance()
            quantifier = .any
            if take(word: "AND") {
                try require(word: "EVERY")
                quantifier = .anyAndEvery
            }
        }
        let variable = try name("the name of a variable")
        try require(word: "IN")
        let array = try expression()
        try require(word: "SATISFIES")
        let condition = try expression()
        try require(word: "END")
        return try make(
            .quantified(QuantifiedExpression(quantifier, variable, in: array, satisfies: condition)), at: place)
    }

    // Calls.

    private mutating func call(_ name: String) throws(QueryError) -> QueryExpression {
        let place = position
        advance()
        advance()
        if let function = AggregateFunction(rawValue: name) { return try aggregate(function, at: place) }
        switch name {
        case "META": return try metadata(at: place)
        case "MATCH": return try match(at: place)
        case "RANK":
            let index = try indexName()
            try require(.close)
            return try make(.rank(index: index), at: place)
        case "HIGHLIGHT": return try highlight(at: place)
        default: return try make(.call(name, try arguments(of: name)), at: place)
        }
    }

    private mutating func arguments(of name: String) throws(QueryError) -> [QueryExpression] {
        if isAt(word: "DISTINCT") { throw expected("an argument (DISTINCT belongs to aggregates like COUNT)") }
        var arguments: [QueryExpression] = []
        if !isAt(.close) {
            repeat { arguments.append(try expression()) } while take(.comma)
        }
        try require(.close, "after the arguments of \(name)")
        return arguments
    }

    private mutating func metadata(at place: SourcePosition) throws(QueryError) -> QueryExpression {
        let alias = isAt(.close) ? nil : try name("the alias of a source, or )")
        try require(.close)
        return try make(.metadata(alias), at: place)
    }

    private mutating func match(at place: SourcePosition) throws(QueryError) -> QueryExpression {
        let index = try indexName()
        try require(.comma, "and the text to look for")
        let text = try expression()
        try require(.close)
        return try make(.match(index: index, text: text), at: place)
    }

    private mutating func highlight(at place: SourcePosition) throws(QueryError) -> QueryExpression {
        let index = try indexName()
        try require(.comma, "and the field to show")
        let field = try expression()
        var marks = (before: QueryExpression.string("<b>"), after: QueryExpression.string("</b>"))
        if take(.comma) {
            marks.before = try expression()
            try require(.comma, "and the text to set after what was found")
            marks.after = try expression()
        }
        try require(.close)
        return try make(
            .highlight(
                index: index, field: field.literal?.string ?? field.fieldName, before: marks.before, after: marks.after),
            at: place)
    }

    private mutating func aggregate(
        _ function: AggregateFunction, at place: SourcePosition
    ) throws(QueryError) -> QueryExpression {
        if function == .count, isAt(.star) {
            advance()
            try require(.close, "after COUNT(*")
            return try make(.aggregate(.count, nil, isDistinct: false), at: place)
        }
        let isDistinct = take(word: "DISTINCT")
        if isAt(.close) { throw expected("the argument of \(function.rawValue)") }
        let argument = try expression()
        if isAt(.comma) {
            throw expected(
                ") after the one argument of \(function.rawValue)"
                    + (function == .minimum ? " (of several values take LEAST)" : "")
                    + (function == .maximum ? " (of several values take GREATEST)" : ""))
        }
        try require(.close, "after the argument of \(function.rawValue)")
        return try make(.aggregate(function, argument, isDistinct: isDistinct), at: place)
    }

    /// The name of an index, as a name or a string, or behind the alias of a source and a point.
    private mutating func indexName() throws(QueryError) -> String {
        if case .string(let name) = token.kind {
            advance()
            return name
        }
        let first = try name("the name of a full-text index")
        guard isAt(.point) else { return first }
        advance()
        return "\(first).\(try name("the name of a full-text index"))"
    }
}
