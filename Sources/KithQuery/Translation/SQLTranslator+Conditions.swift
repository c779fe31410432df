import KithDocument

// A condition is only asked whether it is TRUE: NOT is pushed inward, to where it turns a comparison round, so it makes no
// difference what FALSE, NULL and MISSING become.
extension SQLTranslator {
    /// SQL that is true exactly where the condition, or its negation, is TRUE.
    mutating func condition(_ expression: QueryExpression, isNegated: Bool = false) throws(QueryError) -> String {
        switch expression.kind {
        case .literal(let value): return value == .bool(!isNegated) ? "1" : "0"
        case .collated(let operand, _): return try condition(operand, isNegated: isNegated)
        case .not(let operand): return try condition(operand, isNegated: !isNegated)
        case .and(let operands): return try chain(operands, isOr: isNegated, isNegated: isNegated)
        case .or(let operands): return try chain(operands, isOr: !isNegated, isNegated: isNegated)
        case .comparison(let operation, let left, let right):
            return try comparison(isNegated ? operation.opposite : operation, left, right)
        case .between(let value, let low, let high, let isOutside):
            if isOutside != isNegated {
                return SQLText.or([try comparison(.less, value, low), try comparison(.greater, value, high)])
            }
            return SQLText.and([
                try comparison(.greaterOrEqual, value, low), try comparison(.lessOrEqual, value, high),
            ])
        case .test(let value, let test, let isOpposite):
            return try self.test(value, test, isNegated: isOpposite != isNegated)
        case .membership(let value, let array, let isOpposite):
            return try membership(expression, value, array, isNegated: isOpposite != isNegated, turnsRound: isNegated)
        case .like(let value, let pattern, let escape, let isOpposite):
            let isOther = isOpposite != isNegated
            let bound = isOther ? nil : try prefixBound(value, pattern, escape)
            return SQLText.and((bound ?? []) + [try evaluated(expression, isNegated: isNegated)])
        case .quantified(let quantified):
            let bound = isNegated ? nil : try elementBound(quantified)
            return SQLText.and((bound.map { [$0] } ?? []) + [try evaluated(expression, isNegated: isNegated)])
        case .call("ARRAY_CONTAINS", let arguments) where !isNegated:
            let bound = try elementBound(of: arguments[1], in: arguments[0])
            return SQLText.and((bound.map { [$0] } ?? []) + [try evaluated(expression, isNegated: false)])
        case .parameter where isMatch(expression): return try match(expression, isNegated: isNegated)
        case .parameter: return "(\(try value(expression)) = \(isNegated ? "x'04'" : "x'05'"))"
        default: return try evaluated(expression, isNegated: isNegated)
        }
    }

    private mutating func chain(
        _ operands: [QueryExpression], isOr: Bool, isNegated: Bool
    ) throws(QueryError) -> String {
        let notes = notesWishes
        if isOr { notesWishes = false }
        defer { notesWishes = notes }
        var terms: [String] = []
        for operand in operands { terms.append(try condition(operand, isNegated: isNegated)) }
        return isOr ? SQLText.or(terms) : SQLText.and(terms)
    }

    private mutating func evaluated(
        _ expression: QueryExpression, isNegated: Bool
    ) throws(QueryError) -> String {
        try call("kq_test", isNegated ? QueryExpression(.not(expression), at: expression.position) : expression)
    }

    // Comparisons.

    private mutating func comparison(
        _ operation: ComparisonOperator, _ left: QueryExpression, _ right: QueryExpression
    ) throws(QueryError) -> String {
        let collation = left.collation.joined(right.collation)
        if isConstant(left), !isConstant(right) { return try comparison(operation.reversed, right, left) }
        if let literal = right.uncollated.literal, !literal.isValued { return "0" }
        if let byID = try comparisonOfID(operation, left, right, collation) { return byID }
        let one = try folded(left, collation)
        let other = try comparand(right, collation)
        note(left, collation, operation == .equal ? .equality : .range, unless: operation == .notEqual)
        let compared = "\(one) \(operation.sql) \(other)"
        let isBounded = isConstant(right)
        var guards: [String] = []
        switch operation {
        case .equal: if !isBounded { guards = [one] }
        case .less, .lessOrEqual: guards = [one]
        case .greater, .greaterOrEqual: if !isBounded { guards = [other] }
        case .notEqual: guards = isBounded ? [one] : [one, other]
        }
        return SQLText.and([compared] + guards.map { "\($0) > \(SQLText.null)" })
    }

    /// Whether it is the same for all rows.
    func isConstant(_ expression: QueryExpression) -> Bool {
        switch expression.kind {
        case .literal: true
        case .collated(let operand, _): isConstant(operand)
        case .parameter: slot(expression)?.isConstant ?? false
        default: false
        }
    }

    /// What something is compared with: a constant that is NULL is equal to nothing.
    private mutating func comparand(
        _ expression: QueryExpression, _ collation: QueryCollation
    ) throws(QueryError) -> String {
        if case .collated(let operand, _) = expression.kind { return try comparand(operand, collation) }
        guard let number = expression.slot, isConstant(expression) else { return try folded(expression, collation) }
        return bind(.comparand(number, collation))
    }

    /// The id of a document stands in a column of its own, which has an index.
    private mutating func comparisonOfID(
        _ operation: ComparisonOperator, _ left: QueryExpression, _ right: QueryExpression, _ collation: QueryCollation
    ) throws(QueryError) -> String? {
        guard collation == .exact, case .metadata(let source, "id") = slot(left) else { return nil }
        let column = sources[source].prefix + "id"
        if case .string(let text) = right.literal { return "\(column) \(operation.sql) \(SQLText.literal(text))" }
        guard operation == .equal, isConstant(right), let number = right.slot else { return nil }
        return "\(column) = \(bind(.text(number)))"
    }

