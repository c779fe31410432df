/// The exit statuses of every command; those of `check` are its own.
enum ExitStatus {
    static let done: Int32 = 0
    static let failed: Int32 = 1
    /// Nothing found, or not yet true.
    static let notFound: Int32 = 2
    static let usage: Int32 = 64
    /// There is no running node to talk to.
    static let noNode: Int32 = 69
    /// Ended by ctrl-C, as shells count it.
    static let interrupted: Int32 = 130
}

/// Why a command ends without success: one line for standard error, and the exit status.
struct CommandError: Error, Hashable {
    let message: String
    let status: Int32

    init(_ message: String, status: Int32 = ExitStatus.failed) {
        self.message = message
        self.status = status
    }

    static func usage(_ message: String) -> CommandError { CommandError(message, status: ExitStatus.usage) }
}
