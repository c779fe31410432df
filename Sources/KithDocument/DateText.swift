/// A date as text: RFC 3339 and the forms of ISO 8601 near it. What a form leaves out is zero, and without an offset the
/// time is UTC.
///
///     2026-11-30T16:54:32.123Z   2026-11-30T16:54:32+02:00   2026-11-30 16:54:32   2026-11-30T16:54   2026-11-30
package struct DateText: Sendable {
    /// How it was written.
    package struct Form: Equatable, Sendable {
        /// Between date and time; nil without a time.
        package var separator: Character?
        package var hasSeconds = true
        /// 0 to 3.
        package var fractionDigits = 0
        package var hasOffset = true

        /// As the functions write where nothing else was asked for.
        package static let standard = Form(separator: "T", fractionDigits: 3)
    }

    /// Since 1970, UTC.
    package let milliseconds: Int64
    /// Minutes that the clock there is ahead of UTC.
    package let offset: Int
    package let form: Form

    /// Nil for what is no such text.
    package init?(_ text: String) {
        var reader = DigitReader(Array(text.utf8))
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2)
        else { return nil }
        var date = CivilDate(year: year, month: month, day: day)
        var form = Form(separator: nil, hasSeconds: false, hasOffset: false)
        var offset = 0
        if !reader.isAtEnd {
            guard let separator = reader.takeOne(of: "Tt ") else { return nil }
            form.separator = separator == " " ? " " : "T"
            guard let hour = reader.number(2), reader.take(":"), let minute = reader.number(2) else { return nil }
            (date.hour, date.minute) = (hour, minute)
            if reader.take(":") {
                guard let second = reader.number(2) else { return nil }
                date.second = second
                form.hasSeconds = true
                if reader.take(".") {
                    guard let fraction = reader.fraction() else { return nil }
                    (date.millisecond, form.fractionDigits) = (fraction.milliseconds, min(fraction.digits, 3))
                }
            }
            if let found = reader.offset() {
                offset = found
                form.hasOffset = true
            }
        }
        guard reader.isAtEnd, date.isValid else { return nil }
        let milliseconds = date.milliseconds - Int64(offset) * 60_000
        guard CivilDate.range.contains(milliseconds) else { return nil }
        (self.milliseconds, self.offset, self.form) = (milliseconds, offset, form)
    }

    /// The text of a time; nil beyond the years 0 to 9999.
    package static func text(_ milliseconds: Int64, offset: Int = 0, form: Form = .standard) -> String? {
        guard let date = CivilDate(milliseconds: milliseconds + Int64(offset) * 60_000) else { return nil }
        var text = "\(digits(date.year, 4))-\(digits(date.month, 2))-\(digits(date.day, 2))"
        guard let separator = form.separator else { return text }
        text += "\(separator)\(digits(date.hour, 2)):\(digits(date.minute, 2))"
        if form.hasSeconds { text += ":\(digits(date.second, 2))" }
        if form.fractionDigits > 0 { text += "." + digits(date.millisecond, 3).prefix(form.fractionDigits) }
        return form.hasOffset ? text + self.text(offset: offset) : text
    }

    private static func text(offset: Int) -> String {
        if offset == 0 { return "Z" }
        return "\(offset < 0 ? "-" : "+")\(digits(abs(offset) / 60, 2)):\(digits(abs(offset) % 60, 2))"
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }

    /// The form that a format names: an example of a date, or letters such as `YYYY-MM-DDThh:mm:ss.sTZD`.
    package static func form(_ format: String) -> Form? {
        var format = format
        var hasZone = false
        if format.hasSuffix("TZD") {
            format.removeLast(3)
            hasZone = true
        }
        let example = String(format.map { "YyMDdhHms".contains($0) ? "1" : $0 })
        return DateText(hasZone ? example + "Z" : example)?.form
    }

    /// An offset: `Z`, `UTC`, `+02:00`, `-0330`, `+02`. Names of zones are not known.
    package static func offset(_ text: String) -> Int? {
        if text.uppercased() == "UTC" || text.uppercased() == "GMT" { return 0 }
        var reader = DigitReader(Array(text.utf8))
        guard let offset = reader.offset(), reader.isAtEnd else { return nil }
        return offset
    }
}

/// Reads the pieces of a date.
private struct DigitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// So many digits.
    mutating func number(_ count: Int) -> Int? {
        guard position + count <= bytes.count, bytes[position..<position + count].allSatisfy(\.isDigit) else {
            return nil
        }
        defer { position += count }
        return bytes[position..<position + count].reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, UInt32(bytes[position]) == character.value else { return false }
        position += 1
        return true
    }

    mutating func takeOne(of characters: String) -> Unicode.Scalar? {
        characters.unicodeScalars.first { take($0) }
    }

    /// Digits after the point, nine at most; what is below a millisecond is left out.
    mutating func fraction() -> (milliseconds: Int, digits: Int)? {
        let digits = bytes[position...].prefix { $0.isDigit }
        guard (1...9).contains(digits.count) else { return nil }
        position += digits.count
        let three = Array(digits.prefix(3)) + [UInt8](repeating: 0x30, count: max(0, 3 - digits.count))
        return (three.reduce(0) { $0 * 10 + Int($1 - 0x30) }, digits.count)
    }

    mutating func offset() -> Int? {
        if takeOne(of: "Zz") != nil { return 0 }
        let start = position
        guard let sign = takeOne(of: "+-"), let hours = number(2) else {
            position = start
            return nil
        }
        _ = take(":")
        let minutes = number(2) ?? 0
        guard hours < 24, minutes < 60 else {
            position = start
            return nil
        }
        return (hours * 60 + minutes) * (sign == "-" ? -1 : 1)
    }
}
