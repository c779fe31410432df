/// An aggregate that takes the values of its group one after the other.
package struct AggregateAccumulator {
    private let function: AggregateFunction
    private let isDistinct: Bool
    private let collation: QueryCollation
    private var seen: Set<ValueKey> = []
    private var values: [QueryValue] = []
    /// The least or the greatest so far, the first of those that are the same.
    private var best: QueryValue?
    private var sum = NumberSum()
    private var bytes = 0

    package init(_ kind: AggregateKind) {
        function = kind.function
        isDistinct = kind.isDistinct
        collation = kind.collation
    }

    /// - Parameter size: the bytes of the value's JSON.
    /// - Throws: `QueryError` where all values together take more room than a document has.
    package mutating func add(_ value: QueryValue, size: Int) throws(QueryError) {
        switch function {
        case .minimum: return keep(value, where: .less)
        case .maximum: return keep(value, where: .greater)
        case .count, .sum, .average, .arrayAggregate: break
        }
        if isDistinct, !seen.insert(ValueKey(collation.folded(value))).inserted { return }
        let isKept = function != .sum && function != .average
        if isKept || isDistinct {
            bytes += size
            if bytes > QueryLimits.stringBytes {
                throw .running(
                    "\(function.rawValue) takes values of more than \(QueryLimits.stringBytes) bytes in one group")
            }
        }
        if isKept { values.append(value) } else { sum.add(value) }
    }

    private mutating func keep(_ value: QueryValue, where order: ValueOrder) {
        if value.isValued, best.map({ value.order(to: $0) == order }) ?? true { best = value }
    }

    package var value: QueryValue {
        switch function {
        case .sum: sum.sum
        case .average: sum.average
        case .minimum, .maximum: best ?? .null
        default: AggregateValue.of(function, values)
        }
    }
}

/// What an aggregate is, as a number that stands in SQL.
package struct AggregateKind: Equatable, Sendable {
    package let function: AggregateFunction
    package let isDistinct: Bool
    package let collation: QueryCollation

    init(_ function: AggregateFunction, isDistinct: Bool, _ collation: QueryCollation) {
        self.function = function
        self.isDistinct = isDistinct
        self.collation = collation
    }

    package init?(code: Int) {
        let all = AggregateFunction.allCases
        guard all.indices.contains(code & 15) else { return nil }
        self.init(all[code & 15], isDistinct: code & 16 != 0, QueryCollation(code: code >> 5))
    }

    var code: Int {
        (AggregateFunction.allCases.firstIndex(of: function) ?? 0) | (isDistinct ? 16 : 0) | collation.code << 5
    }
}

extension QueryCollation {
    package init(code: Int) { self.init(ignoresCase: code & 1 != 0, ignoresDiacritics: code & 2 != 0) }

    var code: Int { (ignoresCase ? 1 : 0) | (ignoresDiacritics ? 2 : 0) }

    /// The key of a value as it is compared.
    package func folded(_ key: ValueKey) -> ValueKey {
        guard key.bytes.first == ValueKey.Tag.string, let value = key.value else { return key }
        return ValueKey(folded(value))
    }
}
