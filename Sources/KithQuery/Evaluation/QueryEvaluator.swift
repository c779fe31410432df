import KithDocument

/// Interprets trees over documents: what a query means, written down plainly. It answers filters of single documents, and
/// is what the translation to SQL is compared with.
package struct QueryEvaluator {
    let parameters: ParameterValues
    let context: FunctionContext

    package init(parameters: ParameterValues = ParameterValues(), context: FunctionContext = FunctionContext()) {
        self.parameters = parameters
        self.context = context
    }

    /// The value of an expression without names.
    package func constant(_ expression: QueryExpression) throws(QueryError) -> QueryValue {
        try evaluate(expression, QueryScope())
    }

    /// - Parameter expression: checked, so that its names are those of variables.
    func evaluate(_ expression: QueryExpression, _ scope: QueryScope) throws(QueryError) -> QueryValue {
        try context.work?.count()
        if scope.group != nil, let known = key(expression, scope) { return known }
        // Nothing is taken out of the cases here: this is what the stack is full of where a query is deep.
        switch expression.kind {
        case .literal, .parameter, .identifier, .metadata, .match, .rank, .highlight: return try leaf(expression, scope)
        case .path: return try path(expression, scope)
        case .array, .object: return try construct(expression, scope)
        case .negation, .sum, .product: return try arithmetic(expression, scope)
        case .concatenation: return try concatenation(expression, scope)
        case .collated: return try evaluate(expression.children[0], scope)
        case .cases: return try cases(expression, scope)
        case .call: return try call(expression, scope)
        case .aggregate: return try aggregate(expression, scope)
        case .not, .and, .or: return try logic(expression, scope)
        case .comparison, .like, .between, .membership, .test, .quantified, .exists:
            return try condition(expression, scope)
        }
    }

    /// The value of what a group has in common.
    private func key(_ expression: QueryExpression, _ scope: QueryScope) -> QueryValue? {
        scope.group?.keys.first { $0.key == expression }?.value
    }

    private func leaf(_ expression: QueryExpression, _ scope: QueryScope) throws(QueryError) -> QueryValue {
        switch expression.kind {
        case .literal(let value): return value
        case .parameter(let parameter): return try parameters.value(of: parameter, at: expression.position)
        case .identifier(let name):
            guard let variable = scope.variable(name) else {
                throw .at(expression.position, "there is nothing named \(SQLWords.quoted(name)) here")
            }
            return variable.value
        case .metadata(let alias): return try metadata(alias, scope, at: expression.position)
        default: throw .at(expression.position, "MATCH, RANK and HIGHLIGHT need a full-text index of a database")
        }
    }

    func evaluate(_ expressions: [QueryExpression], _ scope: QueryScope) throws(QueryError) -> [QueryValue] {
        var values: [QueryValue] = []
        for expression in expressions { values.append(try evaluate(expression, scope)) }
        return values
    }

    // Paths.

    private func path(_ expression: QueryExpression, _ scope: QueryScope) throws(QueryError) -> QueryValue {
        guard case .path(let base, let steps) = expression.kind else { preconditionFailure("no path: \(expression)") }
        return try walk(try evaluate(base, scope), steps[...], scope)
    }

    /// What leads nowhere is MISSING.
    private func walk(
        _ value: QueryValue, _ steps: ArraySlice<PathStep>, _ scope: QueryScope
    ) throws(QueryError) -> QueryValue {
        var value = value
        for (index, step) in zip(steps.indices, steps) {
            switch step {
            case .member(let name): value = QueryValue(value.object?[name])
            case .element(let place): value = element(of: value, try evaluate(place, scope))
            case .each:
                guard let array = value.array else { return .missing }
                var found: [JSONValue] = []
                for element in array {
                    if let json = try walk(QueryValue(element), steps[(index + 1)...], scope).json {
                        found.append(json)
                    }
                }
                return .array(found)
            }
        }
        return value
    }

    private func element(of value: QueryValue, _ place: QueryValue) -> QueryValue {
        switch (value, place) {
        case (.array(let array), .number(let number)):
            guard let place = number.count, place >= -array.count, place < array.count else { return .missing }
            return QueryValue(array[place < 0 ? array.count + place : place])
        case (.object(let object), .string(let key)): return QueryValue(object[key])
        default: return .missing
        }
    }

    /// An array or an object. A member whose value is MISSING is left out.
    private func construct(_ expression: QueryExpression, _ scope: QueryScope) throws(QueryError) -> QueryValue {
        let values = try evaluate(expression.children, scope)
        guard case .object(let members) = expression.kind else { return try .made(of: .array(values.map(\.element))) }
        var object = JSONObject()
        for (member, value) in zip(members, values) { object[member.key] = value.json }
        return try .made(of: .object(object))
    }

    // Numbers and strings.

    private func arithmetic(_ expression: QueryExpression, _ scope: QueryScope) throws(QueryError) -> QueryValue {
        let values = try evaluate(expression.children, scope)
        switch expression.kind {
        case .sum(_, let terms), .product(_, let terms):
            return zip(terms, values.dropFirst()).reduce(values[0]) { Self.apply($1.0.operation, $0, $1.1) }
        default:
            switch values[0] {
            case .missing: return .missing
            case .number(let number): return .number(Arithmetic.negated(number))
            default: return .null
            }
        }
    }

    private static func apply(_ operation: ArithmeticOperator, _ left: QueryValue, _ right: QueryValue) -> QueryValue {
        if left.isMissing || right.isMissing { return .missing }
        guard case .number(let one) = left, case .number(let other) = right else { return .null }
        return Arithmetic.apply(operation, one, other)
    }

    private func concatenation(_ expression: QueryExpression, _ scope: QueryScope) throws(QueryError) -> QueryValue {
        let values = try evaluate(expression.children, scope)
        return try QueryFunction.named("CONCAT")!.call(FunctionArguments(values: values, context: context))
    }

    private func cases(_ expression: QueryExpression, _ scope: QueryScope) throws(QueryError) -> QueryValue {
        guard case .cases(let cases) = expression.kind else { preconditionFailure("no CASE: \(expression)") }
        for branch in cases.branches {
            let isChosen =
                if let operand = cases.operand {
                    try compare(.equal, operand, branch.when, scope)
                } else {
                    try evaluate(branch.when, scope)
                }
            if isChosen.isTrue { return try evaluate(branch.then, scope) }
        }
        guard let otherwise = cases.otherwise else { return .null }
        return try evaluate(otherwise, scope)
    }

    // Calls.

    private func call(_ expression: QueryExpression, _ scope: QueryScope) throws(QueryError) -> QueryValue {
        let values = try evaluate(expression.children, scope)
        return try apply(expression, values)
    }

    private func apply(_ call: QueryExpression, _ values: [QueryValue]) throws(QueryError) -> QueryValue {
        guard case .call(let name, _) = call.kind else { preconditionFailure("no call: \(call)") }
        guard let function = QueryFunction.named(name) else {
            throw QueryChecker.unknownFunction(name, at: call.position)
        }
        guard function.arity.contains(values.count) else {
            throw QueryChecker.wrongArguments(function, values.count, at: call.position)
        }
        return try function.call(FunctionArguments(values: values, context: context))
    }

    private func aggregate(_ expression: QueryExpression, _ scope: QueryScope) throws(QueryError) -> QueryValue {
        guard case .aggregate(let function, let argument, let isDistinct) = expression.kind, let group = scope.group
        else { throw .at(expression.position, "aggregates need groups, and there are none here") }
        guard let argument else { return .number(group.rows.count) }
        var values: [QueryValue] = []
        var seen: Set<ValueKey> = []
        let collation = collation(of: argument)
        // The least of some values is that of each once, whatever they are compared without.
        let takesOnce = isDistinct && function != .minimum && function != .maximum
        for row in group.rows {
            let value = try evaluate(argument, row)
            if takesOnce, !seen.insert(ValueKey(collation.folded(value))).inserted { continue }
            values.append(value)
        }
        return AggregateValue.of(function, values)
    }

    private func metadata(
        _ alias: String?, _ scope: QueryScope, at position: SourcePosition
    ) throws(QueryError) -> QueryValue {
        let documents = scope.variables.filter { $0.metadata != nil }
        let variable = alias.map { scope.variable($0) } ?? (documents.count == 1 ? documents[0] : nil)
        if let metadata = variable?.metadata { return metadata.value }
        // A LEFT JOIN that found nothing.
        if let variable, variable.value.isMissing { return .missing }
        throw .at(position, "META() needs the alias of a source")
    }
}
