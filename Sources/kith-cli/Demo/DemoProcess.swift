import Glibc
import KithNode
import Synchronization

/// A process of this same program, in a group of its own so that ctrl-C ends it by us and in order.
final class DemoProcess: Sendable {
    let log: String
    private let pid: pid_t
    /// The read end of its standard output.
    private let output: Int32
    private let ended = Mutex<Int32?>(nil)

    /// - Parameter environment: `NAME=VALUE`, besides this process's own.
    /// - Parameter log: the file for its standard error.
    init(_ arguments: [String], environment: [String], log: String) throws(CommandError) {
        self.log = log
        var pipe: [Int32] = [-1, -1]
        guard Glibc.pipe(&pipe) == 0 else { throw Self.error("make a pipe", errno) }
        for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals this process ignores or handles are the child's own business again.
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for number in [SIGINT, SIGTERM, SIGPIPE] { sigaddset(&defaults, number) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF))
        let program = try Self.ownPath()
        var child = pid_t()
        let result = Self.withStrings([program] + arguments) { arguments in
            Self.withStrings(Self.environment(adding: environment)) { environment in
                posix_spawn(&child, program, &actions, &attributes, arguments, environment)
            }
        }
        close(pipe[1])
        guard result == 0 else {
            close(pipe[0])
            throw Self.error("start \(Shown.name(program))", result)
        }
        pid = child
        output = pipe[0]
    }

    deinit {
        kill(SIGKILL)
        _ = wait(milliseconds: 1_000)
        close(output)
    }

    /// The next line of its output; nil at the end, or when the time is over.
    func line(milliseconds: Int32) -> String? {
        var bytes: [UInt8] = []
        var look = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        while poll(&look, 1, milliseconds) == 1 {
            var byte: UInt8 = 0
            guard read(output, &byte, 1) == 1 else { return nil }
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return nil
    }

    func kill(_ signal: Int32) {
        ended.withLock { ended in if ended == nil { _ = Glibc.kill(pid, signal) } }
    }

    /// Its exit status, or nil when it still runs after that time.
    func wait(milliseconds: Int) -> Int32? {
        for _ in 0...(milliseconds / 10) {
            let status: Int32? = ended.withLock { ended in
                if let ended { return ended }
                var status: Int32 = 0
                guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
                ended = status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
                return ended
            }
            if let status { return status }
            usleep(10_000)
        }
        return nil
    }

    /// What it said last, for the message about its failure.
    var lastWords: String {
        let bytes = (try? InputFile.read(log, limit: 1 << 20)) ?? []
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        return lines.last.map { String(decoding: $0, as: UTF8.self) } ?? "it said nothing"
    }

    private static func ownPath() throws(CommandError) -> String {
        guard let path = realpath("/proc/self/exe", nil) else { throw error("find this program's own file", errno) }
        defer { free(path) }
        return String(cString: path)
    }

    private static func environment(adding added: [String]) -> [String] {
        var all: [String] = []
        var next = environ
        while let entry = next.pointee {
            all.append(String(cString: entry))
            next += 1
        }
        let names = added.map { $0.prefix { $0 != "=" } + "=" } + ["KITH_DATA="]
        return all.filter { entry in !names.contains { entry.hasPrefix($0) } } + added
    }

    private static func withStrings<Value>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value {
        var pointers = strings.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
    }

    private static func error(_ what: String, _ code: Int32) -> CommandError {
        CommandError("cannot \(what): \(String(cString: strerror(code)))")
    }
}
