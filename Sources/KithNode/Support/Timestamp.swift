/// Times as text: RFC 3339 in UTC with milliseconds.
package enum Timestamp {
    /// `2026-11-30T12:34:56.789Z`. Times outside the years 0 to 9999 are moved to the ends.
    /// - Parameter milliseconds: since 1970.
    package static func text(ofMilliseconds milliseconds: Int64) -> String {
        let bounded = min(max(milliseconds, earliest), latest)
        let days = bounded.flooredQuotient(86_400_000)
        let rest = bounded - days * 86_400_000
        let (year, month, day) = date(ofDay: days)
        return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T\(pad(rest / 3_600_000, 2)):"
            + "\(pad(rest / 60_000 % 60, 2)):\(pad(rest / 1_000 % 60, 2)).\(pad(rest % 1_000, 3))Z"
    }

    /// Milliseconds since 1970; nil unless the text is a UTC time of RFC 3339 that ends with `Z`.
    package static func milliseconds(of text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.count <= 40, bytes.last == UInt8(ascii: "Z") else { return nil }
        for (index, separator) in zip([4, 7, 10, 13, 16], "--T::".utf8) where bytes[index] != separator { return nil }
        guard let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
            let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61
        else { return nil }
        var fraction: Int64 = 0
        let digits = bytes[19..<(bytes.count - 1)]
        if !digits.isEmpty {
            guard digits.first == UInt8(ascii: "."), digits.count > 1, number(digits.dropFirst().prefix(15)) != nil
            else {
                return nil
            }
            let three = digits.dropFirst().prefix(3)
            fraction = number(three)! * [1, 100, 10, 1][three.count]
        }
        let time = ((Self.day(ofDate: year, month, day) * 24 + hour) * 60 + minute) * 60 + second
        return time * 1_000 + fraction
    }

    private static let earliest: Int64 = -62_167_219_200_000
    private static let latest: Int64 = 253_402_300_799_999

    private static func pad(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }

    // The Gregorian calendar is counted in eras of 400 years that begin in March, so that the leap day comes last.

    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = shifted.flooredQuotient(146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func day(ofDate year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year.flooredQuotient(400)
        let yearOfEra = year - era * 400
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension Int64 {
    fileprivate func flooredQuotient(_ divisor: Int64) -> Int64 {
        self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor)
    }
}
