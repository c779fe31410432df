/// What can be wrong with a query. Texts may quote the query, never a document.
package enum QueryError: Error, Hashable, Sendable {
    /// The text of a query is wrong at a place: line and column from 1, the column in characters. The sentence says what
    /// was found there and what was expected.
    case text(String, line: Int, column: Int)
    /// A Mango query is wrong at a path like `selector.$or[1].age`.
    case selector(String, path: String)
    /// The query can't be answered as it is: a parameter without a value, a pattern that is wrong, a result that is too
    /// large.
    case running(String)

    /// For a tree at hand: its place where it came from a text.
    static func at(_ position: SourcePosition, _ message: String) -> QueryError {
        position.line > 0 ? .text(message, line: position.line, column: position.column) : .running(message)
    }

    /// One sentence for people.
    package var message: String {
        switch self {
        case .text(let reason, let line, let column): "line \(line), column \(column): \(reason)"
        case .selector(let reason, let path): "at \(path): \(reason)"
        case .running(let reason): reason
        }
    }
}
