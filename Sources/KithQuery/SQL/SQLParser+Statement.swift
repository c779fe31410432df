// The clauses of a query, in their order.
extension SQLParser {
    /// Reads a whole query.
    /// - Throws: `QueryError.text` with the place, what was found there and what was expected.
    static func statement(_ text: String) throws(QueryError) -> QueryStatement {
        var parser = try SQLParser(text)
        let statement = try parser.statement()
        try parser.requireEnd(parser.followers(of: statement))
        return statement
    }

    /// Reads one expression.
    static func expression(_ text: String) throws(QueryError) -> QueryExpression {
        var parser = try SQLParser(text)
        let expression = try parser.expression()
        try parser.requireEnd("an operator or the end of the expression")
        return expression
    }

    private mutating func statement() throws(QueryError) -> QueryStatement {
        if !take(word: "SELECT") { throw expected("SELECT") }
        let isDistinct = take(word: "DISTINCT")
        if !isDistinct { _ = take(word: "ALL") }
        var statement = QueryStatement(selection: try selection())
        statement.isDistinct = isDistinct
        if take(word: "FROM") { try sources(into: &statement) }
        if take(word: "LET") { statement.bindings = try bindings() }
        if take(word: "WHERE") { statement.filter = try expression() }
        if take(word: "GROUP") { statement.groups = try groups() }
        if take(word: "HAVING") { statement.groupFilter = try expression() }
        if take(word: "ORDER") { statement.order = try order() }
        try limits(into: &statement)
        return statement
    }

    /// The clauses that could come next, for an error.
    private func followers(of statement: QueryStatement) -> String {
        var clauses = ["FROM", "LET", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "OFFSET"]
        let last: Int =
            if statement.offset != nil { 8 } else if statement.limit != nil { 7 } else if !statement.order.isEmpty {
                6
            } else if statement.groupFilter != nil { 5 } else if !statement.groups.isEmpty {
                4
            } else if statement.filter != nil {
                3
            } else if !statement.bindings.isEmpty { 2 } else if statement.source != nil { 1 } else { 0 }
        clauses.removeFirst(last)
        if last == 1 { clauses = ["JOIN", "UNNEST"] + clauses }
        return (["an operator"] + clauses).joined(separator: ", ") + " or the end of the query"
    }

    private mutating func selection() throws(QueryError) -> QuerySelection {
        if let word = SQLWords.wholeRow.first(where: { isAt(word: $0) }) {
            if beginsValue(token(ahead: 1)) {
                advance()
                return .raw(try expression())
            }
            // Of a row that is a negative value, or of a field by that name and what is taken from it: nobody can tell.
            if token(ahead: 1).kind == .symbol(.minus) {
                advance()
                throw expected("\(word) (-...) for a negative value, or `\(word)` between backquotes for a field")
            }
        }
        var columns: [QueryColumn] = []
        repeat { columns.append(try column()) } while take(.comma)
        return .columns(columns)
    }

    /// Whether a value begins with a token, and nothing that could go on with one before it.
    private func beginsValue(_ token: SQLToken) -> Bool {
        switch token.kind {
        case .string, .number, .parameter, .nextParameter, .quotedName, .symbol(.open), .symbol(.openBracket),
            .symbol(.openBrace):
            true
        case .word(_, let upper):
            !SQLWords.reserved.contains(upper)
                || ["CASE", "ANY", "SOME", "EVERY", "EXISTS", "NOT", "NULL", "MISSING", "TRUE", "FALSE"].contains(upper)
        default: false
        }
    }

    private mutating func column() throws(QueryError) -> QueryColumn {
        let place = position
        if take(.star) { return .all(place) }
        let value = try expression()
        if isAt(.point), token(ahead: 1).kind == .symbol(.star) {
            advance()
            advance()
            return .members(value)
        }
        return .value(value, alias: try alias("the name of a column after AS"))
    }

    // FROM and what belongs to it.

