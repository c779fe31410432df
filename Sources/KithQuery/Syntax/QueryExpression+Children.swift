extension QueryExpression {
    /// The expressions directly within, in the order in which they are written.
    package var children: [QueryExpression] {
        switch kind {
        case .literal, .parameter, .identifier, .metadata, .rank: []
        case .path(let base, let steps): [base] + steps.compactMap(\.expression)
        case .array(let elements): elements
        case .object(let members): members.map(\.value)
        case .negation(let operand), .not(let operand), .exists(let operand), .collated(let operand, _): [operand]
        case .and(let operands), .or(let operands), .concatenation(let operands): operands
        case .sum(let first, let terms), .product(let first, let terms): [first] + terms.map(\.operand)
        case .comparison(_, let left, let right): [left, right]
        case .like(let value, let pattern, let escape, _): [value, pattern] + (escape.map { [$0] } ?? [])
        case .between(let value, let low, let high, _): [value, low, high]
        case .membership(let value, let array, _): [value, array]
        case .test(let value, _, _): [value]
        case .cases(let cases):
            (cases.operand.map { [$0] } ?? []) + cases.branches.flatMap { [$0.when, $0.then] }
                + (cases.otherwise.map { [$0] } ?? [])
        case .quantified(let quantified): [quantified.array, quantified.condition]
        case .call(_, let arguments): arguments
        case .aggregate(_, let argument, _): argument.map { [$0] } ?? []
        case .match(_, let text): [text]
        case .highlight(_, _, let before, let after): [before, after]
        }
    }

    /// The same expression with other expressions directly within it: as many as there are, in the order of `children`.
    package func replacing(children: [QueryExpression]) -> QueryExpression {
        var rest = children[...]
        func next() -> QueryExpression {
            guard let child = rest.popFirst() else { preconditionFailure("too few children: \(children.count)") }
            return child
        }
        func all() -> [QueryExpression] {
            defer { rest = [] }
            return Array(rest)
        }
        func terms(_ list: [ArithmeticTerm]) -> [ArithmeticTerm] {
            list.map { ArithmeticTerm($0.operation, next()) }
        }
        let changed: Kind =
            switch kind {
            case .literal, .parameter, .identifier, .metadata, .rank: kind
            case .path(_, let steps): .path(next(), steps.map { $0.expression == nil ? $0 : .element(next()) })
            case .array: .array(all())
            case .object(let members): .object(members.map { ObjectMember($0.key, next()) })
            case .negation: .negation(next())
            case .not: .not(next())
            case .exists: .exists(next())
            case .collated(_, let collation): .collated(next(), collation)
            case .and: .and(all())
            case .or: .or(all())
            case .concatenation: .concatenation(all())
            case .sum(_, let list): .sum(next(), terms(list))
            case .product(_, let list): .product(next(), terms(list))
            case .comparison(let operation, _, _): .comparison(operation, next(), next())
            case .like(_, _, let escape, let isNegated):
                .like(next(), pattern: next(), escape: escape.map { _ in next() }, isNegated: isNegated)
            case .between(_, _, _, let isNegated): .between(next(), low: next(), high: next(), isNegated: isNegated)
            case .membership(_, _, let isNegated): .membership(next(), in: next(), isNegated: isNegated)
            case .test(_, let test, let isNegated): .test(next(), test, isNegated: isNegated)
            case .cases(let cases):
                .cases(
                    CaseExpression(
                        operand: cases.operand.map { _ in next() },
                        branches: cases.branches.map { _ in CaseBranch(when: next(), then: next()) },
                        otherwise: cases.otherwise.map { _ in next() }))
            case .quantified(let quantified):
                .quantified(
                    QuantifiedExpression(quantified.quantifier, quantified.variable, in: next(), satisfies: next()))
            case .call(let name, _): .call(name, all())
            case .aggregate(let function, let argument, let isDistinct):
                .aggregate(function, argument.map { _ in next() }, isDistinct: isDistinct)
            case .match(let index, _): .match(index: index, text: next())
            case .highlight(let index, let field, _, _):
                .highlight(index: index, field: field, before: next(), after: next())
            }
        return QueryExpression(changed, at: position)
    }

    // What goes down a tree does so in small functions: the frames of those above, which know all kinds, are large, and
    // trees come from outside.

    /// The same expression with each of those directly within it changed.
    package func mapChildren(
        _ change: (QueryExpression) throws(QueryError) -> QueryExpression
    ) throws(QueryError) -> QueryExpression {
        let children = children
        if children.isEmpty { return self }
        var changed: [QueryExpression] = []
        for child in children { changed.append(try change(child)) }
        return replacing(children: changed)
    }
}

extension QueryExpression: Equatable {
    package static func == (left: Self, right: Self) -> Bool {
        let (mine, its) = (left.children, right.children)
        guard mine.count == its.count else { return false }
        guard left.kind.name.hasSameBytes(as: right.kind.name) else { return false }
        if mine.isEmpty { return left.kind == right.kind }
        guard left.bare.kind == right.bare.kind else { return false }
        for (one, other) in zip(mine, its) where one != other { return false }
        return true
    }

    /// Without what is within it.
    private var bare: QueryExpression { replacing(children: children.map { _ in .literal(.missing) }) }
}

extension QueryExpression.Kind {
    /// The name that it has itself, for `==`: the derived one takes NFC and NFD for one.
    fileprivate var name: String {
        switch self {
        case .identifier(let name), .call(let name, _), .match(let name, _), .rank(let name): name
        case .metadata(let alias): alias ?? ""
        case .highlight(let index, let field, _, _): "\(index)\0\(field)"
        case .quantified(let quantified): quantified.variable
        default: ""
        }
    }
}

extension PathStep {
    var expression: QueryExpression? {
        if case .element(let index) = self { index } else { nil }
    }
}
