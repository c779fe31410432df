/// What is to be on a terminal.
public struct Frame: Hashable, Sendable {
    struct Place: Hashable, Sendable {
        var row: Int
        var column: Int
    }

    /// One for each row, with its colours.
    var lines: [String]
    /// Where the cursor is, from 0; nil for nowhere.
    var cursor: Place?

    /// The bytes that bring it there. All is written over what is there, so nothing flickers.
    public var bytes: String {
        let shown = cursor.map { "\u{1B}[\($0.row + 1);\($0.column + 1)H\u{1B}[?25h" } ?? ""
        return "\u{1B}[?25l\u{1B}[H" + lines.joined(separator: "\u{1B}[K\r\n") + "\u{1B}[K\u{1B}[J" + shown
    }
}
