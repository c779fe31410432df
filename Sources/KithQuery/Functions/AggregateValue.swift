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
    static func sum(of values: [QueryValue]) -> QueryValue {
        // Exact while it can be, and the same in whatever order the integers come.
        var integers: Int128 = 0
        var rest: JSONNumber?
        for number in values.lazy.compactMap(\.number) {
            if let integer = number.integer {
                integers += Int128(integer)
            } else {
                guard case .number(let sum) = Arithmetic.apply(.plus, rest ?? JSONNumber(0), number) else {
                    return .null
                }
                rest = sum
            }
        }
        let whole = Int64(exactly: integers).map { QueryValue.number($0) } ?? .number(Double(integers))
        guard let rest, let whole = whole.number else { return whole }
        return Arithmetic.apply(.plus, whole, rest)
    }

    /// Of the numbers; NULL where there are none.
    static func average(of values: [QueryValue]) -> QueryValue {
        let count = values.count { $0.number != nil }
        guard count > 0, case .number(let sum) = sum(of: values) else { return .null }
        return Arithmetic.apply(.divided, sum, JSONNumber(count))
    }

    static func least(of values: [QueryValue]) -> QueryValue { values.filter(\.isValued).min() ?? .null }

    static func greatest(of values: [QueryValue]) -> QueryValue { values.filter(\.isValued).max() ?? .null }
}
