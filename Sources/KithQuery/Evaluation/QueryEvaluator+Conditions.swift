import KithDocument

// Conditions are TRUE, FALSE, NULL or MISSING. What is no boolean counts as NULL in AND, OR and NOT.
extension QueryEvaluator {
    func condition(_ expression: QueryExpression, _ scope: QueryScope) throws(QueryError) -> QueryValue {
        if case .quantified = expression.kind { return try quantified(expression, scope) }
        // The operands come first, so that nothing else is on the stack while they are evaluated.
        let operands = try evaluate(expression.children, scope)
        return judge(expression, operands)
    }

    private func judge(_ expression: QueryExpression, _ operands: [QueryValue]) -> QueryValue {
        switch expression.kind {
        case .comparison(let operation, let left, let right):
            return compare(operation, operands[0], operands[1], collation(of: left, right))
        case .like(let value, let pattern, _, let isNegated):
            return Self.negated(like(operands, collation(of: value, pattern)), isNegated)
        case .between(let value, let low, let high, let isNegated):
            let isAbove = compare(.greaterOrEqual, operands[0], operands[1], collation(of: value, low))
            let isBelow = compare(.lessOrEqual, operands[0], operands[2], collation(of: value, high))
            return Self.negated(Self.and(isAbove, isBelow), isNegated)
        case .membership(let value, let array, let isNegated):
            return Self.negated(isMember(operands[0], of: operands[1], collation(of: value, array)), isNegated)
        case .test(_, let test, let isNegated): return Self.negated(Self.test(operands[0], test), isNegated)
        case .exists: return .bool(operands[0].array?.isEmpty == false)
        default: preconditionFailure("no condition: \(expression)")
        }
    }

    // The four values.

    /// A boolean, MISSING, or NULL for all others.
    static func truth(_ value: QueryValue) -> QueryValue {
        switch value {
        case .bool, .missing: value
        default: .null
        }
    }

    static func not(_ value: QueryValue) -> QueryValue {
        if case .bool(let bool) = value { .bool(!bool) } else { value }
    }

    private static func negated(_ value: QueryValue, _ isNegated: Bool) -> QueryValue { isNegated ? not(value) : value }

    /// FALSE is stronger than MISSING, MISSING than NULL, NULL than TRUE.
    static func and(_ left: QueryValue, _ right: QueryValue) -> QueryValue {
        if left == .bool(false) || right == .bool(false) { return .bool(false) }
        if left.isMissing || right.isMissing { return .missing }
        return left.isNull || right.isNull ? .null : .bool(true)
    }

    /// TRUE is stronger than NULL, NULL than MISSING, MISSING than FALSE.
    static func or(_ left: QueryValue, _ right: QueryValue) -> QueryValue {
        if left == .bool(true) || right == .bool(true) { return .bool(true) }
        if left.isNull || right.isNull { return .null }
        return left.isMissing || right.isMissing ? .missing : .bool(false)
    }

    func logic(_ expression: QueryExpression, _ scope: QueryScope) throws(QueryError) -> QueryValue {
        let isOr = if case .or = expression.kind { true } else { false }
        if case .not = expression.kind { return Self.not(Self.truth(try evaluate(expression.children[0], scope))) }
        var result = QueryValue.bool(!isOr)
        for operand in expression.children {
            let value = Self.truth(try evaluate(operand, scope))
            result = isOr ? Self.or(result, value) : Self.and(result, value)
            if result == .bool(isOr) { break }
        }
        return result
    }

    /// After IS. Whether MISSING is NULL is not known.
    private static func test(_ value: QueryValue, _ test: ValueTest) -> QueryValue {
        switch test {
        case .null: value.isMissing ? .missing : .bool(value.isNull)
        case .missing: .bool(value.isMissing)
        case .valued: .bool(value.isValued)
        }
    }

    // Comparisons.

    /// What strings are compared without, by the COLLATE of an expression itself.
    func collation(of expression: QueryExpression) -> QueryCollation { expression.collation }

    private func collation(of left: QueryExpression, _ right: QueryExpression) -> QueryCollation {
        left.collation.joined(right.collation)
    }

    func compare(
        _ operation: ComparisonOperator, _ left: QueryExpression, _ right: QueryExpression, _ scope: QueryScope
    ) throws(QueryError) -> QueryValue {
        let operands = try evaluate([left, right], scope)
        return compare(operation, operands[0], operands[1], collation(of: left, right))
    }

    private func compare(
        _ operation: ComparisonOperator, _ one: QueryValue, _ other: QueryValue, _ collation: QueryCollation
    ) -> QueryValue {
        if one.isMissing || other.isMissing { return .missing }
        if one.isNull || other.isNull { return .null }
        return .bool(operation.holds(collation.folded(one).order(to: collation.folded(other))))
    }

    /// - Parameter operands: the value, the pattern, and the escape character if there is one.
    private func like(_ operands: [QueryValue], _ collation: QueryCollation) -> QueryValue {
        if operands.contains(where: \.isMissing) { return .missing }
        let strings = operands.compactMap(\.string)
        guard strings.count == operands.count else { return .null }
        let mark = strings.count > 2 ? strings[2].unicodeScalars : "\\".unicodeScalars
        guard mark.count <= 1 else { return .null }
        return .bool(
            LikePattern(strings[1], escape: mark.first, collation: collation).matches(collation.folded(strings[0])))
    }

    /// Elements are compared as values: a NULL among them is equal to nothing that is asked for.
    private func isMember(_ wanted: QueryValue, of array: QueryValue, _ collation: QueryCollation) -> QueryValue {
        if wanted.isMissing || array.isMissing { return .missing }
        guard wanted.isValued, let elements = array.array else { return .null }
        let folded = collation.folded(wanted)
        return .bool(elements.contains { collation.folded(QueryValue($0)) == folded })
    }

    private func quantified(_ expression: QueryExpression, _ scope: QueryScope) throws(QueryError) -> QueryValue {
        guard case .quantified(let quantified) = expression.kind else { preconditionFailure("no ANY: \(expression)") }
        let value = try evaluate(quantified.array, scope)
        if value.isMissing { return .missing }
        guard let array = value.array else { return .null }
        if quantified.quantifier == .anyAndEvery, array.isEmpty { return .bool(false) }
        let isAny = quantified.quantifier == .any
        for element in array {
            let inner = scope.with(quantified.variable, QueryValue(element))
            if try evaluate(quantified.condition, inner).isTrue == isAny { return .bool(isAny) }
        }
        return .bool(!isAny)
    }
}

extension QueryExpression {
    /// What strings are compared without, by the COLLATE of the expression itself.
    var collation: QueryCollation {
        guard case .collated(let operand, let collation) = kind else { return .exact }
        return collation.joined(operand.collation)
    }
}
