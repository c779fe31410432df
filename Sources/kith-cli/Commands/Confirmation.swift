import Glibc

/// A question before something that can't be undone.
enum Confirmation {
    /// Asks on the terminal.
    /// - Parameters:
    ///   - question: ends with `[y/N] `.
    ///   - otherwise: what is said where nobody can be asked, because standard input is no terminal.
    ///   - declined: what is said when the answer is no.
    static func require(_ question: String, otherwise: String, declined: String) throws(CommandError) {
        guard isatty(STDIN_FILENO) == 1 else { throw .usage(otherwise) }
        Messages.raw(question)
        guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else { throw CommandError(declined) }
    }
}
