import KithDocument
import KithQuery
import KithTestSupport

/// How CouchDB matches selectors, once more and plainly: `$not` is carried down to operators, and a field that is not
/// there fits `{"$exists": false}` alone.
enum MangoModel {
    static func matches(_ selector: JSONValue, _ value: JSONValue?) -> Bool {
        fits(selector, value, isNegated: false, isDocument: true)
    }

    private static func fits(_ selector: JSONValue, _ value: JSONValue?, isNegated: Bool, isDocument: Bool = false)
        -> Bool
    {
        guard case .object(let members) = selector, !members.isEmpty || isDocument else {
            return operation("$eq", selector, value, isNegated)
        }
        if members.isEmpty { return true }
        let results = members.map { key, argument in
            if key.hasPrefix("$") { return operation(key, argument, value, isNegated) }
            let inner: JSONValue? = if case .object(let object)? = value { object[key] } else { nil }
            return fits(argument, inner, isNegated: isNegated)
        }
        return isNegated ? results.contains(true) : results.allSatisfy { $0 }
    }

    private static func operation(_ name: String, _ argument: JSONValue, _ value: JSONValue?, _ isNegated: Bool) -> Bool
    {
        switch name {
        case "$and", "$or", "$nor":
            let list = argument.array!
            if list.isEmpty { return true }
            let results = list.map {
                fits($0, value, isNegated: isNegated != (name == "$nor"), isDocument: $0 == [:])
            }
            let isAny = name == "$or" ? !isNegated : isNegated
            return isAny ? results.contains(true) : results.allSatisfy { $0 }
        case "$not": return fits(argument, value, isNegated: !isNegated)
        case "$exists": return (value != nil) == (argument.bool! != isNegated)
        default:
            guard let value else { return false }
            return plain(name, argument, value) != isNegated
        }
    }

    private static func plain(_ name: String, _ argument: JSONValue, _ value: JSONValue) -> Bool {
        let order = ValueModel.order(QueryValue(value), QueryValue(argument))
        func equal(_ one: JSONValue, _ other: JSONValue) -> Bool {
            ValueModel.order(QueryValue(one), QueryValue(other)) == 0
        }
        switch name {
        case "$eq": return order == 0
        case "$ne": return order != 0
        case "$lt": return order < 0
        case "$lte": return order <= 0
        case "$gt": return order > 0
        case "$gte": return order >= 0
        case "$in", "$nin":
            let isIn = argument.array!.contains { wanted in
                equal(wanted, value) || (value.array ?? []).contains { equal($0, wanted) }
            }
            return isIn == (name == "$in")
        case "$size": return value.array.map { $0.count == argument.integer! } ?? false
        case "$type": return QueryValue(value).typeName == argument.string!
        case "$mod":
            guard let number = value.number else { return false }
            let (divisor, rest) = (argument.array![0].integer!, argument.array![1].integer!)
            return number.integer.map { $0 % divisor == rest }
                ?? (number.double.truncatingRemainder(dividingBy: Double(divisor)) == Double(rest))
        case "$beginsWith": return value.string.map { $0.utf8.starts(with: argument.string!.utf8) } ?? false
        case "$all":
            guard let array = value.array, let wanted = argument.array, !wanted.isEmpty else { return false }
            return wanted.allSatisfy { one in array.contains { equal($0, one) } }
                || (wanted.count == 1 && wanted[0].array != nil && equal(wanted[0], value))
        case "$elemMatch": return (value.array ?? []).contains { fits(argument, $0, isNegated: false) }
        case "$allMatch":
            guard let array = value.array, !array.isEmpty else { return false }
            return array.allSatisfy { fits(argument, $0, isNegated: false) }
        case "$keyMapMatch":
            return (value.object?.keys ?? []).contains { fits(argument, .string($0), isNegated: false) }
        default: preconditionFailure(name)
        }
    }
}

/// Selectors and bodies drawn from a seed.
struct RandomSelectors {
    var values: RandomValues

    init(seed: UInt64) { values = RandomValues(seed: seed) }

    private static let small: [JSONValue] = [
        .null, true, 0, 1, 2, 7, "", "a", "ab", [], [1], ["a", 1], [.null], [:], ["a": 1], ["b": [1, 2]],
    ]

    mutating func small() -> JSONValue {
        values.random.chance(1, in: 8) ? values.json(depth: 1) : values.random.pick(Self.small)
    }

    mutating func body() -> JSONValue {
        .object(
            JSONObject(
                ["a", "b", "c"].filter { _ in values.random.chance(3, in: 4) }.map { key in
                    (key, values.random.chance(1, in: 3) ? ["a": small(), "b": .array([small(), small()])] : small())
                }))
    }

    mutating func list(_ depth: Int) -> JSONValue {
        .array((0..<values.random.below(3)).map { _ in selector(depth: depth) })
    }

    mutating func selector(depth: Int) -> JSONValue {
        switch values.random.below(depth > 0 ? 8 : 4) {
        case 0: [values.random.pick(["$and", "$or", "$nor"]): list(depth - 1)].json
        case 1 where depth > 0: ["$not": selector(depth: depth - 1)].json
        case 2: [values.random.pick(["a", "b"]): condition(depth - 1), "c": condition(depth - 1)].json
        default: [values.random.pick(["a", "b", "c"]): condition(depth - 1)].json
        }
    }

    mutating func condition(_ depth: Int) -> JSONValue {
        if depth > 0 {
            switch values.random.below(8) {
            case 0: return ["a": condition(depth - 1)]
            case 1: return ["$not": [operatorName(): small()].json]
            case 2:
                return [
                    values.random.pick(["$elemMatch", "$allMatch", "$keyMapMatch"]): [operatorName(): small()].json
                ].json
            case 3: return [values.random.pick(["$and", "$or", "$nor"]): [["$gt": small()], ["$lt": small()]]].json
            case 4: return ["$not": special()]
            default: break
            }
        }
        return values.random.chance(1, in: 3)
            ? special() : values.random.chance(1, in: 4) ? plain() : [operatorName(): small()].json
    }

    /// A value to be equal to that does not look like operators.
    private mutating func plain() -> JSONValue { small() }

    private mutating func operatorName() -> String { values.random.pick(["$eq", "$ne", "$lt", "$lte", "$gt", "$gte"]) }

    private mutating func special() -> JSONValue {
        switch values.random.below(7) {
        case 0: ["$exists": .bool(values.random.chance(1, in: 2))]
        case 1: ["$type": .string(values.random.pick(["null", "boolean", "number", "string", "array", "object"]))]
        case 2: [values.random.pick(["$in", "$nin"]): .array((0..<values.random.below(3)).map { _ in small() })].json
        case 3: ["$size": .number(values.random.below(3))]
        case 4: ["$mod": [.number(values.random.pick([2, 3, -2])), .number(values.random.below(2))]]
        case 5: ["$beginsWith": .string(values.random.pick(["", "a", "ab"]))]
        default: ["$all": .array((0..<values.random.below(3)).map { _ in small() })]
        }
    }
}

extension [String: JSONValue] {
    fileprivate var json: JSONValue { .object(JSONObject(sorted { $0.key < $1.key }.map { ($0.key, $0.value) })) }
}
