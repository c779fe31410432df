import KithDocument

// How tight operators bind, the loosest first:
//     OR; AND; NOT; comparisons, IS, IN, LIKE, BETWEEN; ||; + -; * / %; - before a value; COLLATE; . and [ ]
extension SQLParser {
    private enum Level: Int, Comparable {
        case or, and, not, comparison, concatenation, sum, product, negation

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

        var next: Level { Level(rawValue: rawValue + 1) ?? .negation }
    }

    /// An expression of any kind.
    mutating func expression() throws(QueryError) -> QueryExpression { try expression(.or) }

    /// Operands of one level that are written one after the other, without parentheses.
    private struct Chain {
        let level: Level
        let place: SourcePosition
        var operands: [QueryExpression]
        var symbols: [String]
    }

    private mutating func expression(_ least: Level) throws(QueryError) -> QueryExpression {
        try enter()
        var left = try operand(least)
        var chain: Chain?
        var isComparison = false
        while let (level, symbol) = infix, level >= least {
            let place = position
            if level == .comparison {
                if isComparison { throw chained }
                left = try comparison(try close(&chain) ?? left, at: place)
            } else {
                advance()
                let right = try expression(level.next)
                if chain?.level == level {
                    chain?.operands.append(right)
                    chain?.symbols.append(symbol)
                } else {
                    let first = try close(&chain) ?? left
                    chain = Chain(level: level, place: place, operands: [first, right], symbols: [symbol])
                }
            }
            isComparison = level == .comparison
        }
        leave()
        return try close(&chain) ?? left
    }

    /// The node of a chain that has ended.
    private mutating func close(_ chain: inout Chain?) throws(QueryError) -> QueryExpression? {
        guard let ended = chain else { return nil }
        chain = nil
        switch ended.level {
        case .or: return try make(.or(ended.operands), at: ended.place)
        case .and: return try make(.and(ended.operands), at: ended.place)
        case .concatenation: return try make(.concatenation(ended.operands), at: ended.place)
        case .sum: return try make(.sum(ended.operands[0], terms(ended)), at: ended.place)
        default: return try make(.product(ended.operands[0], terms(ended)), at: ended.place)
        }
    }

    private func terms(_ chain: Chain) -> [ArithmeticTerm] {
        zip(chain.symbols, chain.operands.dropFirst()).map { ArithmeticTerm(ArithmeticOperator(rawValue: $0)!, $1) }
    }

    private var chained: QueryError {
        .at(position, "comparisons can't be chained: expected AND, OR, or parentheses around the first one")
    }

    /// The operator between two values that stands here.
    private var infix: (Level, String)? {
        switch token.kind {
        case .symbol(let symbol):
            switch symbol {
            case .concatenation: (.concatenation, "||")
            case .plus, .minus: (.sum, symbol.rawValue)
            case .star, .slash, .percent: (.product, symbol.rawValue)
            case .equal, .doubleEqual, .notEqual, .lessGreater, .less, .lessOrEqual, .greater, .greaterOrEqual:
                (.comparison, symbol.rawValue)
            default: nil
            }
        case .word(_, let upper):
            switch upper {
            case "OR": (.or, upper)
            case "AND": (.and, upper)
            case "IS", "IN", "LIKE", "BETWEEN": (.comparison, upper)
            case "NOT" where ["IN", "LIKE", "BETWEEN"].contains { isAt(word: $0, ahead: 1) }: (.comparison, upper)
            default: nil
            }
        default: nil
        }
    }

    /// What stands before the first operator between values.
    private mutating func operand(_ least: Level) throws(QueryError) -> QueryExpression {
        if isAt(word: "NOT") { return try negated(least) }
        if isAt(.minus) { return try negative() }
        if take(.plus) { return try expression(.negation) }
        return try suffixedPrimary()
    }

    private mutating func negated(_ least: Level) throws(QueryError) -> QueryExpression {
        // `1 + NOT x` would read as `1 + (NOT x)` and then swallow what follows.
        guard least <= .not else { throw expected("a value (NOT stands between parentheses here)") }
        let place = position
        advance()
        return try make(.not(try expression(.not)), at: place)
    }

    private mutating func negative() throws(QueryError) -> QueryExpression {
        let place = position
        advance()
        // A number below zero is one literal.
        guard case .number(let number) = token.kind else {
            return try make(.negation(try expression(.negation)), at: place)
        }
        advance()
        return try suffixed(try make(.literal(.number(Arithmetic.negated(number))), at: place))
    }

