import KithQuery

extension QueryTerm where Value == Bool {
    /// As in `a AND b AND c`, a chain is one condition of many.
    public static func && (left: Self, right: Self) -> Self {
        func operands(_ term: Self) -> [QueryExpression] {
            if case .and(let operands) = term.expression.kind { operands } else { [term.expression] }
        }
        return Self(.and(operands(left) + operands(right)), left.fault ?? right.fault)
    }

    /// `a OR b`.
    public static func || (left: Self, right: Self) -> Self {
        func operands(_ term: Self) -> [QueryExpression] {
            if case .or(let operands) = term.expression.kind { operands } else { [term.expression] }
        }
        return Self(.or(operands(left) + operands(right)), left.fault ?? right.fault)
    }

    /// `NOT a`.
    public static prefix func ! (operand: Self) -> Self { Self(.not(operand.expression), operand.fault) }
}

extension QueryTerm {
    /// `CASE WHEN condition THEN value ELSE other END`.
    public static func when(_ condition: QueryTerm<Bool, Level>, then value: Self, else other: Self) -> Self {
        let branch = CaseBranch(when: condition.expression, then: value.expression)
        return Self(
            .cases(CaseExpression(operand: nil, branches: [branch], otherwise: other.expression)),
            condition.fault ?? value.fault ?? other.fault)
    }

    /// The value, or another where it is missing or NULL: `IFMISSINGORNULL(a, b)`.
    public static func ?? <Wrapped>(
        left: Self, right: QueryTerm<Wrapped, Level>
    ) -> QueryTerm<Wrapped, Level> where Value == Wrapped? {
        QueryTerm<Wrapped, Level>(
            .call("IFMISSINGORNULL", [left.expression, right.expression]), left.fault ?? right.fault)
    }

    /// The value, or another where it is missing or NULL: `IFMISSINGORNULL(a, b)`.
    public static func ?? <Wrapped: Encodable>(
        left: Self, right: Wrapped
    ) -> QueryTerm<Wrapped, Level> where Value == Wrapped? { left ?? .value(right) }
}
