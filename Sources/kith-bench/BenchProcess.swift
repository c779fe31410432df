#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A process of the `kith` command that stands beside this program.
final class BenchProcess {
    private let pid: pid_t
    /// The read end of its standard output.
    private let output: Int32
    private var status: Int32?

    /// - Parameter log: the file for its standard error.
    init(_ arguments: [String], log: String) throws(BenchError) {
        let program = try Self.program()
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Self.error("make a pipe", errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        var strings = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for string in strings { free(string) } }
        var child = pid_t()
        let result = posix_spawn(&child, program, &actions, nil, &strings, environ)
        close(ends[1])
        guard result == 0 else {
            close(ends[0])
            throw Self.error("start \(program)", result)
        }
        pid = child
        output = ends[0]
    }

    deinit {
        stop()
        close(output)
    }

    /// The command that was built into the same folder as this program.
    private static func program() throws(BenchError) -> String {
        guard let own = realpath("/proc/self/exe", nil) else { throw error("find this program's own file", errno) }
        defer { free(own) }
        let path = String(cString: own)
        let program = path.prefix(through: path.lastIndex(of: "/")!) + "kith"
        guard access(String(program), X_OK) == 0 else {
            throw BenchError("there is no \(program): build it with make build")
        }
        return String(program)
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

    /// The most memory that it has had resident, in MB of 10^6 bytes.
    func peakMegabytes() -> Double {
        guard let file = fopen("/proc/\(pid)/status", "r") else { return .nan }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 256)
        while fgets(&buffer, Int32(buffer.count), file) != nil {
            let words = buffer.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }.split { $0.isWhitespace }
            if words.first == "VmHWM:", words.count > 1, let kibibytes = Double(words[1]) {
                return kibibytes * 1024 / 1e6
            }
        }
        return .nan
    }

    /// Time that it has used a processor, its system calls too.
    func processorSeconds() -> Double {
        guard let file = fopen("/proc/\(pid)/stat", "r") else { return .nan }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 1024)
        guard fgets(&buffer, Int32(buffer.count), file) != nil else { return .nan }
        // The name of the command, in parentheses, may hold anything; after it come words (proc(5)).
        let text = buffer.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        guard let end = text.lastIndex(of: ")") else { return .nan }
        let words = text[text.index(after: end)...].split(separator: " ")
        guard words.count > 12, let user = Double(words[11]), let system = Double(words[12]) else { return .nan }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Waits for its end.
    /// - Returns: its exit status.
    func wait() -> Int32 {
        if let status { return status }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) != pid, errno == EINTR {}
        let result = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
        self.status = result
        return result
    }

    /// Ends it in order.
    func stop() {
        if status != nil { return }
        kill(pid, SIGTERM)
        _ = wait()
    }

    private static func error(_ what: String, _ code: Int32) -> BenchError {
        BenchError("can't \(what): \(String(cString: strerror(code)))")
    }
}
