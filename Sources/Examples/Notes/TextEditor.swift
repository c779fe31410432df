/// A text that is being edited, and where.
public struct TextEditor: Hashable, Sendable {
    private var lines: [[Character]]
    private(set) var row: Int
    private(set) var column: Int

    /// At the end of a text.
    init(_ text: String) {
        lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { Array($0) }
        row = lines.count - 1
        column = lines[row].count
    }

    var text: String { lines.map { String($0) }.joined(separator: "\n") }

    /// The text up to the cursor.
    var textBefore: String {
        (lines[..<row] + [Array(lines[row][..<column])]).map { String($0) }.joined(separator: "\n")
    }

    /// Does what a key does; others do nothing.
    mutating func take(_ key: Key) {
        switch key {
        case .text(let character):
            lines[row].insert(character, at: column)
            column += 1
        case .enter:
            lines.insert(Array(lines[row][column...]), at: row + 1)
            lines[row].removeSubrange(column...)
            (row, column) = (row + 1, 0)
        case .backspace: if step(-1) { removeNext() }
        case .delete: removeNext()
        case .left: step(-1)
        case .right: step(1)
        case .up: goTo(row - 1)
        case .down: goTo(row + 1)
        case .home: column = 0
        case .end: column = lines[row].count
        case .escape, .control: break
        }
    }

    private mutating func goTo(_ other: Int) {
        row = min(max(0, other), lines.count - 1)
        column = min(column, lines[row].count)
    }

    /// One character on or back, from line to line.
    /// - Returns: false at the end of the text.
    @discardableResult
    private mutating func step(_ direction: Int) -> Bool {
        let isWithin = direction < 0 ? column > 0 : column < lines[row].count
        if isWithin {
            column += direction
            return true
        }
        guard lines.indices.contains(row + direction) else { return false }
        row += direction
        column = direction < 0 ? lines[row].count : 0
        return true
    }

    /// Takes away the character behind the cursor, or the end of the line.
    private mutating func removeNext() {
        if column < lines[row].count {
            lines[row].remove(at: column)
        } else if row + 1 < lines.count {
            lines[row] += lines.remove(at: row + 1)
        }
    }
}
