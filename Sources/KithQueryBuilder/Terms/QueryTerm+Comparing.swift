import KithQuery

// Comparisons. With nil they ask whether there is a value: a field that is missing and one that is NULL are both nil.
extension QueryTerm {
    func compared(
        _ operation: ComparisonOperator, _ other: (expression: QueryExpression, fault: QueryBuilderError?)
    ) -> QueryTerm<Bool, Level> {
        let fault = fault ?? other.fault
        if case .literal(.null) = other.expression.kind, operation == .equal || operation == .notEqual {
            return QueryTerm<Bool, Level>(.test(expression, .valued, isNegated: operation == .equal), fault)
        }
        return QueryTerm<Bool, Level>(.comparison(operation, expression, other.expression), fault)
    }

    func compared<Other>(
        _ operation: ComparisonOperator, to other: QueryTerm<Other, Level>
    ) -> QueryTerm<Bool, Level> {
        QueryTerm<Bool, Level>(.comparison(operation, expression, other.expression), fault ?? other.fault)
    }

    /// Whether it equals a value; with nil, whether it is missing or NULL.
    public static func == (left: Self, right: Value) -> QueryTerm<Bool, Level> where Value: Encodable {
        left.compared(.equal, constant(right))
    }

    /// `a = b`.
    public static func == (left: Self, right: Self) -> QueryTerm<Bool, Level> { left.compared(.equal, to: right) }

    /// Whether it is another value; with nil, whether it has a value.
    public static func != (left: Self, right: Value) -> QueryTerm<Bool, Level> where Value: Encodable {
        left.compared(.notEqual, constant(right))
    }

    /// `a != b`.
    public static func != (left: Self, right: Self) -> QueryTerm<Bool, Level> { left.compared(.notEqual, to: right) }

    /// Of what may be nil with what may not: a reference with an id.
    public static func == <Wrapped>(
        left: Self, right: QueryTerm<Wrapped, Level>
    ) -> QueryTerm<Bool, Level> where Value == Wrapped? { left.compared(.equal, to: right) }

    /// `a = b`.
    public static func == <Wrapped>(
        left: QueryTerm<Wrapped, Level>, right: Self
    ) -> QueryTerm<Bool, Level> where Value == Wrapped? { left.compared(.equal, to: right) }
}

extension QueryTerm where Value: QueryOrdered {
    /// `a < b`.
    public static func < (left: Self, right: Value) -> QueryTerm<Bool, Level> where Value: Encodable {
        left.compared(.less, constant(right))
    }

    /// `a < b`.
    public static func < (left: Self, right: Self) -> QueryTerm<Bool, Level> { left.compared(.less, to: right) }

    /// `a <= b`.
    public static func <= (left: Self, right: Value) -> QueryTerm<Bool, Level> where Value: Encodable {
        left.compared(.lessOrEqual, constant(right))
    }

    /// `a <= b`.
    public static func <= (left: Self, right: Self) -> QueryTerm<Bool, Level> { left.compared(.lessOrEqual, to: right) }

    /// `a > b`.
    public static func > (left: Self, right: Value) -> QueryTerm<Bool, Level> where Value: Encodable {
        left.compared(.greater, constant(right))
    }

    /// `a > b`.
    public static func > (left: Self, right: Self) -> QueryTerm<Bool, Level> { left.compared(.greater, to: right) }

    /// `a >= b`.
    public static func >= (left: Self, right: Value) -> QueryTerm<Bool, Level> where Value: Encodable {
        left.compared(.greaterOrEqual, constant(right))
    }

    /// `a >= b`.
    public static func >= (left: Self, right: Self) -> QueryTerm<Bool, Level> {
        left.compared(.greaterOrEqual, to: right)
    }

    func between(
        _ low: (expression: QueryExpression, fault: QueryBuilderError?),
        _ high: (expression: QueryExpression, fault: QueryBuilderError?), isNegated: Bool
    ) -> QueryTerm<Bool, Level> {
        QueryTerm<Bool, Level>(
            .between(expression, low: low.expression, high: high.expression, isNegated: isNegated),
            fault ?? low.fault ?? high.fault)
    }

    /// `BETWEEN low AND high`: both are within.
    public func isBetween(_ low: Value, _ high: Value) -> QueryTerm<Bool, Level> where Value: Encodable {
        between(constant(low), constant(high), isNegated: false)
    }

    /// `NOT BETWEEN low AND high`: below the one or above the other.
    public func isNotBetween(_ low: Value, _ high: Value) -> QueryTerm<Bool, Level> where Value: Encodable {
        between(constant(low), constant(high), isNegated: true)
    }

