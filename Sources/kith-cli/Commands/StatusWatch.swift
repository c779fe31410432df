import Dispatch
import Glibc
import KithDocument
import KithNode
import Synchronization

/// `kith status --watch`: redraws in place on a terminal, and prints a line of JSON for each change otherwise. The node
/// tells of changes; only ages are counted here.
enum StatusWatch {
    static func run(_ client: ControlClient, _ terminal: Terminal, asJSON: Bool) throws(CommandError) {
        if terminal.width == nil || asJSON {
            Output.endWithReader()
            try client.lines("GET", ["status"], query: [("watch", "true")]) { line in
                Output.write(line)
                Output.write(CollectionOfOne(UInt8(ascii: "\n")))
                Output.flush()
                return true
            }
            return
        }
        let screen = Screen(colour: terminal.colour)
        screen.begin()
        defer { screen.end() }
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now() + 1, repeating: 1)
        timer.setEventHandler { screen.draw() }
        timer.resume()
        defer { timer.cancel() }
        try client.lines("GET", ["status"], query: [("watch", "true")]) { line in
            if let status = try? JSONValue(parsing: line) { screen.show(status) }
            return true
        }
    }

    /// The part of a terminal that is redrawn.
    private final class Screen: Sendable {
        private struct State {
            var status: JSONValue?
            /// When it came, in milliseconds of the clock that only goes forward.
            var cameAt: UInt64 = 0
        }

        private let colour: Bool
        private let state = Mutex(State())

        init(colour: Bool) { self.colour = colour }

        func begin() {
            // Ctrl-C puts the cursor back; only what may be done in a signal handler is done there.
            signal(SIGINT) { _ in
                let restore: StaticString = "\u{1B}[?25h\n"
                _ = Glibc.write(STDOUT_FILENO, restore.utf8Start, restore.utf8CodeUnitCount)
                _exit(ExitStatus.interrupted)
            }
            Output.write("\u{1B}[?25l\u{1B}[2J".utf8)
            Output.flush()
        }

        func end() {
            Output.write("\u{1B}[?25h\n".utf8)
            Output.flush()
        }

        func show(_ status: JSONValue) {
            state.withLock { state in
                state.status = status
                state.cameAt = SystemClock.monotonicMilliseconds
            }
            draw()
        }

        /// Writes each line over the one that is there and clears what is left, so that nothing flickers.
        func draw() {
            let (status, cameAt) = state.withLock { ($0.status, $0.cameAt) }
            guard let status else { return }
            let size = Terminal.size()
            let now = status["generated_at"]?.time.map { $0 + Int64(SystemClock.monotonicMilliseconds - cameAt) }
            let renderer = StatusRenderer(status, width: size.columns, colour: colour, now: now)
            let lines = renderer.lines().prefix(max(1, size.rows - 1))
            let text = lines.map { "\($0)\u{1B}[K" }.joined(separator: "\n")
            Output.write("\u{1B}[H\(text)\u{1B}[J".utf8)
            Output.flush()
        }
    }
}
