import Glibc
import KithHTTPCore
import KithTestSupport
import Testing

/// The built `kith`, run as people run it.
enum Command {
    static let path = Program.built("kith")

    /// Runs the command to its end, on a thread of its own.
    static func run(_ arguments: [String], data: String, input: String = "", environment: [String] = []) async throws
        -> ProgramResult
    {
        try await Program.run(
            [path] + arguments, input: input,
            environment: ["KITH_DATA=\(data)", "PATH=/usr/bin:/bin", "HOME=/nonexistent"] + environment)
    }

    static func write(_ text: String, to path: String) throws {
        try #require(TestFile.write(text, to: path), "cannot write \(path)")
    }
}

extension PseudoTerminal {
    /// Starts the command on a terminal.
    convenience init(
        _ arguments: [String], data: String, columns: Int, rows: Int, environment: [String] = ["TERM=xterm"]
    ) throws {
        try self.init(
            program: Command.path, arguments, columns: columns, rows: rows,
            environment: ["KITH_DATA=\(data)", "PATH=/usr/bin:/bin"] + environment)
    }
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