    /// `BETWEEN low AND high`: both are within.
    public func isBetween(_ low: Self, _ high: Self) -> QueryTerm<Bool, Level> {
        between((low.expression, low.fault), (high.expression, high.fault), isNegated: false)
    }

    /// `NOT BETWEEN low AND high`: below the one or above the other.
    public func isNotBetween(_ low: Self, _ high: Self) -> QueryTerm<Bool, Level> {
        between((low.expression, low.fault), (high.expression, high.fault), isNegated: true)
    }
}

// Fields without a model are compared with anything.
extension QueryTerm where Value == DynamicValue {
    /// Whether it equals a value of any type; with nil, whether it is missing or NULL.
    public static func == (left: Self, right: some Encodable) -> QueryTerm<Bool, Level> {
        left.compared(.equal, constant(right))
    }

    /// Whether it is another value, of any type; with nil, whether it has a value.
    public static func != (left: Self, right: some Encodable) -> QueryTerm<Bool, Level> {
        left.compared(.notEqual, constant(right))
    }

    /// `a < b`.
    public static func < (left: Self, right: some Encodable) -> QueryTerm<Bool, Level> {
        left.compared(.less, constant(right))
    }

    /// `a <= b`.
    public static func <= (left: Self, right: some Encodable) -> QueryTerm<Bool, Level> {
        left.compared(.lessOrEqual, constant(right))
    }

    /// `a > b`.
    public static func > (left: Self, right: some Encodable) -> QueryTerm<Bool, Level> {
        left.compared(.greater, constant(right))
    }

    /// `a >= b`.
    public static func >= (left: Self, right: some Encodable) -> QueryTerm<Bool, Level> {
        left.compared(.greaterOrEqual, constant(right))
    }

    /// `BETWEEN low AND high`: both are within.
    public func isBetween(_ low: some Encodable, _ high: some Encodable) -> QueryTerm<Bool, Level> {
        between(constant(low), constant(high), isNegated: false)
    }

    /// `NOT BETWEEN low AND high`: below the one or above the other.
    public func isNotBetween(_ low: some Encodable, _ high: some Encodable) -> QueryTerm<Bool, Level> {
        between(constant(low), constant(high), isNegated: true)
    }

    /// Whether it is one of the values.
    public func isIn(_ values: [some Encodable]) -> QueryTerm<Bool, Level> { membership(in: values, isNegated: false) }

    /// Whether it is none of the values.
    public func isNotIn(_ values: [some Encodable]) -> QueryTerm<Bool, Level> {
        membership(in: values, isNegated: true)
    }
}

// What a value is, and among which it is.
extension QueryTerm {
    func membership(in values: [some Encodable], isNegated: Bool) -> QueryTerm<Bool, Level> {
        let (array, valueFault) = constant(values)
        return QueryTerm<Bool, Level>(.membership(expression, in: array, isNegated: isNegated), fault ?? valueFault)
    }

    /// Whether it is one of the values.
    public func isIn(_ values: [Value]) -> QueryTerm<Bool, Level> where Value: Encodable {
        membership(in: values, isNegated: false)
    }

    /// Whether it is none of the values.
    public func isNotIn(_ values: [Value]) -> QueryTerm<Bool, Level> where Value: Encodable {
        membership(in: values, isNegated: true)
    }

    /// Whether it is an element of an array that a row has.
    public func isIn<Values: QueryArray>(
        _ array: QueryTerm<Values, Level>
    ) -> QueryTerm<Bool, Level> where Values.QueryElement == Value {
        QueryTerm<Bool, Level>(
            .membership(expression, in: array.expression, isNegated: false), fault ?? array.fault)
    }

    private func test(_ test: ValueTest, isNegated: Bool = false) -> QueryTerm<Bool, Level> {
        QueryTerm<Bool, Level>(.test(expression, test, isNegated: isNegated), fault)
    }

    /// Whether it is NULL; unknown where it is missing.
    public var isNull: QueryTerm<Bool, Level> { test(.null) }

    /// Whether it is not NULL; unknown where it is missing.
    public var isNotNull: QueryTerm<Bool, Level> { test(.null, isNegated: true) }

    /// Whether it is missing.
    public var isMissing: QueryTerm<Bool, Level> { test(.missing) }

    /// Whether it is there, if only as NULL.
    public var isNotMissing: QueryTerm<Bool, Level> { test(.missing, isNegated: true) }
    /// Whether it is neither missing nor NULL.
    public var isValued: QueryTerm<Bool, Level> { test(.valued) }

    /// Whether it is missing or NULL.
    public var isNotValued: QueryTerm<Bool, Level> { test(.valued, isNegated: true) }
}
