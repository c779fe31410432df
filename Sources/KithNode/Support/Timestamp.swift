import KithDocument

/// Times as people and programs outside read them: RFC 3339 in UTC with milliseconds.
package enum Timestamp {
    /// `2026-11-30T12:34:56.789Z`. Times outside the years 0 to 9999 are moved to the ends.
    /// - Parameter milliseconds: since 1970.
    package static func text(ofMilliseconds milliseconds: Int64) -> String {
        let bounded = min(max(milliseconds, CivilDate.range.lowerBound), CivilDate.range.upperBound)
        guard let text = DateText.text(bounded) else { preconditionFailure("\(bounded) is within the years") }
        return text
    }

    /// Milliseconds since 1970; nil unless the text is a UTC time of RFC 3339 that ends with `Z`.
    package static func milliseconds(of text: String) -> Int64? {
        guard text.utf8.last == UInt8(ascii: "Z"), let date = DateText(text), date.form.separator == "T",
            date.form.hasSeconds
        else { return nil }
        return date.milliseconds
    }
}
