import KithQuery

extension QueryTerm where Value: QueryArray {
    /// The element at a place, from the end where it is below zero.
    public subscript(_ index: Int) -> QueryTerm<Value.QueryElement, Level> {
        element(.literal(.number(index)))
    }

    private func element(_ index: QueryExpression) -> QueryTerm<Value.QueryElement, Level> {
        let expression = self.expression.appending(.element(index))
        return QueryTerm<Value.QueryElement, Level>(expression, fault: fault)
    }

    /// How many elements it has.
    public var count: QueryTerm<Int, Level> { call("ARRAY_LENGTH") }

    /// `EXISTS`: whether it has any.
    public var exists: QueryTerm<Bool, Level> { QueryTerm<Bool, Level>(.exists(expression), fault) }

    /// Whether an element equals a value.
    public func contains(_ value: Value.QueryElement) -> QueryTerm<Bool, Level> where Value.QueryElement: Encodable {
        let (element, valueFault) = constant(value)
        return QueryTerm<Bool, Level>(.membership(element, in: expression, isNegated: false), fault ?? valueFault)
    }

    private func quantified(
        _ quantifier: QuantifiedExpression.Quantifier, _ variable: String?,
        _ condition: (QueryTerm<Value.QueryElement, Level>) -> QueryTerm<Bool, Level>
    ) -> QueryTerm<Bool, Level> {
        let depth = Nesting.depth + 1
        let name = variable ?? (depth == 1 ? "item" : "item\(depth)")
        let item = QueryTerm<Value.QueryElement, Level>(
            .identifier(name), fault: nil, cursor: cursor?.element(as: name))
        let satisfied = Nesting.$depth.withValue(depth) { condition(item) }
        return QueryTerm<Bool, Level>(
            .quantified(QuantifiedExpression(quantifier, name, in: expression, satisfies: satisfied.expression)),
            fault ?? satisfied.fault)
    }

    /// Whether a condition holds of an element: `$0.tags.any { $0 == "home" }`.
    /// - Parameters:
    ///   - variable: the element's name in the query: `item`, or within another `item2` and so on.
    ///   - condition: what is to hold, of the element.
    public func any(
        as variable: String? = nil,
        _ condition: (QueryTerm<Value.QueryElement, Level>) -> QueryTerm<Bool, Level>
    ) -> QueryTerm<Bool, Level> { quantified(.any, variable, condition) }

    /// Whether a condition holds of all elements; of an empty array it does.
    public func every(
        as variable: String? = nil,
        _ condition: (QueryTerm<Value.QueryElement, Level>) -> QueryTerm<Bool, Level>
    ) -> QueryTerm<Bool, Level> { quantified(.every, variable, condition) }

    /// Whether there are elements and a condition holds of all.
    public func anyAndEvery(
        as variable: String? = nil,
        _ condition: (QueryTerm<Value.QueryElement, Level>) -> QueryTerm<Bool, Level>
    ) -> QueryTerm<Bool, Level> { quantified(.anyAndEvery, variable, condition) }
}

extension QueryTerm where Value == DynamicValue {
    /// Whether an element equals a value. A text is looked for in texts: `isIn` asks of an array without a model.
    public func containsElement(_ value: some Encodable) -> QueryTerm<Bool, Level> {
        let (element, valueFault) = constant(value)
        return QueryTerm<Bool, Level>(.membership(element, in: expression, isNegated: false), fault ?? valueFault)
    }
}

/// How many conditions on elements the one that is built is within, so that each has a variable of its own.
private enum Nesting {
    @TaskLocal static var depth = 0
}

extension QueryExpression {
    /// The path with another step.
    func appending(_ step: PathStep) -> QueryExpression {
        if case .path(let base, let steps) = kind { return QueryExpression(.path(base, steps + [step])) }
        return QueryExpression(.path(self, [step]))
    }
}