    // Comparisons and what binds like them.

    private mutating func comparison(
        _ left: QueryExpression, at place: SourcePosition
    ) throws(QueryError) -> QueryExpression {
        if case .symbol(let symbol) = token.kind {
            advance()
            let right = try expression(.concatenation)
            return try make(.comparison(Self.comparison(symbol), left, right), at: place)
        }
        if take(word: "IS") { return try test(left, at: place) }
        let isNegated = take(word: "NOT")
        if take(word: "IN") { return try membership(left, isNegated, at: place) }
        return try take(word: "LIKE") ? like(left, isNegated, at: place) : between(left, isNegated, at: place)
    }

    private mutating func membership(
        _ left: QueryExpression, _ isNegated: Bool, at place: SourcePosition
    ) throws(QueryError) -> QueryExpression {
        try make(.membership(left, in: try expression(.concatenation), isNegated: isNegated), at: place)
    }

    private mutating func like(
        _ left: QueryExpression, _ isNegated: Bool, at place: SourcePosition
    ) throws(QueryError) -> QueryExpression {
        let pattern = try expression(.concatenation)
        let escape = take(word: "ESCAPE") ? try expression(.concatenation) : nil
        return try make(.like(left, pattern: pattern, escape: escape, isNegated: isNegated), at: place)
    }

    private mutating func between(
        _ left: QueryExpression, _ isNegated: Bool, at place: SourcePosition
    ) throws(QueryError) -> QueryExpression {
        try require(word: "BETWEEN")
        let low = try expression(.concatenation)
        try require(word: "AND")
        let high = try expression(.concatenation)
        return try make(.between(left, low: low, high: high, isNegated: isNegated), at: place)
    }

    private static func comparison(_ symbol: SQLSymbol) -> ComparisonOperator {
        switch symbol {
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        case .notEqual, .lessGreater: .notEqual
        default: .equal
        }
    }

    private mutating func test(
        _ left: QueryExpression, at place: SourcePosition
    ) throws(QueryError) -> QueryExpression {
        let isNegated = take(word: "NOT")
        for test in ValueTest.allCases where take(word: test.rawValue) {
            return try make(.test(left, test, isNegated: isNegated), at: place)
        }
        throw expected("NULL, MISSING or VALUED after IS\(isNegated ? " NOT" : "") (values are compared with =)")
    }

    // What comes after a value.

    mutating func suffixedPrimary() throws(QueryError) -> QueryExpression { try suffixed(try primary()) }

    private mutating func suffixed(_ value: QueryExpression) throws(QueryError) -> QueryExpression {
        var value = value
        var steps: [PathStep] = []
        let place = position
        while true {
            // `alias.*` belongs to the list of columns.
            if isAt(.point), token(ahead: 1).kind != .symbol(.star) {
                advance()
                steps.append(.member(try memberName()))
            } else if take(.openBracket) {
                steps.append(try elementStep())
            } else {
                break
            }
        }
        if !steps.isEmpty { value = try make(.path(value, steps), at: value.position) }
        if take(word: "COLLATE") { value = try make(.collated(value, try collation()), at: place) }
        return value
    }

    /// After a point every word is a name.
    private mutating func memberName() throws(QueryError) -> String {
        if case .word(let word, _) = token.kind {
            advance()
            return word
        }
        return try name("the name of a member after .")
    }

    private mutating func elementStep() throws(QueryError) -> PathStep {
        if isAt(.star) {
            advance()
            try require(.closeBracket)
            return .each
        }
        let index = try expression()
        try require(.closeBracket, "after the number of an element")
        return .element(index)
    }

    private mutating func collation() throws(QueryError) -> QueryCollation {
        var collation = QueryCollation(ignoresCase: false, ignoresDiacritics: false)
        let isList = take(.open)
        repeat {
            guard case .word(_, let upper) = token.kind else { throw expected("NOCASE, CASE, NODIAC or DIAC") }
            switch upper {
            case "NOCASE": collation.ignoresCase = true
            case "CASE": collation.ignoresCase = false
            case "NODIAC": collation.ignoresDiacritics = true
            case "DIAC": collation.ignoresDiacritics = false
            default: throw expected("NOCASE, CASE, NODIAC or DIAC")
            }
            advance()
        } while isList && !isAt(.close) && token.kind != .end
        if isList { try require(.close) }
        return collation
    }
}
