import KithDocument

// A number is 0.DIGITS × 10^point. The point comes first, in one byte where it is small; then two digits a byte, as
// 2 × digits + 1, the last ones without the 1. Below zero all these bytes are turned round.
extension ValueKey {
    /// A point from -56 to 56 is this byte and it.
    private static let middle: UInt8 = 0x80
    private static let nearPoints = -56...56
    /// Before the four bytes of a point below, and above.
    private static let farBelow: UInt8 = 0x10
    private static let farAbove: UInt8 = 0xF0

    static func append(_ number: JSONNumber, to bytes: inout [UInt8]) {
        guard let decimal = DecimalText(canonical: Array(number.text.utf8)) else {
            preconditionFailure("the text of a number is canonical JSON")
        }
        guard decimal.sign != 0 else { return bytes.append(Tag.zero) }
        bytes.append(decimal.sign < 0 ? Tag.negative : Tag.positive)
        let start = bytes.count
        append(point: decimal.point, to: &bytes)
        append(digits: decimal.digits, to: &bytes)
        if decimal.sign < 0 { for index in start..<bytes.count { bytes[index] = ~bytes[index] } }
    }

    private static func append(point: Int, to bytes: inout [UInt8]) { withPoint(point) { bytes.append($0) } }

    /// Hands on the bytes of a point one after the other.
    @inline(__always)
    static func withPoint(_ point: Int, _ put: (UInt8) -> Void) {
        if nearPoints.contains(point) { return put(UInt8(Int(middle) + point)) }
        put(point < 0 ? farBelow : farAbove)
        let biased = UInt32(clamping: point + (1 << 31))
        for shift in [24, 16, 8, 0] { put(UInt8(truncatingIfNeeded: biased >> UInt32(shift))) }
    }

    private static func append(digits: [UInt8], to bytes: inout [UInt8]) {
        for index in stride(from: 0, to: digits.count, by: 2) {
            let (tens, ones) = (digits[index] - 0x30, index + 1 < digits.count ? digits[index + 1] - 0x30 : 0)
            let isLast = index + 2 >= digits.count
            bytes.append(2 * (10 * tens + ones) + (isLast ? 0 : 1))
        }
    }

    /// Reads a number after its tag.
    static func readNumber(_ bytes: [UInt8], at position: inout Int, isNegative: Bool) -> JSONNumber? {
        var reader = NumberReader(bytes: bytes, position: position, mask: isNegative ? 0xFF : 0)
        guard let point = reader.readPoint(), let digits = reader.readDigits() else { return nil }
        position = reader.position
        return text(digits: digits, point: point, isNegative: isNegative).map { JSONNumber(canonical: $0) }
    }

    private struct NumberReader {
        let bytes: [UInt8]
        var position: Int
        let mask: UInt8

        mutating func next() -> UInt8? {
            guard position < bytes.count else { return nil }
            defer { position += 1 }
            return bytes[position] ^ mask
        }

        mutating func readPoint() -> Int? {
            guard let lead = next() else { return nil }
            if lead != ValueKey.farBelow, lead != ValueKey.farAbove {
                let point = Int(lead) - Int(ValueKey.middle)
                return ValueKey.nearPoints.contains(point) ? point : nil
            }
            var biased = 0
            for _ in 0..<4 {
                guard let byte = next() else { return nil }
                biased = biased << 8 | Int(byte)
            }
            let point = biased - (1 << 31)
            if ValueKey.nearPoints.contains(point) || (point < 0) != (lead == ValueKey.farBelow) { return nil }
            return point
        }

        /// In ASCII, without zeros at either end.
        mutating func readDigits() -> [UInt8]? {
            var digits: [UInt8] = []
            while let byte = next() {
                let pair = byte / 2
                guard pair < 100, !digits.isEmpty || pair >= 10 else { return nil }
                digits.append(0x30 + pair / 10)
                digits.append(0x30 + pair % 10)
                guard byte & 1 == 0 else { continue }
                if pair == 0 { return nil }
                if digits.last == 0x30 { digits.removeLast() }
                return digits
            }
            return nil
        }
    }

    /// The canonical text of the number. Beyond 21 digits an integer and a double can be one number with two texts; it
    /// is the double's where there is one.
    private static func text(digits: [UInt8], point: Int, isNegative: Bool) -> String? {
        let sign = isNegative ? "-" : ""
        let plain = String(decoding: digits, as: UTF8.self)
        if point >= digits.count, point <= 21 {
            return sign + plain + String(repeating: "0", count: point - digits.count)
        }
        let short = "\(sign)0.\(plain)e\(point)"
        // The text of a double has 17 digits at most.
        if digits.count <= 17, let double = Double(short), let number = JSONNumber(double),
            DecimalText(canonical: Array(number.text.utf8)).map({ $0.digits == digits && $0.point == point }) == true
        {
            return number.text
        }
        guard point >= digits.count, point <= QueryLimits.keyDigits else { return nil }
        return sign + plain + String(repeating: "0", count: point - digits.count)
    }
}
