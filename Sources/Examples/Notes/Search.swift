import Foundation

/// What was typed to search for: words, and tags that begin with `#`.
struct Search: Hashable, Sendable {
    private(set) var tags: [String] = []
    private(set) var words: [String] = []

    init(_ typed: String) {
        for part in typed.split(whereSeparator: \.isWhitespace) {
            if part.first != "#" {
                words.append(String(part))
            } else if part.count > 1 {
                tags.append(String(part.dropFirst()))
            }
        }
    }

    /// The words as MATCH wants them (docs/query.md, "Full text"): each between quotes, so that nothing a person types is
    /// taken for the language's own, and the last one, which may not be finished, as the beginning of a word. Nil where there
    /// are none.
    var match: String? {
        guard !words.isEmpty else { return nil }
        return words.map { "\"\($0.replacingOccurrences(of: "\"", with: "\"\""))\"" }.joined(separator: " ") + " *"
    }
}
