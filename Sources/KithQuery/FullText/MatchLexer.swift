/// The pieces of a text that MATCH is to look for.
struct MatchToken: Equatable {
    enum Kind: Equatable {
        /// What stands there without quotes.
        case word(String)
        /// What stands between `"`.
        case phrase(String)
        /// One of `( ) { } : , ^ + *`.
        case sign(Unicode.Scalar)
        case end
    }

    let kind: Kind
    /// In characters from 1.
    let place: Int
    /// Whether nothing stands between it and what is before it.
    let isAttached: Bool

    /// As errors call it.
    var shown: String {
        switch kind {
        case .word(let word): word
        case .phrase(let phrase): "\"\(phrase)\""
        case .sign(let sign): String(Character(sign))
        case .end: "the end"
        }
    }
}

enum MatchLexer {
    private static let signs: [Unicode.Scalar] = ["(", ")", "{", "}", ":", ",", "^", "+", "*"]

    /// - Returns: the tokens, with one for the end.
    static func tokens(of text: String) throws(MatchFault) -> [MatchToken] {
        let scalars = Array(text.unicodeScalars)
        var tokens: [MatchToken] = []
        var index = 0
        var isAttached = false
        while index < scalars.count {
            let scalar = scalars[index]
            let place = index + 1
            if isSpace(scalar) {
                index += 1
                isAttached = false
                continue
            }
            let kind: MatchToken.Kind
            if scalar == "\"" {
                kind = .phrase(try phrase(scalars, &index))
            } else if signs.contains(scalar) {
                kind = .sign(scalar)
                index += 1
            } else {
                let start = index
                while index < scalars.count, !isSpace(scalars[index]), scalars[index] != "\"",
                    !signs.contains(scalars[index])
                {
                    index += 1
                }
                kind = .word(string(scalars[start..<index]))
            }
            tokens.append(MatchToken(kind: kind, place: place, isAttached: isAttached))
            isAttached = true
        }
        tokens.append(MatchToken(kind: .end, place: scalars.count + 1, isAttached: isAttached))
        return tokens
    }

    /// Up to the next quote that is not written twice.
    private static func phrase(_ scalars: [Unicode.Scalar], _ index: inout Int) throws(MatchFault) -> String {
        let start = index
        var phrase = String.UnicodeScalarView()
        index += 1
        while index < scalars.count {
            let scalar = scalars[index]
            index += 1
            if scalar != "\"" {
                phrase.append(scalar)
            } else if index < scalars.count, scalars[index] == "\"" {
                phrase.append(scalar)
                index += 1
            } else {
                return String(phrase)
            }
        }
        throw MatchFault(message: "the quote that begins here has no end", place: start + 1)
    }

    private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    /// Spaces and control characters.
    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value <= 0x20 || scalar.value == 0x7F || scalar.properties.isWhitespace
    }
}
