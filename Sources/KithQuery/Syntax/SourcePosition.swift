/// Where something stands in the text of a query: line and column from 1, the column in characters; 0 in trees that were
/// not read from a text.
///
/// All positions are equal: two trees are equal when they say the same, wherever it was written.
package struct SourcePosition: Sendable, Equatable {
    package let line: Int
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static let none = SourcePosition(line: 0, column: 0)

    package static func == (left: Self, right: Self) -> Bool { true }
}
