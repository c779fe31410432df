import KithDocument
import KithQuery
import KithTestSupport

/// Trees drawn from a seed, such as the parser can make.
struct RandomTrees {
    var values: RandomValues
    /// Names that fields and variables have.
    var names = ["a", "b", "c", "order", "e t", "", "`", "漢字", "value", "Group", "x1", "_id"]
    var functions = ["ABS", "LENGTH", "CONCAT", "LOWER", "ARRAY_LENGTH", "TYPE", "NOPE", "IFNULL"]
    /// Whether there may be aggregates, MATCH and RANK, META and parameters.
    var isFree = true

    init(seed: UInt64) { values = RandomValues(seed: seed) }

    mutating func below(_ bound: Int) -> Int { values.random.below(bound) }

    mutating func flip() -> Bool { below(2) == 0 }

    mutating func name() -> String { values.random.pick(names) }

    mutating func list(_ range: ClosedRange<Int>, _ depth: Int) -> [QueryExpression] {
        (0..<values.random.within(range)).map { _ in expression(depth) }
    }

    mutating func literal() -> QueryExpression { .literal(below(10) == 0 ? .missing : values.atom()) }

    mutating func leaf() -> QueryExpression {
        switch below(8) {
        case 0, 1: return literal()
        case 2 where isFree: return QueryExpression(.parameter(flip() ? .named("p") : .positional(1 + below(3))))
        case 3 where isFree: return QueryExpression(.metadata(flip() ? nil : name()))
        case 4: return QueryExpression(.path(.identifier(name()), [.member(name())]))
        default: return .identifier(name())
        }
    }

    mutating func terms(_ operations: [ArithmeticOperator], _ depth: Int) -> [ArithmeticTerm] {
        (0..<values.random.within(1...2)).map { _ in
            ArithmeticTerm(values.random.pick(operations), expression(depth))
        }
    }

    mutating func steps(_ depth: Int) -> [PathStep] {
        (0..<values.random.within(1...3)).map { _ in
            switch below(6) {
            case 0: .element(.literal(.number(values.random.within(-2...2))))
            case 1: .element(expression(depth - 1))
            case 2: .each
            default: .member(name())
            }
        }
    }

    mutating func expression(_ depth: Int) -> QueryExpression {
        guard depth > 0, below(6) > 0 else { return leaf() }
        let depth = depth - 1
        switch below(isFree ? 22 : 19) {
        case 0, 1: return QueryExpression(.path(expression(depth), steps(depth)))
        case 2: return QueryExpression(.array(list(0...3, depth)))
        case 3:
            return QueryExpression(
                .object(["a", "b'", "漢"].prefix(below(4)).map { ObjectMember($0, expression(depth)) }))
        case 4:
            // A number below zero is one literal.
            let operand = expression(depth)
            if case .literal(.number) = operand.kind { return operand }
            return QueryExpression(.negation(operand))
        case 5: return QueryExpression(.not(expression(depth)))
        case 6: return QueryExpression(.and(list(2...3, depth)))
        case 7: return QueryExpression(.or(list(2...3, depth)))
        case 8: return QueryExpression(.sum(expression(depth), terms([.plus, .minus], depth)))
        case 9: return QueryExpression(.product(expression(depth), terms([.times, .divided, .remainder], depth)))
        case 10: return QueryExpression(.concatenation(list(2...3, depth)))
        case 11: return comparison(depth)
        case 12:
            return QueryExpression(
                .like(
                    expression(depth), pattern: expression(depth),
                    escape: below(3) > 0 ? nil : expression(depth), isNegated: flip()))
        case 13:
            return QueryExpression(
                .between(expression(depth), low: expression(depth), high: expression(depth), isNegated: flip()))
        case 14: return QueryExpression(.membership(expression(depth), in: expression(depth), isNegated: flip()))
        case 15:
            return QueryExpression(.test(expression(depth), values.random.pick(ValueTest.allCases), isNegated: flip()))
        case 16: return cases(depth)
        case 17:
            let quantifier = values.random.pick(QuantifiedExpression.Quantifier.allCases)
            // Mostly one that nothing around it has, as it takes to make sense.
            let variable = below(4) == 0 ? name() : "v\(depth)"
            return QueryExpression(
                .quantified(
                    QuantifiedExpression(quantifier, variable, in: expression(depth), satisfies: expression(depth))))
        case 18:
            if flip() { return QueryExpression(.exists(expression(depth))) }
            return QueryExpression(
                .collated(expression(depth), QueryCollation(ignoresCase: flip(), ignoresDiacritics: flip())))
        case 19: return QueryExpression(.call(values.random.pick(functions), list(0...3, depth)))
        case 20:
            let function = values.random.pick(AggregateFunction.allCases)
            return QueryExpression(
                .aggregate(function, function == .count && flip() ? nil : expression(depth), isDistinct: false))
        default:
            return flip() ? QueryExpression(.rank(index: name())) : QueryExpression(.match(index: name(), text: leaf()))
        }
    }

    private mutating func comparison(_ depth: Int) -> QueryExpression {
        QueryExpression(
            .comparison(values.random.pick(ComparisonOperator.allCases), expression(depth), expression(depth)))
    }

    private mutating func cases(_ depth: Int) -> QueryExpression {
        QueryExpression(
            .cases(
                CaseExpression(
                    operand: flip() ? expression(depth) : nil,
                    branches: (0..<values.random.within(1...2)).map { _ in
                        CaseBranch(when: expression(depth), then: expression(depth))
                    }, otherwise: flip() ? expression(depth) : nil)))
    }

    mutating func optional(_ depth: Int) -> QueryExpression? { below(3) == 0 ? expression(depth) : nil }

    mutating func source() -> QuerySource { QuerySource(name(), alias: flip() ? name() : nil) }

    mutating func join() -> QueryJoin {
        switch below(4) {
        case 0: .inner(source(), on: expression(2))
        case 1: .left(source(), on: expression(2))
        case 2: .cross(source())
        default: .unnest(expression(2), alias: name(), isLeft: flip(), .none)
        }
    }

    mutating func column() -> QueryColumn {
        switch below(6) {
        case 0: .all(.none)
        case 1: .members(expression(2))
        default: .value(expression(2), alias: flip() ? name() : nil)
        }
    }

    mutating func statement() -> QueryStatement {
        var statement = QueryStatement(
            selection: below(4) == 0
                ? .raw(expression(3)) : .columns((0..<values.random.within(1...3)).map { _ in column() }))
        statement.isDistinct = flip()
        if below(6) > 0 {
            statement.source = source()
            statement.joins = (0..<below(3)).map { _ in join() }
        }
        if below(4) == 0 { statement.bindings = [QueryBinding(name(), expression(2))] }
        statement.filter = optional(4)
        if flip() {
            statement.groups = (0..<below(3)).map { _ in QueryGroup(expression(2), alias: flip() ? name() : nil) }
        }
        statement.groupFilter = optional(3)
        statement.order = (0..<below(3)).map { _ in
            QueryOrdering(expression(2), isDescending: flip(), nullsFirst: [nil, true, false][below(3)])
        }
        statement.limit = optional(1)
        statement.offset = optional(1)
        return statement
    }
}
