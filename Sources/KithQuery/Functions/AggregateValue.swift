import KithDocument

/// What aggregates make of the values of a group, NULL and MISSING apart.
enum AggregateValue {
    static func of(_ function: AggregateFunction, _ values: [QueryValue]) -> QueryValue {
        switch function {
        case .count: .number(values.count { $0.isValued })
        case .sum: sum(of: values)
        case .average: average(of: values)
        case .minimum: least(of: values)
        case .maximum: greatest(of: values)
        case .arrayAggregate: .array(values.compactMap(\.json))
        }
    }

    /// Of the numbers; 0 where there are none.
    static func sum(of values: [QueryValue]) -> QueryValue { NumberSum(values).sum }

    /// Of the numbers; NULL where there are none.
    static func average(of values: [QueryValue]) -> QueryValue { NumberSum(values).average }

    static func least(of values: [QueryValue]) -> QueryValue { values.filter(\.isValued).min() ?? .null }

    static func greatest(of values: [QueryValue]) -> QueryValue { values.filter(\.isValued).max() ?? .null }
}

/// The sum of numbers that come one after the other: exact while it can be, and the same in whatever order integers come.
struct NumberSum {
    private var integers: Int128 = 0
    /// Of the numbers that are no integers of 64 bits.
    private var rest: JSONNumber?
    private var count = 0
    private var isBeyond = false

    init() {}

    init(_ values: [QueryValue]) { for value in values { add(value) } }

    /// What is no number does not count.
    mutating func add(_ value: QueryValue) {
        guard case .number(let number) = value else { return }
        count += 1
        if let integer = number.integer {
            integers += Int128(integer)
        } else if case .number(let sum) = Arithmetic.apply(.plus, rest ?? JSONNumber(0), number) {
            rest = sum
        } else {
            isBeyond = true
        }
    }

    /// 0 where there are none; NULL where it would be infinite.
    var sum: QueryValue {
        if isBeyond { return .null }
        let whole = Int64(exactly: integers).map { QueryValue.number($0) } ?? .number(Double(integers))
        guard let rest, let whole = whole.number else { return whole }
        return Arithmetic.apply(.plus, whole, rest)
    }

    /// NULL where there are none.
    var average: QueryValue {
        guard count > 0, case .number(let sum) = sum else { return .null }
        return Arithmetic.apply(.divided, sum, JSONNumber(count))
    }
}
