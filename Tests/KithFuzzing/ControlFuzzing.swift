import Dispatch
import Glibc
import KithHTTPCore
import KithNode
import KithTestSupport
import Synchronization

/// Any request gets an answer of a known status in time, from a real node with a real database, and leaves it answering.
enum ControlFuzzing {
    static let seeds = [
        "GET /v1/status", "GET /v1/status?watch=true", "GET /v1/check", "GET /v1/mesh", "GET /v1/databases",
        "PUT /v1/databases/more", "DELETE /v1/databases/more", "POST /v1/wait?peers=1&in_sync=notes&timeout_ms=1",
        "POST /v1/pause?for_ms=1", "POST /v1/resume", "POST /v1/reload", "PUT /v1/log?level=error&area=mesh",
        "POST /v1/invitations?role=reader&valid_ms=1000", "PUT /v1/databases/notes/documents/a\n{\"x\":1}",
        "GET /v1/databases/notes/documents/a?meta=true", "DELETE /v1/databases/notes/documents/a",
        "GET /v1/databases/notes/changes?since=0&limit=10", "GET /v1/databases/notes/changes?follow=true",
        "GET /v1/databases/notes/policy", "PUT /v1/databases/notes/policy\n{\"default\":\"manual\"}",
        "GET /v1/databases/notes/conflicts", "GET /v1/databases/notes/export",
        "POST /v1/databases/notes/import?id=x&initial=true\n{\"x\":\"1\"}\n{\"x\":\"2\"}",
        "GET /v1/databases/notes/documents/a/history", "POST /v1/databases/notes/documents/a/purge",
        "POST /v1/databases/notes/documents/a/resolve?keep=1-00000000000000000000000000000000",
        "POST /v1/databases/notes/query\n"
            + #"{"query":"SELECT a.x AS y FROM _ AS a WHERE a.x = $n","parameters":{"n":1}}"#,
        "POST /v1/databases/notes/query\n" + #"{"query":"SELECT RAW UPPER(x) FROM _ LIMIT ?","parameters":{"1":2}}"#,
        "POST /v1/databases/notes/explain\n" + #"{"query":"SELECT * FROM _ ORDER BY x"}"#,
        "GET /v1/databases/notes/indexes", "DELETE /v1/databases/notes/indexes/i",
        "PUT /v1/databases/notes/indexes/i\n" + #"{"kind":"values","expressions":["x","LOWER(y)"],"where":"z=1"}"#,
        "PUT /v1/databases/notes/indexes/i\n" + #"{"kind":"elements","array":"a","path":"b.c"}"#,
        "GET /v1/databases/notes/refused", "GET /v1/support",
    ]

    /// Seconds within which an answer is there, or is streaming.
    private static let patience = 60
    /// Threads as a node's server has them: those that run the tests are few, and busy.
    private static let workers = HTTPWorkers()

    static func run(_ bytes: [UInt8]) throws(FuzzFailure) {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, let target = target(words[1]) else { return }
        let parts = Mutex<[[UInt8]]>(
            Array(bytes.dropFirst(line.count + 1)).isEmpty ? [] : [Array(bytes.dropFirst(line.count + 1))])
        let body = HTTPBodyReader { () async throws(HTTPError) -> [UInt8]? in parts.withLock { $0.popLast() } }
        let request = HTTPRequest(method: String(decoding: words[0], as: UTF8.self), target: target, body: body)
        let status = try answer(to: request)
        try FuzzFailure.require((200..<600).contains(status) && status != 500, "the answer has the status \(status)")
    }

    private static func target(_ bytes: ArraySlice<UInt8>) -> HTTPTarget? {
        do throws(HTTPError) { return try HTTPTarget(bytes: bytes) } catch { return nil }
    }

    /// Answers and reads some of the answer: a stream may have no end.
    private static func answer(to request: HTTPRequest) throws(FuzzFailure) -> Int {
        let router = FuzzedNode.shared.router
        let done = DispatchSemaphore(value: 0)
        let status = Mutex(0)
        let task = Task.detached(executorPreference: workers) {
            let response = await router.respond(to: request)
            status.withLock { $0 = response.status }
            if case .stream(let produce) = response.body {
                done.signal()
                try? await produce(HTTPBodyWriter { _ async throws(HTTPError) in throw HTTPError.gone })
            }
            done.signal()
        }
        defer { task.cancel() }
        guard done.wait(timeout: .now() + .seconds(patience)) == .success else {
            throw FuzzFailure("no answer in \(patience) s")
        }
        return status.withLock { $0 }
    }
}

/// A node of a group of its own, which looks for nobody.
private final class FuzzedNode: Sendable {
    static let shared = FuzzedNode()

    let router: ControlRouter
    private let folder = TemporaryDirectory()

    private init() {
        do {
            let directory = try NodeDirectory(option: folder.path)
            _ = try NodeSetup.initialise(directory, groupName: "fuzz", nodeName: "fuzz", rootFile: nil)
            var configuration = NodeConfiguration(directory: directory)
            configuration.listen = "127.0.0.1:0"
            configuration.usesDiscovery = false
            let node = try Node(configuration)
            try node.start()
            router = node.controlRouter
        } catch { fatalError("no node to ask: \(error)") }
    }
}
