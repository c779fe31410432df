/// A number by its canonical text, compared exactly: as the decimal that is written, of any size and never as a double.
///
/// So `1e+23` is ten to the 23rd, above the integer of 23 nines, although the double of that text lies a little below.
/// Of two texts of one number (`1e+21` and the integer) the one that is higher in byte order is the higher.
package struct DecimalText: Comparable, Sendable {
    /// Canonical JSON.
    package let text: [UInt8]
    /// -1, 0 or 1.
    package let sign: Int
    /// The significant digits in ASCII, without zeros at either end: the number is `0.DIGITS × 10^point`.
    package let digits: [UInt8]
    /// 0 for zero.
    package let point: Int

    /// Nil for what is no number.
    /// - Parameter text: canonical JSON.
    /// - Complexity: O(n).
    package init?(canonical text: [UInt8]) {
        guard Self.isNumber(text) else { return nil }
        let isNegative = text[0] == .minus
        let mark = text.firstIndex { $0.isExponentMark } ?? text.endIndex
        let mantissa = text[(isNegative ? 1 : 0)..<mark]
        let exponent = Int(String(decoding: text[mark...].dropFirst(), as: UTF8.self)) ?? 0
        let whole = mantissa.prefix { $0 != .point }.count
        let all = mantissa.filter { $0 != .point }
        let zeros = all.prefix { $0 == .zero }.count
        let end = all.lastIndex { $0 != .zero }.map { $0 + 1 } ?? zeros
        self.text = text
        digits = Array(all[zeros..<end])
        sign = digits.isEmpty ? 0 : isNegative ? -1 : 1
        point = digits.isEmpty ? 0 : whole - zeros + exponent
    }

    /// Whether a canonical value is a number.
    package static func isNumber(_ canonical: [UInt8]) -> Bool {
        canonical.first.map { $0 == .minus || $0.isDigit } ?? false
    }

    package static func == (left: Self, right: Self) -> Bool { left.text == right.text }

    package static func < (left: Self, right: Self) -> Bool {
        if left.sign != right.sign { return left.sign < right.sign }
        let (small, large) = left.sign < 0 ? (right, left) : (left, right)
        if small.point != large.point { return small.point < large.point }
        if small.digits != large.digits { return small.digits.precedes(large.digits) }
        return left.text.precedes(right.text)
    }
}
