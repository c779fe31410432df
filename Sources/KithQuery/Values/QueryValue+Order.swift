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
        var cursors: [Cursor] = []
        var order = Self.order(self, other, within: &cursors)
        // A stack of its own, since documents decide how deep it goes.
        while order == .equal, let cursor = cursors.popLast() {
            switch cursor {
            case .arrays(let mine, let its):
                guard let one = mine.first, let two = its.first else {
                    order = ValueOrder(mine.count, its.count)
                    break
                }
                cursors.append(.arrays(mine.dropFirst(), its.dropFirst()))
                order = Self.order(QueryValue(one), QueryValue(two), within: &cursors)
            case .objects(let mine, let its):
                guard let one = mine.first, let two = its.first else {
                    order = ValueOrder(mine.count, its.count)
                    break
                }
                cursors.append(.objects(mine.dropFirst(), its.dropFirst()))
                order = one.key.byteOrder(to: two.key)
                if order == .equal {
                    order = Self.order(QueryValue(one.value), QueryValue(two.value), within: &cursors)
                }
            }
        }
        return order
    }

    /// What is still to be compared of two arrays or objects.
    private enum Cursor {
        case arrays(ArraySlice<JSONValue>, ArraySlice<JSONValue>)
        case objects(Slice<JSONObject>, Slice<JSONObject>)
    }

    /// The order of two values; of arrays and objects that of what is added to the cursors.
    private static func order(_ one: QueryValue, _ other: QueryValue, within cursors: inout [Cursor]) -> ValueOrder {
        switch (one, other) {
        case (.bool(let mine), .bool(let its)): return ValueOrder(mine ? 1 : 0, its ? 1 : 0)
        case (.number(let mine), .number(let its)): return mine.order(to: its)
        case (.string(let mine), .string(let its)): return mine.byteOrder(to: its)
        case (.array(let mine), .array(let its)): cursors.append(.arrays(mine[...], its[...]))
        case (.object(let mine), .object(let its)): cursors.append(.objects(mine[...], its[...]))
        default: return ValueOrder(one.rank, other.rank)
        }
        return .equal
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
