import Dispatch
import ExampleNotes
import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The terminal that the program runs on: its keys one by one, its size, and what is on it. It is put back on every way out.
final class Terminal {
    private let signals: [any DispatchSourceSignal]

    /// Takes the terminal over; keys and signals come as events.
    /// - Returns: nil where standard input and output are no terminal.
    init?(_ tell: @escaping @Sendable (ScreenEvent) -> Void) {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, tcgetattr(STDIN_FILENO, &before) == 0 else {
            return nil
        }
        signals = Self.signals(tell)
        var raw = before
        cfmakeraw(&raw)
        tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        Self.write("\u{1B}[?1049h")
        Thread.detachNewThread {
            var decoder = KeyDecoder()
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = read(STDIN_FILENO, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                // The terminal is gone.
                guard count > 0 else { return tell(.quit) }
                for key in decoder.keys(of: buffer[..<count]) { tell(.key(key)) }
            }
        }
    }

    /// Those that end a program end it in order, so that nothing that was typed is lost. Those of a crash put the terminal back
    /// and then do what they would have done.
    private static func signals(_ tell: @escaping @Sendable (ScreenEvent) -> Void) -> [any DispatchSourceSignal] {
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
            signal(number) { number in
                putBack()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        let ends = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
        return (ends + [SIGWINCH]).map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { tell(ends.contains(number) ? .quit : .resized) }
            source.resume()
            return source
        }
    }

    /// Puts the terminal back as it was found.
    func restore() { putBack() }

    /// Draws a screen.
    func show(_ screen: Screen) {
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        let (columns, rows) = isKnown ? (Int(size.ws_col), Int(size.ws_row)) : (80, 24)
        Self.write(screen.frame(columns: columns, rows: rows).bytes)
    }

    private static func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

/// As the terminal was found. Written once, before anything that reads it is set up.
private nonisolated(unsafe) var before = termios()

/// Leaves the other page, shows the cursor, and ends raw mode: only what may be done in a handler of a signal.
private func putBack() {
    let leave: StaticString = "\u{1B}[?25h\u{1B}[?1049l"
    _ = write(STDOUT_FILENO, leave.utf8Start, leave.utf8CodeUnitCount)
    tcsetattr(STDIN_FILENO, TCSANOW, &before)
}
