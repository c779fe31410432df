/// What can be wrong with a document, its id or a revision of it. No case carries the content of a document.
package enum DocumentError: Error, Hashable, Sendable {
    /// The text says which rule the id breaks.
    case invalidID(String)
    /// The JSON text is wrong at a place: line and column from 1 (column in bytes), the byte offset from 0.
    case invalidJSON(String, line: Int, column: Int, offset: Int)
    /// A revision, a stamp, a version or a tree as encoded breaks a rule; the text says which.
    case malformed(String)
    /// The id of a revision is not the hash of its content.
    case hashMismatch(RevisionID)
    /// The time of the next edit would pass `Stamp.maximumTime`.
    case clockBeyondRange

    /// One sentence for people.
    package var message: String {
        switch self {
        case .invalidID(let reason): reason
        case .invalidJSON(let reason, let line, let column, _):
            "invalid JSON at line \(line), column \(column): \(reason)"
        case .malformed(let reason): reason
        case .hashMismatch(let id): "revision \(id) is not the hash of its content"
        case .clockBeyondRange:
            "its next edit would be stamped beyond the year 4000: set this machine's clock; if it is right, another's was not"
        }
    }
}
