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

    /// Ends the program as soon as nobody reads its output any more, for one that waits for what may come much later:
    /// `kith changes --follow | head -1` has its line. Nothing happens where the output is no pipe.
    static func endWithReader() {
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { _ in
                // Nothing is asked for: that the other end is gone is told in any case.
                var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
                while true {
                    let count = poll(&output, 1, -1)
                    if count > 0, Int32(output.revents) & (POLLERR | POLLHUP) != 0 { _exit(ExitStatus.done) }
                    if count > 0 || errno != EINTR { return nil }
                }
            }, nil)
        if result == 0 { pthread_detach(thread) }
    }

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
