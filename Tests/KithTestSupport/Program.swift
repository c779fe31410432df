import Glibc

package struct ProgramResult: Sendable {
    /// 128 and the number of the signal where one ended it.
    package var status: Int32
    package var output: String
    package var errors: String
    /// How long it took, whatever the tests had to wait for.
    package var seconds: Double

    /// Both outputs, one after the other.
    package var text: String { output + errors }
}

/// Programs that a test runs to their end: those of the system, and those that were built beside the tests. Foundation's
/// `Process` watches its children with threads and sockets of its own; this asks the system alone.
package enum Program {
    /// Whether a program of the system is installed. Continuous integration has all of them: there a missing one fails.
    package static func isThere(_ name: String) -> Bool { getenv("CI") != nil || access("/usr/bin/\(name)", X_OK) == 0 }

    /// The path of a program that is built beside the tests.
    package static func built(_ name: String) -> String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/"
            + name
    }

    /// Runs a program to its end, on a thread of its own.
    /// - Parameters:
    ///   - arguments: first the program, which is looked for in the path where it has no slash.
    ///   - input: what it reads.
    ///   - environment: all of it.
    package static func run(
        _ arguments: [String], input: String = "", environment: [String] = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
    ) async throws -> ProgramResult {
        try await onThread { try runNow(arguments, input, environment) }
    }

    private static func runNow(
        _ arguments: [String], _ input: String, _ environment: [String]
    ) throws -> ProgramResult {
        // Through files, so that no pipe fills up.
        let directory = TemporaryDirectory()
        let folder = directory.path
        guard TestFile.write(input, to: "\(folder)/in") else { throw Failure("\(folder) can't be written to") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "\(folder)/in", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "\(folder)/out", O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, "\(folder)/err", O_WRONLY | O_CREAT, 0o600)
        var pid = pid_t()
        let watch = Stopwatch()
        let result = withWords(arguments) { words in
            withWords(environment) { posix_spawnp(&pid, arguments[0], &actions, nil, words, $0) }
        }
        guard result == 0 else { throw Failure("\(arguments[0]) does not run: \(String(cString: strerror(result)))") }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let exit = status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
        let seconds = watch.seconds
        return try withExtendedLifetime(directory) {
            guard let output = TestFile.text(of: "\(folder)/out"), let errors = TestFile.text(of: "\(folder)/err")
            else {
                throw Failure("the output of \(arguments[0]) is gone")
            }
            return ProgramResult(status: exit, output: output, errors: errors, seconds: seconds)
        }
    }

    /// Lends words as the system wants them, with a null behind the last.
    package static func withWords<Value>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value {
        var pointers = strings.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
    }
}
