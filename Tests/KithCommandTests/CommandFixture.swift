import Glibc
import KithHTTPCore
import KithTestSupport
import Testing

/// The built `kith`, run as people run it.
enum Command {
    struct Result {
        var status: Int32
        var output: String
        var errors: String
        /// How long it took, whatever the tests had to wait for.
        var seconds: Double
    }

    /// The command stands beside the program of the tests.
    static let path = Program.folder + "/kith"

    /// Runs the command to its end, on a thread of its own.
    static func run(_ arguments: [String], data: String, input: String = "", environment: [String] = []) async throws
        -> Result
    {
        try await onThread { try runNow(arguments, data, input, environment) }
    }

    private static func runNow(_ arguments: [String], _ data: String, _ input: String, _ environment: [String]) throws
        -> Result
    {
        let directory = TemporaryDirectory()
        let folder = directory.path
        try write(input, to: "\(folder)/in")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "\(folder)/in", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "\(folder)/out", O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, "\(folder)/err", O_WRONLY | O_CREAT, 0o600)
        var pid = pid_t()
        let watch = Stopwatch()
        let variables = ["KITH_DATA=\(data)", "PATH=/usr/bin:/bin", "HOME=/nonexistent"] + environment
        let spawned = withStrings([path] + arguments) { words in
            withStrings(variables) { posix_spawn(&pid, path, &actions, nil, words, $0) }
        }
        try #require(spawned == 0, "\(path) does not run: \(String(cString: strerror(spawned)))")
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let exit = status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
        let seconds = watch.seconds
        return try withExtendedLifetime(directory) {
            Result(
                status: exit, output: try read("\(folder)/out"), errors: try read("\(folder)/err"), seconds: seconds)
        }
    }

    private static func withStrings<Value>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value {
        var pointers = strings.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
    }

    static func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        defer { fclose(file) }
        let bytes = Array(text.utf8)
        fwrite(bytes, 1, bytes.count, file)
    }

    private static func read(_ path: String) throws -> String { try #require(TestFile.text(of: path)) }
}

/// A node's control socket that gives answers made up by a test.
final class FakeNode: Sendable {
    var directory: String { folder.path }
    private let folder = TemporaryDirectory()
    private let server: HTTPServer
    private let log = Shared<[String]>([])

    /// `METHOD target` and the body of each request so far.
    var requests: [String] { log.value }

    /// - Parameter answer: gets `METHOD target`.
    init(_ answer: @escaping @Sendable (String) -> HTTPResponse) throws {
        let log = log
        server = try HTTPServer(listener: .unixSocket(folder.path + "/kith.sock"), limits: .local) { request in
            let query = request.target.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
            let line = "\(request.method) \(request.target.rawPath)" + (query.isEmpty ? "" : "?\(query)")
            let body = (try? await request.body.collect(limit: 100_000_000)) ?? []
            log.change { $0.append(body.isEmpty ? line : "\(line) \(String(decoding: body, as: UTF8.self))") }
            return answer(line)
        }
    }

    func close() { server.stop() }
}

extension HTTPResponse {
    /// A response that is JSON, or lines of it.
    static func json(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, body: .bytes(Array((text + "\n").utf8)))
    }

    static func error(_ code: String, _ message: String, status: Int, exit: Int) -> HTTPResponse {
        json(#"{"error":"\#(code)","message":"\#(message)","exit":\#(exit)}"#, status: status)
    }
}
