import KithDocument

/// How two values stand to each other.
package enum ValueOrder: Int, Sendable {
    case less = -1
    case equal = 0
    case greater = 1

    /// Of two things that have an order of their own.
    init<Value: Comparable>(_ left: Value, _ right: Value) {
        self = left < right ? .less : left == right ? .equal : .greater
    }

    /// The other way round.
    package var reversed: ValueOrder {
        switch self {
        case .less: .greater
        case .equal: .equal
        case .greater: .less
        }
    }
}

extension QueryValue: Comparable {
    package static func == (left: Self, right: Self) -> Bool { left.order(to: right) == .equal }

    package static func < (left: Self, right: Self) -> Bool { left.order(to: right) == .less }

    /// The one order over all values.
    /// - Complexity: O(n) in the shorter of the two.
    package func order(to other: QueryValue) -> ValueOrder {
        switch (self, other) {
        case (.bool(let mine), .bool(let its)): ValueOrder(mine ? 1 : 0, its ? 1 : 0)
        case (.number(let mine), .number(let its)): mine.order(to: its)
        case (.string(let mine), .string(let its)): mine.byteOrder(to: its)
        case (.array(let mine), .array(let its)): Self.order(of: mine, to: its)
        case (.object(let mine), .object(let its)): Self.order(of: mine, to: its)
        default: ValueOrder(rank, other.rank)
        }
    }

    private var rank: Int {
        switch self {
        case .missing: 0
        case .null: 1
        case .bool: 2
        case .number: 3
        case .string: 4
        case .array: 5
        case .object: 6
        }
    }

    private static func order(of mine: [JSONValue], to its: [JSONValue]) -> ValueOrder {
        for (one, other) in zip(mine, its) {
            let order = QueryValue(one).order(to: QueryValue(other))
            if order != .equal { return order }
        }
        return ValueOrder(mine.count, its.count)
    }

    private static func order(of mine: JSONObject, to its: JSONObject) -> ValueOrder {
        for (one, other) in zip(mine, its) {
            let keys = one.key.byteOrder(to: other.key)
            if keys != .equal { return keys }
            let values = QueryValue(one.value).order(to: QueryValue(other.value))
            if values != .equal { return values }
        }
        return ValueOrder(mine.count, its.count)
    }
}

extension String {
    /// The order of the UTF-8 bytes, in which NFC and NFD differ.
    package func byteOrder(to other: String) -> ValueOrder {
        var (one, two) = (self, other)
        return one.withUTF8 { mine in
            two.withUTF8 { its in
                for index in 0..<Swift.min(mine.count, its.count) where mine[index] != its[index] {
                    return ValueOrder(mine[index], its[index])
                }
                return ValueOrder(mine.count, its.count)
            }
        }
    }

    /// Whether the bytes are the same: `==` takes NFC and NFD for one.
    package func hasSameBytes(as other: String) -> Bool { byteOrder(to: other) == .equal }
}

extension JSONNumber {
    /// The order of the decimals that are written, of any size and never rounded to doubles.
    package func order(to other: JSONNumber) -> ValueOrder {
        if text == other.text { return .equal }
        if let mine = integer, let its = other.integer { return ValueOrder(mine, its) }
        guard let mine = DecimalText(canonical: Array(text.utf8)),
            let its = DecimalText(canonical: Array(other.text.utf8))
        else { preconditionFailure("the text of a number is canonical JSON") }
        if mine.sign != its.sign { return ValueOrder(mine.sign, its.sign) }
        let magnitudes =
            mine.point != its.point ? ValueOrder(mine.point, its.point) : Self.order(of: mine.digits, to: its.digits)
        return mine.sign < 0 ? magnitudes.reversed : magnitudes
    }

    private static func order(of mine: [UInt8], to its: [UInt8]) -> ValueOrder {
        mine == its ? .equal : mine.precedes(its) ? .less : .greater
    }
}
