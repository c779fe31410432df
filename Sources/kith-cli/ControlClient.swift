import KithDocument
import KithHTTPCore
import KithNode

/// The command's end of the control socket. Errors of the node come out as the command's own.
struct ControlClient {
    let directory: NodeDirectory
    let socket: String
    private let client: HTTPClient

    init(_ directory: NodeDirectory) {
        self.directory = directory
        socket = directory.socketPath()
        client = HTTPClient(.unixSocket(socket))
    }

    /// For the directory that `--data` or the environment names.
    init(_ invocation: Invocation) throws(CommandError) { self.init(try Self.directory(invocation)) }

    static func directory(_ invocation: Invocation) throws(CommandError) -> NodeDirectory {
        try CommandConfiguration(invocation).directory
    }

    /// One operation: the body of its answer.
    /// - Parameter path: below `/v1`, not escaped.
    /// - Parameter query: items without a value are left out.
    /// - Parameter seconds: how long a node may take that is asked something, or is to change something; what streams a body
    ///   has no limit. A process that was stopped takes connections and answers nothing.
    func call(
        _ method: String, _ path: [String], query: [(String, String?)] = [], body: HTTPClientRequest.Body = .none,
        within seconds: Int? = nil
    ) throws(CommandError) -> [UInt8] {
        let answer: (head: HTTPResponseHead, body: [UInt8])
        var request = request(method, path, query, body)
        if case .stream = body {} else { request.seconds = seconds ?? Self.seconds(method) }
        do throws(HTTPError) { answer = try client.send(request) } catch {
            throw self.error(error)
        }
        if !(200..<300).contains(answer.head.status) { throw Self.error(answer.body[...]) }
        return answer.body
    }

    private static func seconds(_ method: String) -> Int { method == "GET" ? 20 : 120 }

    /// The same, read as JSON.
    func json(
        _ method: String, _ path: [String], query: [(String, String?)] = [], body: HTTPClientRequest.Body = .none,
        within seconds: Int? = nil
    ) throws(CommandError) -> JSONValue {
        try Self.parse(try call(method, path, query: query, body: body, within: seconds))
    }

    /// One operation whose answer is lines of JSON, handed on as they come, without their ends, until `receive` returns
    /// false.
    func lines(
        _ method: String, _ path: [String], query: [(String, String?)] = [], body: HTTPClientRequest.Body = .none,
        receive: ([UInt8]) -> Bool
    ) throws(CommandError) {
        var failure: [UInt8] = []
        var failed = false
        let head: HTTPResponseHead
        do throws(HTTPError) {
            head = try client.lines(request(method, path, query, body)) { head, line in
                if !(200..<300).contains(head.status) {
                    failure += line
                    return failure.count < 64 * 1024
                }
                if line.starts(with: Self.errorMark) {
                    failed = true
                    failure = line
                    return false
                }
                return receive(line)
            }
        } catch {
            throw self.error(error)
        }
        if failed {
            let inner = (try? Self.parse(failure))?["_error"]?.canonicalBytes ?? []
            throw Self.error(inner[...])
        }
        if !(200..<300).contains(head.status) { throw Self.error(failure[...]) }
    }

    /// One operation whose answer is bytes, handed on as they come, until `receive` returns false. An answer that was cut
    /// off is an error.
    func bytes(
        _ method: String, _ path: [String], receive: (HTTPResponseHead, UnsafeRawBufferPointer) -> Bool
    ) throws(CommandError) {
        var failure: [UInt8] = []
        let head: HTTPResponseHead
        do throws(HTTPError) {
            head = try client.stream(request(method, path, [], .none)) { head, bytes in
                if (200..<300).contains(head.status) { return receive(head, bytes) }
                failure += bytes
                return failure.count < 64 * 1024
            }
        } catch {
            throw self.error(error)
        }
        if !(200..<300).contains(head.status) { throw Self.error(failure[...]) }
    }

    /// How a line begins that ends a stream with an error.
    private static let errorMark = Array(#"{"_error":"#.utf8)

    static func parse(_ bytes: [UInt8]) throws(CommandError) -> JSONValue {
        do throws(DocumentError) { return try JSONValue(parsing: bytes) } catch {
            throw CommandError("the node's answer cannot be read: \(error.message)")
        }
    }

    private func request(
        _ method: String, _ path: [String], _ query: [(String, String?)], _ body: HTTPClientRequest.Body
    ) -> HTTPClientRequest {
        let items = query.compactMap { name, value in value.map { HTTPQueryItem(name: name, value: $0) } }
        return HTTPClientRequest(method: method, target: HTTPTarget.encode(["v1"] + path, query: items), body: body)
    }

    private func error(_ error: HTTPError) -> CommandError {
        switch error {
        case .cannotConnect(_, let reason):
            NodeAbsence(directory: directory, socket: socket, reason: reason).error
        case .noAnswer:
            CommandError(
                "the node of \(Shown.path(directory.path)) does not answer (\(error.message)): it is stopped, or its disk or its machine stands still; whether it does what it was told is not known"
            )
        default: CommandError("\(error.message); look at the node with: kith status")
        }
    }

    /// What an answer says that tells of an error.
    private static func error(_ body: ArraySlice<UInt8>) -> CommandError {
        guard let value = try? JSONValue(parsing: Array(body)), let message = value["message"]?.string else {
            return CommandError("the node answered with an error that cannot be read; look at its log")
        }
        let status = value["exit"]?.integer.flatMap { Int32(exactly: $0) } ?? ExitStatus.failed
        return CommandError(Shown.line(message, limit: ControlLimits.messageCharacters), status: status)
    }
}
