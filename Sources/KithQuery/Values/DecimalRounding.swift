import KithDocument

/// How a decimal is cut to fewer places.
enum DecimalRounding {
    case halfUp, halfEven
    /// Towards zero.
    case down
}

extension JSONNumber {
    /// The number with so many decimal places, rounded as the decimal that is written: 1.005 to two places is 1.01, whatever
    /// its double lies at.
    func rounded(places: Int, _ rule: DecimalRounding) -> JSONNumber {
        guard let decimal = DecimalText(canonical: Array(text.utf8)), decimal.sign != 0 else { return self }
        // Of the digits `0.DIGITS × 10^point` these are kept.
        let kept = decimal.point + places
        if kept >= decimal.digits.count { return self }
        if kept < 0 { return JSONNumber(0) }
        var digits = Array(decimal.digits[..<kept])
        var point = decimal.point
        if Self.goesUp(digits, rest: decimal.digits[kept...], rule) {
            var index = kept - 1
            while index >= 0, digits[index] == 0x39 {
                digits[index] = 0x30
                index -= 1
            }
            if index >= 0 {
                digits[index] += 1
            } else {
                digits.insert(0x31, at: 0)
                point += 1
            }
        }
        guard !digits.isEmpty else { return JSONNumber(0) }
        return Self.number(digits, point: point, isNegative: decimal.sign < 0)
    }

    private static func goesUp(_ digits: [UInt8], rest: ArraySlice<UInt8>, _ rule: DecimalRounding) -> Bool {
        guard let next = rest.first else { return false }
        switch rule {
        case .down: return false
        case .halfUp: return next >= 0x35
        case .halfEven:
            if next != 0x35 || rest.count > 1 { return next >= 0x35 }
            return (digits.last ?? 0x30) & 1 == 1
        }
    }

    private static func number(_ digits: [UInt8], point: Int, isNegative: Bool) -> JSONNumber {
        let plain = String(decoding: digits, as: UTF8.self)
        let sign = isNegative ? "-" : ""
        // Integers are exact, of any size.
        if point >= digits.count {
            let whole = plain.drop { $0 == "0" } + String(repeating: "0", count: point - digits.count)
            return whole.allSatisfy { $0 == "0" } ? JSONNumber(0) : JSONNumber(canonical: sign + whole)
        }
        return Double("\(sign)0.\(plain)e\(point)").flatMap { JSONNumber($0) } ?? JSONNumber(0)
    }
}