    private mutating func sources(into statement: inout QueryStatement) throws(QueryError) {
        statement.source = try source()
        while true {
            if isAt(.comma) { throw expected("JOIN, LEFT JOIN, CROSS JOIN or UNNEST for a further source") }
            let isLeft = isAt(word: "LEFT")
            if isAt(word: "UNNEST", ahead: isLeft ? 1 : 0) {
                if isLeft { advance() }
                advance()
                statement.joins.append(try unnest(isLeft: isLeft))
            } else if let join = try join() {
                statement.joins.append(join)
            } else {
                return
            }
            if statement.joins.count > QueryLimits.sources {
                throw .at(position, "a query has \(QueryLimits.sources) joins at most")
            }
        }
    }

    private mutating func source() throws(QueryError) -> QuerySource {
        let place = position
        if isAt(.open) { throw expected("the name of a source (a query within a query is not supported)") }
        let name = try name("the name of a source after FROM or JOIN")
        return QuerySource(name, alias: try alias("the alias of a source after AS"), at: place)
    }

    private mutating func join() throws(QueryError) -> QueryJoin? {
        let isLeft = take(word: "LEFT")
        if isLeft { _ = take(word: "OUTER") }
        let isCross = !isLeft && take(word: "CROSS")
        let isInner = !isLeft && !isCross && take(word: "INNER")
        guard take(word: "JOIN") else {
            if isLeft { throw expected("JOIN or UNNEST") }
            if isCross || isInner { throw expected("JOIN") }
            return nil
        }
        let source = try source()
        if isCross { return .cross(source) }
        if !take(word: "ON") { throw expected("ON and a condition (CROSS JOIN has none)") }
        let condition = try expression()
        return isLeft ? .left(source, on: condition) : .inner(source, on: condition)
    }

    private mutating func unnest(isLeft: Bool) throws(QueryError) -> QueryJoin {
        let place = position
        let array = try expression()
        if let alias = try alias("the alias of UNNEST after AS") {
            return .unnest(array, alias: alias, isLeft: isLeft, place)
        }
        guard case .path(_, let steps) = array.kind, case .member(let name) = steps.last else {
            throw expected("AS and a name for what UNNEST gives")
        }
        return .unnest(array, alias: name, isLeft: isLeft, place)
    }

    private mutating func bindings() throws(QueryError) -> [QueryBinding] {
        var bindings: [QueryBinding] = []
        repeat {
            let place = position
            let name = try name("the name of a variable after LET")
            try require(.equal, "after the name of a variable")
            bindings.append(QueryBinding(name, try expression(), at: place))
        } while take(.comma)
        return bindings
    }

    private mutating func groups() throws(QueryError) -> [QueryGroup] {
        try require(word: "BY")
        var groups: [QueryGroup] = []
        repeat {
            let key = try expression()
            groups.append(QueryGroup(key, alias: try alias("the alias of a group after AS")))
        } while take(.comma)
        return groups
    }

    private mutating func order() throws(QueryError) -> [QueryOrdering] {
        try require(word: "BY")
        var order: [QueryOrdering] = []
        repeat {
            var ordering = QueryOrdering(try expression())
            if take(word: "DESC") { ordering.isDescending = true } else { _ = take(word: "ASC") }
            if take(word: "NULLS") {
                ordering.nullsFirst = take(word: "FIRST")
                if ordering.nullsFirst == false, !take(word: "LAST") { throw expected("FIRST or LAST after NULLS") }
            }
            order.append(ordering)
        } while take(.comma)
        return order
    }

    /// LIMIT and OFFSET in either order.
    private mutating func limits(into statement: inout QueryStatement) throws(QueryError) {
        for _ in 0..<2 {
            if statement.limit == nil, take(word: "LIMIT") { statement.limit = try expression() }
            if statement.offset == nil, take(word: "OFFSET") { statement.offset = try expression() }
        }
    }
}

extension QueryStatement {
    /// Reads SQL++ text. What it means is looked at by `checked()`.
    /// - Throws: `QueryError.text` with the place, what was found there and what was expected.
    package init(parsing text: String) throws(QueryError) { self = try SQLParser.statement(text) }
}

extension QueryExpression {
    /// Reads one expression of SQL++.
    /// - Throws: `QueryError.text` with the place, what was found there and what was expected.
    package init(parsing text: String) throws(QueryError) { self = try SQLParser.expression(text) }
}
