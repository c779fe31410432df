/// What the writer of a database says of the write-ahead log beside the file, so that a log that was removed, cut or
/// exchanged meanwhile is noticed: SQLite takes any log that it finds, and a missing one for an empty one.
///
/// A claim is never ahead of the disk: what it says was synchronised before. So a power cut makes no claim untrue.
enum LogClaim: Hashable {
    /// Nothing is known.
    case none
    /// Everything is in the file; the log may hold what came since.
    case empty
    /// The database was closed, and the log removed.
    case closed
    /// The log with these salts held at least so many pages that count.
    case log(salts: UInt64, pages: Int)

    /// Reads what `text` gave; anything else is no claim.
    init(_ text: String) {
        let words = text.split(separator: " ")
        switch words.first {
        case "empty": self = .empty
        case "closed": self = .closed
        case "log":
            guard words.count == 3, let salts = UInt64(words[1], radix: 16), let pages = Int(words[2]) else {
                self = .none
                return
            }
            self = .log(salts: salts, pages: pages)
        default: self = .none
        }
    }

    var text: String {
        switch self {
        case .none: "-"
        case .empty: "empty"
        case .closed: "closed"
        case .log(let salts, let pages): "log \(String(salts, radix: 16)) \(pages)"
        }
    }

    enum Verdict: Hashable {
        /// The log is what it should be.
        case fine
        /// Commits that were synchronised are missing: how that shows.
        case lost(String)
        /// It is the log of another file, or of another state of this one.
        case foreign
    }

    /// What is to be thought of the log that was found.
    func judge(_ found: LogContent) -> Verdict {
        switch (self, found) {
        case (.none, _), (.empty, _): .fine
        case (.closed, .pages(_, let count)): count == 0 ? .fine : .foreign
        case (.closed, _): .fine
        case (.log, .absent): .lost("is missing")
        case (.log, .empty): .lost("was emptied")
        case (.log, .unreadable): .lost("is damaged at its beginning")
        case (.log(let salts, let pages), .pages(let others, let count)):
            if others == salts {
                count >= pages ? .fine : .lost("has \(count) of at least \(pages) pages that count")
            } else {
                Self.follows(others, salts) ? .fine : .foreign
            }
        }
    }

    /// Whether a log with one pair of salts may be a later one of the same file: SQLite counts the first salt up each
    /// time it begins the log anew.
    private static func follows(_ later: UInt64, _ earlier: UInt64) -> Bool {
        let (first, second) = (UInt32(truncatingIfNeeded: later >> 32), UInt32(truncatingIfNeeded: earlier >> 32))
        return (1...Limits.logsBetweenClaims).contains(first &- second)
    }
}
