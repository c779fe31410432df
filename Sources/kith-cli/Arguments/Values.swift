import KithNode

/// Values of options, read.
enum Values {
    /// Milliseconds of `30s`, `15m`, `4h`, `2d`, `500ms`, within a range; a number alone is seconds.
    static func milliseconds(
        _ text: String, _ range: ClosedRange<Int64>, option: String
    ) throws(CommandError) -> Int64 {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let units: [String: Int64] = ["ms": 1, "": 1_000, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let number = Int64(digits), let unit = units[String(text.dropFirst(digits.count))],
            case let (product, overflow) = number.multipliedReportingOverflow(by: unit), !overflow
        else {
            throw .usage("\(option) \(Shown.name(text)) is no time; write it like 30s, 15m, 4h or 2d")
        }
        guard range.contains(product) else {
            let bounds = "\(Wording.time(range.lowerBound)) to \(Wording.time(range.upperBound))"
            throw .usage("\(option) \(Shown.name(text)): it may be from \(bounds)")
        }
        return product
    }

    /// A whole number within a range.
    static func number(_ text: String, _ range: ClosedRange<UInt64>, option: String) throws(CommandError) -> UInt64 {
        guard let number = UInt64(text), range.contains(number) else {
            let bounds =
                range.upperBound == .max
                ? "from \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
            throw .usage("\(option) \(Shown.name(text)) is no number \(bounds)")
        }
        return number
    }
}
