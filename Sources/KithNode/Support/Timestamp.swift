import KithDocument

/// Times as text: RFC 3339 in UTC with milliseconds.
package enum Timestamp {
    /// `2026-11-30T12:34:56.789Z`. Times outside the years 0 to 9999 are moved to the ends.
    /// - Parameter milliseconds: since 1970.
    package static func text(ofMilliseconds milliseconds: Int64) -> String {
        let bounded = min(max(milliseconds, CivilDate.range.lowerBound), CivilDate.range.upperBound)
        guard let date = CivilDate(milliseconds: bounded) else { preconditionFailure("\(bounded) is within the years") }
        return "\(pad(date.year, 4))-\(pad(date.month, 2))-\(pad(date.day, 2))T\(pad(date.hour, 2)):"
            + "\(pad(date.minute, 2)):\(pad(date.second, 2)).\(pad(date.millisecond, 3))Z"
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
        var date = CivilDate(year: year, month: month, day: day)
        (date.hour, date.minute, date.second) = (hour, minute, second)
        let digits = bytes[19..<(bytes.count - 1)]
        if !digits.isEmpty {
            guard digits.first == UInt8(ascii: "."), digits.count > 1, number(digits.dropFirst().prefix(15)) != nil
            else {
                return nil
            }
            let three = digits.dropFirst().prefix(3)
            date.millisecond = number(three)! * [1, 100, 10, 1][three.count]
        }
        return date.milliseconds
    }

    private static func pad(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        var number = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return number
    }
}
