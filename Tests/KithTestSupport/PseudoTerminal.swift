import Glibc

/// A program on a terminal of the test's own, of which the test sees the bytes, and on which it types.
package final class PseudoTerminal: Sendable {
    private let master: Int32
    private let slave: Int32
    private let pid: pid_t
    private let seen = Shared<[UInt8]>([])

    /// Starts a program with the terminal as its input and outputs.
    /// - Parameters:
    ///   - program: the path of it.
    ///   - environment: all of it, `NAME=VALUE`.
    package init(
        program: String, _ arguments: [String], columns: Int, rows: Int, environment: [String]
    ) throws {
        // As posix_openpt, unlockpt and ptsname do it, which this library does not show.
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (lock, number): (Int32, UInt32) = (0, 0)
        guard ioctl(master, Self.unlock, &lock) == 0, ioctl(master, Self.askNumber, &number) == 0 else {
            throw Failure("no pseudo terminal")
        }
        slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw Failure("no pseudo terminal") }
        Self.resize(master, columns, rows)
        pid = try Self.spawn(program, arguments, on: slave, environment)
        let (master, seen) = (master, seen)
        Task.detached {
            await onThread {
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while case let count = read(master, &buffer, buffer.count), count > 0 {
                    let part = Array(buffer[..<count])
                    seen.change { $0 += part }
                }
            }
        }
    }

    /// TIOCSPTLCK and TIOCGPTN.
    private static let unlock: UInt = 0x4004_5431
    private static let askNumber: UInt = 0x8004_5430

    deinit {
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
        // The last to close it ends the reading, which then closes nothing more.
        close(slave)
        close(master)
    }

    private static func resize(_ master: Int32, _ columns: Int, _ rows: Int) {
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    private static func spawn(
        _ program: String, _ arguments: [String], on terminal: Int32, _ environment: [String]
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor: Int32 in 0...2 { posix_spawn_file_actions_adddup2(&actions, terminal, descriptor) }
        var pid = pid_t()
        let result = Program.withWords([program] + arguments) { words in
            Program.withWords(environment) { posix_spawn(&pid, program, &actions, nil, words, $0) }
        }
        guard result == 0 else { throw Failure("\(program) does not run: \(String(cString: strerror(result)))") }
        return pid
    }

    /// What the program has written so far. The terminal has put a carriage return before each line feed.
    package var text: String { String(decoding: seen.value, as: UTF8.self).replacing("\r\n", with: "\n") }

    /// Forgets what the program has written so far.
    package func forget() { seen.change { $0 = [] } }

    /// Types on its keyboard, all at once.
    package func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// Whether it shows what is typed, as it does while no program has taken it over.
    package var echoes: Bool {
        var settings = termios()
        return tcgetattr(slave, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Gives the terminal another size and tells the program, as the kernel would a foreground process.
    package func resize(columns: Int, rows: Int) {
        Self.resize(master, columns, rows)
        kill(pid, SIGWINCH)
    }

    package func signal(_ number: Int32) { kill(pid, number) }

    /// Waits until it has ended.
    /// - Returns: its exit status, or 128 and the number of a signal; nil where it goes on.
    package func end(within seconds: Double = 20) async -> Int32? {
        var status: Int32 = 0
        let ended = await eventually(within: seconds) { waitpid(pid, &status, WNOHANG) == pid }
        return ended ? (status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f) : nil
    }
}