    private mutating func test(
        _ operand: QueryExpression, _ test: ValueTest, isNegated: Bool
    ) throws(QueryError) -> String {
        let value = try value(operand)
        switch (test, isNegated) {
        case (.null, false): return "\(value) = \(SQLText.null)"
        case (.null, true): return "\(value) <> \(SQLText.null)"
        case (.missing, false): return "\(value) IS NULL"
        case (.missing, true): return "\(value) IS NOT NULL"
        case (.valued, false): return "\(value) > \(SQLText.null)"
        case (.valued, true): return "(\(value) IS NULL OR \(value) = \(SQLText.null))"
        }
    }

    // IN.

    /// - Parameter turnsRound: whether the expression itself says the opposite of what is asked.
    private mutating func membership(
        _ expression: QueryExpression, _ wanted: QueryExpression, _ array: QueryExpression, isNegated: Bool,
        turnsRound: Bool
    ) throws(QueryError) -> String {
        let collation = wanted.collation.joined(array.collation)
        if case .array(let elements) = array.kind, elements.allSatisfy({ isConstant($0) }), !isConstant(wanted) {
            return try membership(wanted, elements, collation, isNegated: isNegated)
        }
        let bound = isNegated || collation != .exact ? nil : try elementBound(of: wanted, in: array)
        return SQLText.and(
            (bound.map { [$0] } ?? []) + [try evaluated(expression, isNegated: turnsRound)])
    }

    private mutating func membership(
        _ wanted: QueryExpression, _ elements: [QueryExpression], _ collation: QueryCollation, isNegated: Bool
    ) throws(QueryError) -> String {
        var list: [String] = []
        // NULL is equal to nothing, and makes nothing unknown.
        for element in elements.map(\.uncollated) {
            if let number = element.slot {
                list.append(
                    isNegated
                        ? "coalesce(\(bind(.comparand(number, collation))), x'')" : bind(.comparand(number, collation)))
            } else if element.literal?.isValued == true {
                list.append(try folded(element, collation))
            }
        }
        if !isNegated { note(wanted, collation, .equality) }
        let value = try folded(wanted, collation)
        let joined = list.joined(separator: ", ")
        if isNegated { return "(\(value) > \(SQLText.null) AND \(value) NOT IN (\(joined)))" }
        return "\(value) IN (\(joined))"
    }

    // LIKE.

    /// What a text that fits a pattern lies between, where the pattern begins with plain characters.
    private mutating func prefixBound(
        _ value: QueryExpression, _ pattern: QueryExpression, _ escape: QueryExpression?
    ) throws(QueryError) -> [String]? {
        guard value.collation.joined(pattern.collation) == .exact, escape == nil, !isConstant(value),
            case .string(let text) = pattern.literal, value.slot != nil
        else { return nil }
        let prefix = Array(text.utf8.prefix { !"%_\\".utf8.contains($0) })
        guard !prefix.isEmpty, !prefix.contains(0) else { return nil }
        if case .metadata(let source, "id") = slot(value) {
            let column = sources[source].prefix + "id"
            let start = String(decoding: prefix, as: UTF8.self)
            return [
                "\(column) >= \(SQLText.literal(start))", "\(column) < CAST(\(SQLText.blob(prefix + [0xFF])) AS TEXT)",
            ]
        }
        note(value, .exact, .range)
        let key = try self.value(value)
        return [
            "\(key) >= \(SQLText.blob([ValueKey.Tag.string] + prefix))",
            "\(key) < \(SQLText.blob([ValueKey.Tag.string] + prefix + [0xFF]))",
        ]
    }

    // What indexes could do.

    mutating func note(
        _ expression: QueryExpression, _ collation: QueryCollation, _ use: IndexWish.Use, unless isOther: Bool = false
    ) {
        guard notesWishes, !isOther, let (source, text) = definition(of: expression, collation) else { return }
        let wish = IndexWish(source: source, expression: text, use: use)
        if !wishes.contains(wish) { wishes.append(wish) }
    }

    /// The expression as an index of one source would have it.
    private func definition(
        of expression: QueryExpression, _ collation: QueryCollation
    ) -> (source: Int, text: String)? {
        var found: Int?
        for number in expression.slots {
            guard case .field(let source, let way) = closer.table.slots[number], case .member = way.first,
                sources[source].isDocument, found == nil || found == source
            else { return nil }
            found = source
        }
        guard let source = found else { return nil }
        var definition = expression.uncollated.replaced { part in
            guard let number = part.slot, case .field(_, let way) = closer.table.slots[number] else { return nil }
            return QueryExpression(way: way)
        }
        if collation != .exact { definition = QueryExpression(.collated(definition, collation)) }
        return (source, definition.sql)
    }
}

extension QueryExpression {
    /// A path from a document.
    init(way: [CanonicalStep]) {
        var steps: [PathStep] = way.map { step in
            switch step {
            case .member(let name): .member(name)
            case .element(let place): .element(.literal(.number(place)))
            }
        }
        guard case .member(let name) = steps.first else { preconditionFailure("a document is no array: \(way)") }
        steps.removeFirst()
        self = steps.isEmpty ? .identifier(name) : QueryExpression(.path(.identifier(name), steps))
    }
}

extension ComparisonOperator {
    /// The same with its sides exchanged.
    var reversed: ComparisonOperator {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    var sql: String { self == .notEqual ? "<>" : rawValue }
}
