import KithQuery

extension QueryTerm where Value: QueryNumber {
    func sum(
        _ operation: ArithmeticOperator, _ other: (expression: QueryExpression, fault: QueryBuilderError?)
    ) -> Self {
        let term = ArithmeticTerm(operation, other.expression)
        if case .sum(let first, let terms) = expression.kind {
            return Self(.sum(first, terms + [term]), fault ?? other.fault)
        }
        return Self(.sum(expression, [term]), fault ?? other.fault)
    }

    func product<Result>(
        _ operation: ArithmeticOperator, _ other: (expression: QueryExpression, fault: QueryBuilderError?),
        as type: Result.Type = Value.self
    ) -> QueryTerm<Result, Level> {
        let term = ArithmeticTerm(operation, other.expression)
        if case .product(let first, let terms) = expression.kind {
            return QueryTerm<Result, Level>(.product(first, terms + [term]), fault ?? other.fault)
        }
        return QueryTerm<Result, Level>(.product(expression, [term]), fault ?? other.fault)
    }

    private var part: (expression: QueryExpression, fault: QueryBuilderError?) { (expression, fault) }

    /// `a + b`.
    public static func + (left: Self, right: Self) -> Self { left.sum(.plus, right.part) }

    /// `a - b`.
    public static func - (left: Self, right: Self) -> Self { left.sum(.minus, right.part) }

    /// `a * b`.
    public static func * (left: Self, right: Self) -> Self { left.product(.times, right.part) }

    /// `a % b`: the remainder; NULL where it is divided by zero.
    public static func % (left: Self, right: Self) -> Self { left.product(.remainder, right.part) }
    /// A fraction, also of integers; NULL where it is divided by zero.
    public static func / (left: Self, right: Self) -> QueryTerm<Double, Level> { left.product(.divided, right.part) }

    /// `a + b`.
    public static func + (left: Self, right: Value) -> Self where Value: Encodable { left.sum(.plus, constant(right)) }

    /// `a - b`.
    public static func - (left: Self, right: Value) -> Self where Value: Encodable { left.sum(.minus, constant(right)) }

    /// `a * b`.
    public static func * (left: Self, right: Value) -> Self where Value: Encodable {
        left.product(.times, constant(right))
    }

    /// `a % b`: the remainder; NULL where it is divided by zero.
    public static func % (left: Self, right: Value) -> Self where Value: Encodable {
        left.product(.remainder, constant(right))
    }

    /// `a / b`: a fraction, also of integers; NULL where it is divided by zero.
    public static func / (left: Self, right: Value) -> QueryTerm<Double, Level> where Value: Encodable {
        left.product(.divided, constant(right))
    }

    /// `-a`.
    public static prefix func - (operand: Self) -> Self { Self(.negation(operand.expression), operand.fault) }
}

extension QueryTerm where Value == DynamicValue {
    /// `a + b`.
    public static func + (left: Self, right: some QueryNumber & Encodable) -> Self { left.sum(.plus, constant(right)) }

    /// `a - b`.
    public static func - (left: Self, right: some QueryNumber & Encodable) -> Self { left.sum(.minus, constant(right)) }

    /// `a * b`.
    public static func * (left: Self, right: some QueryNumber & Encodable) -> Self {
        left.product(.times, constant(right))
    }

    /// `a % b`: the remainder; NULL where it is divided by zero.
    public static func % (left: Self, right: some QueryNumber & Encodable) -> Self {
        left.product(.remainder, constant(right))
    }

    /// `a / b`: a fraction, also of integers; NULL where it is divided by zero.
    public static func / (left: Self, right: some QueryNumber & Encodable) -> QueryTerm<Double, Level> {
        left.product(.divided, constant(right))
    }
}
