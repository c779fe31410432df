import Dispatch
import Glibc
import KithDocument
import KithNode
import KithSystem

/// The terminal of `kith status --watch`. Each frame is one write: the cursor goes home, each line is written over the
/// one that is there and the rest of it cleared, and what is left below is cleared. So nothing flickers, and what was on
/// the terminal before can be scrolled back to.
final class WatchScreen: StatusWatcher, @unchecked Sendable {
    // Sendable: what varies is touched on `queue` only.

    private let queue = DispatchQueue(label: "kith.screen")
    private let view: StatusWatch.View
    private let colour: Bool
    private var status: JSONValue?
    /// When it came, in milliseconds of the clock that only goes forward.
    private var cameAt: UInt64 = 0
    private var isCleared = false
    private var timer: (any DispatchSourceTimer)?
    private var signals: [any DispatchSourceSignal] = []

    private static let hideCursor = "\u{1B}[?25l"

    init(_ view: StatusWatch.View, colour: Bool) {
        self.view = view
        self.colour = colour
    }

    /// Draws from now on as statuses come, each second for the ages, and when the terminal gets another size.
    func begin() {
        queue.sync {
            // The cursor is put back however it ends; only what may be done in a signal handler is done there.
            for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { signal(number, restoreAndExit) }
            signal(SIGTSTP, restoreAndStop)
            for number in [SIGWINCH, SIGCONT] {
                let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
                source.setEventHandler { [weak self] in self?.draw() }
                source.resume()
                signals.append(source)
            }
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + 1, repeating: 1)
            timer.setEventHandler { [weak self] in self?.draw() }
            timer.resume()
            self.timer = timer
        }
    }

    /// Leaves the last frame and puts the cursor back.
    func end() {
        queue.sync {
            timer?.cancel()
            for source in signals { source.cancel() }
            guard isCleared else { return }
            Output.write("\u{1B}[?25h\n".utf8)
            Output.flush()
        }
    }

    func show(_ status: JSONValue, _ line: [UInt8]) throws(CommandError) {
        _ = try view.lines(status, width: nil, colour: false, now: nil)
        queue.sync {
            self.status = status
            cameAt = SystemClock().monotonicMilliseconds
            draw()
        }
    }

    private func draw() {
        guard let status else { return }
        let size = Terminal.size()
        let now = status["generated_at"]?.time.map { $0 + Int64(SystemClock().monotonicMilliseconds - cameAt) }
        // A column stays free: a terminal that stands behind its last column clears the character in it.
        let width = max(20, size.columns - 1)
        guard let lines = try? view.lines(status, width: width, colour: colour, now: now) else { return }
        let clear = isCleared ? "" : "\u{1B}[2J"
        isCleared = true
        Output.write((Self.hideCursor + clear + Self.frame(lines, rows: size.rows)).utf8)
        Output.flush()
    }

    /// The bytes that put lines on a terminal of so many rows; what has no room is counted in the last.
    static func frame(_ lines: [String], rows: Int) -> String {
        let room = max(2, rows - 1)
        var shown = lines
        if lines.count > room { shown = lines.prefix(room - 1) + ["… and \(lines.count - room + 1) more lines"] }
        return "\u{1B}[H" + shown.map { "\($0)\u{1B}[K" }.joined(separator: "\n") + "\u{1B}[J"
    }
}

/// Shows the cursor and ends as the signal would.
private func restoreAndExit(_ number: Int32) {
    showCursor()
    _exit(128 + number)
}

/// Shows the cursor while the command is stopped.
private func restoreAndStop(_ number: Int32) {
    showCursor()
    _ = kill(getpid(), SIGSTOP)
}

private func showCursor() {
    let restore: StaticString = "\u{1B}[?25h\n"
    _ = Glibc.write(STDOUT_FILENO, restore.utf8Start, restore.utf8CodeUnitCount)
}
