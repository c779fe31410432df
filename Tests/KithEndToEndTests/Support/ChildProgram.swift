import Glibc
import KithTestSupport
import Synchronization
import Testing

/// A program that a test started. Its output goes to files, so that no pipe fills up; it is killed when the last
/// reference to it goes.
final class ChildProgram: Sendable {
    struct Finished: Sendable {
        /// 128 and the number of the signal where one ended it.
        var status: Int32
        var output: [UInt8]
        var errors: [UInt8]

        var outputText: String { String(decoding: output, as: UTF8.self) }
        var errorText: String { String(decoding: errors, as: UTF8.self) }
        /// The output without the line end.
        var line: String { outputText.last == "\n" ? String(outputText.dropLast()) : outputText }
    }

    /// The program under test, which stands beside the program of the tests.
    static let kith = Program.built("kith")

    private let files: String
    private let pid: pid_t
    private let ended = Mutex<Int32?>(nil)

    /// - Parameters:
    ///   - folder: where its input and output are kept.
    ///   - environment: all of it, `NAME=VALUE`.
    init(
        _ arguments: [String], of path: String = ChildProgram.kith, in folder: String, input: [UInt8] = [],
        environment: [String] = []
    ) throws {
        files = "\(folder)/\(Self.number.wrappingAdd(1, ordering: .relaxed).newValue)"
        try Files.write(input, to: files + ".in")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, files + ".in", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, files + ".out", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, files + ".err", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        let variables = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/nonexistent"] + environment
        var child = pid_t()
        let result = Program.withWords([path] + arguments) { words in
            Program.withWords(variables) { posix_spawn(&child, path, &actions, nil, words, $0) }
        }
        try #require(result == 0, "\(path) does not run: \(String(cString: strerror(result)))")
        pid = child
    }

    deinit {
        signal(SIGKILL)
        _ = wait(seconds: 5)
        for end in [".in", ".out", ".err"] { unlink(files + end) }
    }

    private static let number = Atomic<Int>(0)

    var processID: Int32 { pid }

    /// Whether it has a socket open beside its outputs.
    var hasSocket: Bool {
        (3..<64).contains { descriptor in
            var target = [UInt8](repeating: 0, count: 64)
            let count = readlink("/proc/\(pid)/fd/\(descriptor)", &target, target.count)
            return count > 0 && target.starts(with: "socket:".utf8)
        }
    }

    /// What it has written so far.
    var output: [UInt8] { Files.read(files + ".out") }
    var errors: [UInt8] { Files.read(files + ".err") }

    func signal(_ number: Int32) {
        ended.withLock { ended in if ended == nil { _ = kill(pid, number) } }
    }

    /// Its exit status; nil when it still runs.
    var status: Int32? {
        ended.withLock { ended in
            if let ended { return ended }
            var status: Int32 = 0
            guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
            ended = status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
            return ended
        }
    }

    /// Blocks until it has ended.
    /// - Returns: its exit status, or nil when it still runs after that time.
    func wait(seconds: Double) -> Int32? {
        Blocking.poll(seconds: seconds) { status }
    }

    /// Waits until it has ended; kills it when it takes longer.
    func finish(within seconds: Double) async throws -> Finished {
        let status = await Blocking.run { self.wait(seconds: seconds) }
        if status == nil { signal(SIGKILL) }
        let shown = String(decoding: errors.suffix(300), as: UTF8.self)
        return Finished(
            status: try #require(status, "has not ended after \(seconds) s: \(shown)"), output: output, errors: errors)
    }
}
