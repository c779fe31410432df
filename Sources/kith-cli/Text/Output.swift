import Glibc
import Synchronization

/// Standard output, collected into large writes. A reader that has gone ends the program quietly: `kith export | head`
/// got what it wanted.
enum Output {
    private static let pending = Mutex<[UInt8]>([])
    private static let limit = 64 * 1024

    /// Appends bytes; they go out when there are many, or with `flush`.
    static func write(_ bytes: some Collection<UInt8>) {
        let isFull = pending.withLock { pending in
            pending += bytes
            return pending.count >= limit
        }
        if isFull { flush() }
    }

    /// Appends a line.
    static func line(_ text: String) { write(Array(text.utf8) + [UInt8(ascii: "\n")]) }

    static func flush() {
        let bytes = pending.withLock { pending in
            defer { pending = [] }
            return pending
        }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count > 0 {
                sent += count
            } else if errno == EPIPE {
                exit(ExitStatus.done)
            } else if errno != EINTR {
                Messages.line("kith: cannot write to standard output: \(String(cString: strerror(errno)))")
                exit(ExitStatus.failed)
            }
        }
    }
}

/// Standard error: messages, and progress where it is a terminal.
enum Messages {
    /// Writes a line at once. What cannot be written is lost.
    static func line(_ text: String) { raw(text + "\n") }

    static func raw(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
