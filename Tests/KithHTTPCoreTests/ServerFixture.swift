import Glibc
import KithHTTPCore
import Synchronization

/// A server on a Unix socket in a directory of its own, with a client for it.
final class ServerFixture: Sendable {
    let directory: String
    let socket: String
    let server: HTTPServer
    let client: HTTPClient

    init(limits: HTTPServer.TimeLimits = .local, handler: @escaping HTTPServer.Handler) throws {
        directory = try temporaryDirectory()
        socket = directory + "/s"
        server = try HTTPServer(listener: .unixSocket(socket), limits: limits, handler: handler)
        client = HTTPClient(.unixSocket(socket))
    }

    func close() {
        server.stop()
        rmdir(directory)
    }

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

func temporaryDirectory() throws -> String {
    var template = Array("/tmp/kith-http-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw HTTPError.interrupted("no temporary directory") }
    return template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
}

private final class Job: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Runs blocking work on a thread of its own: the tests' own threads are few.
func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws(HTTPError) -> Value) async throws(HTTPError)
    -> Value
{
    let result: Result<Value, HTTPError> = await withCheckedContinuation { continuation in
        let job = Job { continuation.resume(returning: Result { () throws(HTTPError) in try work() }) }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(job).toOpaque()
        let made = pthread_create(
            &thread, nil,
            { context in
                Unmanaged<Job>.fromOpaque(context!).takeRetainedValue().run()
                return nil
            }, context)
        precondition(made == 0, "no thread")
        pthread_detach(thread)
    }
    return try result.get()
}

/// Waits until a condition holds, for at most ten seconds; false when it never did.
func eventually(_ condition: @Sendable () -> Bool) async -> Bool {
    for _ in 0..<2_000 {
        if condition() { return true }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return condition()
}

/// A count shared by a handler and a test.
final class Counter: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add(_ number: Int = 1) { count.withLock { $0 += number } }
    func raise(to number: Int) { count.withLock { $0 = max($0, number) } }
}
