import KithDocument
import KithQuery

/// The order of values once more, slow and plain: what the tests compare with.
enum ValueModel {
    static func order(_ left: QueryValue, _ right: QueryValue) -> Int {
        let ranks = [left, right].map {
            ["missing", "null", "boolean", "number", "string", "array", "object"].firstIndex(of: $0.typeName)!
        }
        if ranks[0] != ranks[1] { return ranks[0] < ranks[1] ? -1 : 1 }
        switch (left, right) {
        case (.bool(let one), .bool(let two)): return one == two ? 0 : one ? 1 : -1
        case (.number(let one), .number(let two)): return order(numbers: one.text, two.text)
        case (.string(let one), .string(let two)):
            return order(Array(one.utf8).map(Int.init), Array(two.utf8).map(Int.init))
        case (.array(let one), .array(let two)): return order(one.map { QueryValue($0) }, two.map { QueryValue($0) })
        case (.object(let one), .object(let two)):
            return order(
                one.flatMap { [.string($0.key), QueryValue($0.value)] },
                two.flatMap { [.string($0.key), QueryValue($0.value)] })
        default: return 0
        }
    }

    private static func order(_ one: [QueryValue], _ two: [QueryValue]) -> Int {
        for (left, right) in zip(one, two) where order(left, right) != 0 { return order(left, right) }
        return one.count < two.count ? -1 : one.count > two.count ? 1 : 0
    }

    private static func order(_ one: [Int], _ two: [Int]) -> Int {
        for (left, right) in zip(one, two) where left != right { return left < right ? -1 : 1 }
        return one.count < two.count ? -1 : one.count > two.count ? 1 : 0
    }

    /// Both written out with all zeros, to the same length.
    private static func order(numbers one: String, _ two: String) -> Int {
        let (left, right) = (written(one), written(two))
        let zero = left.whole.allSatisfy { $0 == "0" } && left.rest.allSatisfy { $0 == "0" }
        let otherZero = right.whole.allSatisfy { $0 == "0" } && right.rest.allSatisfy { $0 == "0" }
        let (sign, otherSign) = (zero ? 0 : left.isNegative ? -1 : 1, otherZero ? 0 : right.isNegative ? -1 : 1)
        if sign != otherSign { return sign < otherSign ? -1 : 1 }
        let (whole, rest) = (max(left.whole.count, right.whole.count), max(left.rest.count, right.rest.count))
        func padded(_ number: (isNegative: Bool, whole: String, rest: String)) -> [UInt8] {
            Array(
                (String(repeating: "0", count: whole - number.whole.count) + number.whole + number.rest
                    + String(repeating: "0", count: rest - number.rest.count)).utf8)
        }
        let (mine, its) = (padded(left), padded(right))
        if mine == its { return 0 }
        return (mine.lexicographicallyPrecedes(its) ? -1 : 1) * sign
    }

    private static func written(_ text: String) -> (isNegative: Bool, whole: String, rest: String) {
        let isNegative = text.hasPrefix("-")
        let parts = text.drop { $0 == "-" }.split(separator: "e")
        let exponent = parts.count > 1 ? Int(parts[1])! : 0
        let pieces = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        var (whole, rest) = (String(pieces[0]), pieces.count > 1 ? String(pieces[1]) : "")
        for _ in 0..<max(exponent, 0) {
            whole.append(rest.isEmpty ? "0" : rest.removeFirst())
        }
        for _ in 0..<max(-exponent, 0) {
            rest.insert(whole.isEmpty ? "0" : whole.removeLast(), at: rest.startIndex)
        }
        return (isNegative, whole, rest)
    }
}
