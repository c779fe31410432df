import Glibc

package struct ProgramResult: Sendable {
    /// 128 and the number of the signal where one ended it.
    package var status: Int32
    /// Both outputs together.
    package var text: String
}

/// Programs that a test runs to their end: those of the system, and those that were built beside the tests. Foundation's
/// `Process` watches its children with threads and sockets of its own; this asks the system alone.
package enum Program {
    /// Whether a program of the system is installed. Continuous integration has all of them: there a missing one fails.
    package static func isThere(_ name: String) -> Bool { getenv("CI") != nil || access("/usr/bin/\(name)", X_OK) == 0 }

    /// The folder of the test program, where the package manager puts the commands, too.
    package static let folder: String = {
        let own = realpath("/proc/self/exe", nil)!
        defer { free(own) }
        let text = String(cString: own)
        return String(text[..<text.lastIndex(of: "/")!])
    }()

    /// Runs a program to its end, on a thread of its own.
    /// - Parameters:
    ///   - arguments: first the program, which is looked for in the path where it has no slash.
    ///   - environment: all of it.
    package static func run(_ arguments: [String], environment: [String] = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"])
        async throws
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
        guard result == 0 else { throw Failure("\(arguments[0]) does not run: \(String(cString: strerror(result)))") }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let exit = status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
        guard let text = TestFile.text(of: file) else { throw Failure("the output of \(arguments[0]) is gone") }
        return ProgramResult(status: exit, text: text)
    }

    private static func withWords<Value>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value {
        var pointers = strings.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
    }
}
