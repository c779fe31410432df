import Glibc
import KithHTTPCore
import KithTestSupport
import Synchronization

/// A server on a Unix socket in a directory of its own, with a client for it.
final class ServerFixture: Sendable {
    private let directory = TemporaryDirectory()
    let socket: String
    let server: HTTPServer
    let client: HTTPClient

    init(limits: HTTPServer.TimeLimits = .local, handler: @escaping HTTPServer.Handler) throws {
        socket = directory.path + "/s"
        server = try HTTPServer(listener: .unixSocket(socket), limits: limits, handler: handler)
        client = HTTPClient(.unixSocket(socket))
    }

    func close() { server.stop() }

    /// Sends a request from a thread of its own.
    func send(
        _ method: String = "GET", _ target: String, headers: HTTPHeaders = [:], body: [UInt8]? = nil
    ) async throws -> (head: HTTPResponseHead, body: [UInt8]) {
        try await onThread { [client] () throws(HTTPError) in
            let body: HTTPClientRequest.Body = body.map { .bytes($0) } ?? .none
            return try client.send(HTTPClientRequest(method: method, target: target, headers: headers, body: body))
        }
    }
}

/// A count shared by a handler and a test.
final class Counter: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add(_ number: Int = 1) { count.withLock { $0 += number } }
    func raise(to number: Int) { count.withLock { $0 = max($0, number) } }
}
