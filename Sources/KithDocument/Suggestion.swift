/// What a mistyped word may have meant.
package enum Suggestion {
    /// The known word that a word is the beginning of, or else the nearest, if it is near: at most a third of its letters
    /// added, left out, changed or swapped with the next. Of equally near ones the first.
    package static func nearest(to word: String, among known: [String]) -> String? {
        if word.utf8.count > 1, let whole = known.first(where: { $0.hasPrefix(word) }) { return whole }
        let typed = Array(word.utf8.prefix(64))
        var best: (distance: Int, word: String)?
        for candidate in known where !candidate.isEmpty {
            let distance = distance(typed, Array(candidate.utf8))
            guard distance <= max(1, candidate.utf8.count / 3), distance < best?.distance ?? .max else { continue }
            best = (distance, candidate)
        }
        return best?.word
    }

    /// The number of such changes between two words.
    /// - Complexity: O(n · m).
    private static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        var rows = [Array(0...other.count)]
        for row in 1..<(one.count + 1) {
            var next = [row]
            for column in 1..<(other.count + 1) {
                let isEqual = one[row - 1] == other[column - 1]
                var least = min(
                    rows[row - 1][column] + 1, next[column - 1] + 1, rows[row - 1][column - 1] + (isEqual ? 0 : 1))
                if row > 1, column > 1, one[row - 1] == other[column - 2], one[row - 2] == other[column - 1] {
                    least = min(least, rows[row - 2][column - 2] + 1)
                }
                next.append(least)
            }
            rows.append(next)
        }
        return rows[one.count][other.count]
    }
}
