import Glibc

/// What standard output and standard error are connected to.
struct Terminal: Sendable {
    /// Columns to keep to; nil where output goes to a file or pipe and is never cut.
    let width: Int?
    let height: Int
    let colour: Bool
    /// Whether the terminal can't move its cursor.
    let isDumb: Bool
    /// Whether progress may be drawn on standard error.
    let showsProgress: Bool

    /// - Parameter colourChoice: `auto`, `always` or `never`; nil is `auto`.
    init(colourChoice: String? = nil) throws(CommandError) {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let size = Self.size()
        width = isTerminal ? size.columns : nil
        height = size.rows
        isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? false
        showsProgress = isatty(STDERR_FILENO) == 1 && !isDumb
        switch colourChoice {
        case nil, "auto":
            let isRefused = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
            colour = isTerminal && !isRefused && !isDumb
        case "always": colour = true
        case "never": colour = false
        default: throw .usage("--color is auto, always or never")
        }
    }

    /// The terminal's size now; 80 by 24 where it does not tell.
    static func size() -> (columns: Int, rows: Int) {
        var size = winsize()
        for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
            if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
                return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
            }
        }
        return (80, 24)
    }
}
