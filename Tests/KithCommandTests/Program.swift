import Glibc
import KithTestSupport
import Testing

struct ProgramResult {
    var status: Int32
    /// Both outputs together.
    var text: String
}

/// Programs of the system, for what tests ask them to check.
enum Program {
    /// Whether a program of the system is installed. Continuous integration has all of them: there a missing one fails.
    static func isThere(_ name: String) -> Bool { getenv("CI") != nil || access("/usr/bin/\(name)", X_OK) == 0 }

    /// Runs a program to its end, on a thread of its own.
    /// - Parameter environment: all of it.
    static func run(_ arguments: [String], environment: [String] = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]) async throws
        -> ProgramResult
    {
        try await onThread { try runNow(arguments, environment) }
    }

    private static func runNow(_ arguments: [String], _ environment: [String]) throws -> ProgramResult {
        let folder = TemporaryDirectory()
        let file = folder.path + "/out"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, file, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var pid = pid_t()
        let result = withWords(arguments) { words in
            withWords(environment) { posix_spawnp(&pid, arguments[0], &actions, nil, words, $0) }
        }
        try #require(result == 0, "\(arguments[0]) does not run: \(String(cString: strerror(result)))")
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let exit = status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
        return ProgramResult(status: exit, text: try Golden.text(ofFile: file))
    }

    private static func withWords<Value>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value {
        var pointers = strings.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
    }
}
