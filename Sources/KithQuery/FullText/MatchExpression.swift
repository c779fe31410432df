/// What MATCH is to look for, as a tree (docs/query.md, "Full text").
indirect enum MatchExpression: Equatable {
    /// Words one after the other.
    case phrase(MatchPhrase)
    /// Phrases with at most so many words between them.
    case near([MatchPhrase], distance: Int)
    case and([MatchExpression])
    case or([MatchExpression])
    /// The first, without the second.
    case without(MatchExpression, MatchExpression)
    /// In fields with these numbers only.
    case within([Int], MatchExpression)
    /// Nothing that a word could be made of.
    case nothing
}

struct MatchPhrase: Equatable {
    let text: String
    /// Whether the last word may go on.
    var isPrefix = false
    /// Whether it stands at the beginning of a field.
    var isInitial = false

    /// Nil for a text without anything that a word could be made of.
    init?(_ text: String) {
        // A sign at the end would make a single character of Chinese, Japanese or Korean the last of its row.
        let scalars = Array(text.unicodeScalars)
        guard let last = scalars.lastIndex(where: { Self.isOfWord($0) }) else { return nil }
        guard scalars[...last].contains(where: { Self.beginsWord($0) }) else { return nil }
        var view = String.UnicodeScalarView()
        for scalar in scalars[...last] { view.append(scalar.value < 0x20 ? " " : scalar) }
        self.text = String(view)
        let isWide = { (index: Int) in index >= 0 && WideScripts.contains(scalars[index].value) }
        // Alone it is no pair, and is found as the first of one.
        if isWide(last), !isWide(last - 1) { isPrefix = true }
    }

    private static func beginsWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .privateUse:
            true
        default: WideScripts.contains(scalar.value)
        }
    }

    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: beginsWord(scalar)
        }
    }
}

// As FTS5 takes it: all texts between quotes, all fields by their numbers, all that belongs together between parentheses. So
// nothing of what was typed is read a second time.
extension MatchExpression {
    var fts: String {
        switch self {
        case .phrase(let phrase): phrase.fts
        case .near(let phrases, let distance): "NEAR(\(phrases.map(\.fts).joined(separator: " ")), \(distance))"
        case .and(let parts): parts.map(\.nested).joined(separator: " AND ")
        case .or(let parts): parts.map(\.nested).joined(separator: " OR ")
        case .without(let wanted, let other): "\(wanted.nested) NOT \(other.nested)"
        case .within(let fields, let part): "{\(fields.map { "c\($0)" }.joined(separator: " "))} : \(part.nested)"
        case .nothing: "\"\""
        }
    }

    private var nested: String {
        switch self {
        case .phrase, .near: fts
        default: "(\(fts))"
        }
    }
}

extension MatchPhrase {
    var fts: String {
        (isInitial ? "^ " : "") + "\"\(SQLWords.doubling(text, "\""))\"" + (isPrefix ? " *" : "")
    }
}
