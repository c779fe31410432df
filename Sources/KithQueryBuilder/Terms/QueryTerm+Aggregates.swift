import KithQuery

// Aggregates: one value of all the rows of a group. What is missing or NULL is left out.
extension QueryTerm where Level == RowLevel {
    private func aggregate<Result>(_ function: AggregateFunction, _ isDistinct: Bool) -> GroupTerm<Result> {
        GroupTerm<Result>(.aggregate(function, expression, isDistinct: isDistinct), fault)
    }

    /// How many rows have a value of it.
    public func counted(distinct: Bool = false) -> GroupTerm<Int> { aggregate(.count, distinct) }

    /// All values, in no order that is promised.
    public func collected(distinct: Bool = false) -> GroupTerm<[Value]> { aggregate(.arrayAggregate, distinct) }

    /// The least in the order of values; NULL where there are none.
    public func minimum() -> GroupTerm<Value> where Value: QueryOrdered { aggregate(.minimum, false) }

    /// The greatest in the order of values; NULL where there are none.
    public func maximum() -> GroupTerm<Value> where Value: QueryOrdered { aggregate(.maximum, false) }
    /// 0 where there are none.
    public func sum(distinct: Bool = false) -> GroupTerm<Value> where Value: QueryNumber { aggregate(.sum, distinct) }
    /// NULL where there are none.
    public func average(distinct: Bool = false) -> GroupTerm<Double?> where Value: QueryNumber {
        aggregate(.average, distinct)
    }
}

extension QueryTerm where Value == DynamicValue, Level == RowLevel {
    /// `COUNT(*)`: how many rows a group has.
    public static var rowCount: GroupTerm<Int> { GroupTerm<Int>(.aggregate(.count, nil, isDistinct: false), nil) }
}
