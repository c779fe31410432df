extension QueryCollation {
    static let exact = QueryCollation(ignoresCase: false, ignoresDiacritics: false)

    /// What is ignored by either.
    func joined(_ other: QueryCollation) -> QueryCollation {
        QueryCollation(
            ignoresCase: ignoresCase || other.ignoresCase,
            ignoresDiacritics: ignoresDiacritics || other.ignoresDiacritics)
    }

    /// A string as it is compared: in lower case by Unicode's mapping of each character, letters without the marks of the
    /// Latin, Greek and Cyrillic scripts.
    func folded(_ string: String) -> String {
        guard self != .exact else { return string }
        var folded = String.UnicodeScalarView()
        for scalar in string.unicodeScalars { append(scalar, to: &folded) }
        return String(folded)
    }

    private func append(_ scalar: Unicode.Scalar, to folded: inout String.UnicodeScalarView) {
        if scalar.value < 0x80 {
            let isUpper = ignoresCase && scalar.value &- 0x41 < 26
            folded.append(isUpper ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar)
            return
        }
        var letter = scalar
        if ignoresDiacritics {
            if (0x300...0x36F).contains(scalar.value) { return }
            letter = DiacriticTable.plain[scalar] ?? scalar
        }
        guard ignoresCase else { return folded.append(letter) }
        for lower in letter.properties.lowercaseMapping.unicodeScalars {
            if !(ignoresDiacritics && (0x300...0x36F).contains(lower.value)) { folded.append(lower) }
        }
    }

    /// A value as it is compared; only strings change, and not those within arrays and objects.
    func folded(_ value: QueryValue) -> QueryValue {
        guard self != .exact, case .string(let string) = value else { return value }
        return .string(folded(string))
    }
}
