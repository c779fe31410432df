/// Numbers, sizes and times in words for people. Programs get JSON.
enum Wording {
    /// With a comma between thousands; `?` for what is not known.
    static func count(_ number: UInt64?) -> String {
        guard let number else { return "?" }
        let digits = Array(String(number))
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// In SI units, as `df -H` counts: `212 MB`.
    static func size(_ bytes: UInt64?) -> String {
        guard let bytes else { return "?" }
        var value = Double(bytes)
        var unit = "B"
        for next in ["kB", "MB", "GB", "TB", "PB", "EB"] {
            if value < 999.5 { break }
            value /= 1_000
            unit = next
        }
        if unit == "B" || value >= 9.95 { return "\(UInt64(value.rounded())) \(unit)" }
        let tenths = UInt64((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }

    /// The two largest units: `3d 4h`, `2m 5s`, `12s`.
    static func duration(milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1_000
        let parts: [(Int64, String)] = [
            (seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s"),
        ]
        guard let first = parts.firstIndex(where: { $0.0 > 0 }) else { return "0s" }
        let shown = parts[first...].prefix(2).filter { $0.0 > 0 }
        return shown.map { "\($0.0)\($0.1)" }.joined(separator: " ")
    }

    /// As an option takes it: `500ms`, `30s`, `7d`.
    static func time(_ milliseconds: Int64) -> String {
        if milliseconds % 1_000 != 0 { return "\(milliseconds)ms" }
        let units: [(Int64, String)] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m")]
        let unit = units.first { milliseconds >= $0.0 && milliseconds.isMultiple(of: $0.0) } ?? (1_000, "s")
        return "\(milliseconds / unit.0)\(unit.1)"
    }

    /// `2s ago`, in one unit; `-` for never.
    static func age(milliseconds: Int64?) -> String {
        guard let milliseconds else { return "-" }
        let text = duration(milliseconds: milliseconds)
        return "\(text.split(separator: " ")[0]) ago"
    }

    static func milliseconds(_ number: Double?) -> String {
        guard let number, number >= 0, number < 1e9 else { return "-" }
        if number > 0, number < 0.95 { return "0.\(max(1, Int((number * 10).rounded()))) ms" }
        return "\(Int(number.rounded())) ms"
    }

    /// `1 peer`, `2 peers`.
    static func plural(_ number: UInt64, _ one: String, _ many: String) -> String {
        "\(count(number)) \(number == 1 ? one : many)"
    }
}
