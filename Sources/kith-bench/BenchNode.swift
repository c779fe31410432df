import KithDocument
import KithHTTPCore

/// A real node: a directory, a process of `kith start`, and its control socket.
final class BenchNode {
    let directory: String
    private let log: String
    private let client: HTTPClient
    private(set) var process: BenchProcess?

    /// How long a node may take for anything it is asked to do, in milliseconds.
    private static let patienceMilliseconds = 600_000

    init(directory: String) {
        self.directory = directory
        log = directory + ".log"
        client = HTTPClient(.unixSocket(directory + "/kith.sock"))
    }

    /// Makes the first node of a group and starts it.
    static func founder(_ directory: String) throws(BenchError) -> BenchNode {
        let node = BenchNode(directory: directory)
        try node.command(["init", "--group", "bench", "--name", "founder"])
        try node.start(peer: nil)
        return node
    }

    /// Makes a node of the group that `founder` is in, and does not start it.
    static func member(_ directory: String, of founder: BenchNode) throws(BenchError) -> BenchNode {
        let node = BenchNode(directory: directory)
        let code = try founder.json("POST", ["invitations"])["code"]?.string ?? ""
        try node.command(["join", code, "--name", "member", "--peer", try founder.address()])
        return node
    }

    /// Runs a command of this node to its end.
    func command(_ arguments: [String]) throws(BenchError) {
        let status = try BenchProcess(arguments + ["--data", directory], log: log).wait()
        if status != 0 { throw BenchError("kith \(arguments[0]) ended with status \(status): \(log) says why") }
    }

    /// Starts it and waits until it is ready.
    func start(peer: String?) throws(BenchError) {
        let process = try BenchProcess(
            ["start", "--no-discovery", "--data", directory] + (peer.map { ["--peer", $0] } ?? []), log: log)
        guard let line = process.line(milliseconds: 30_000), line.hasPrefix("ready") else {
            throw BenchError("kith start was not ready within 30 s: \(log) says why")
        }
        self.process = process
    }

    func stop() {
        process?.stop()
        process = nil
    }

    /// Where it listens, on this machine's loopback address.
    func address() throws(BenchError) -> String {
        let listen = try json("GET", ["status"])["node"]?["listen"]?[0]?.string ?? ""
        guard let colon = listen.lastIndex(of: ":") else { throw BenchError("a node tells no address") }
        return "127.0.0.1" + listen[colon...]
    }

    /// One operation of its control interface.
    /// - Returns: the status of HTTP and the body.
    func call(
        _ method: String, _ path: [String], query: [(String, String)] = [], body: HTTPClientRequest.Body = .none
    ) throws(BenchError) -> (status: Int, body: [UInt8]) {
        let items = query.map { HTTPQueryItem(name: $0.0, value: $0.1) }
        let request = HTTPClientRequest(
            method: method, target: HTTPTarget.encode(["v1"] + path, query: items), body: body)
        do throws(HTTPError) {
            let (head, body) = try client.send(request)
            return (head.status, body)
        } catch {
            throw BenchError("a node does not answer: \(error.message); \(log) says more")
        }
    }

    /// One operation that must succeed.
    func json(_ method: String, _ path: [String], query: [(String, String)] = []) throws(BenchError) -> JSONValue {
        let (status, body) = try call(method, path, query: query)
        guard (200..<300).contains(status) else {
            throw BenchError("\(method) \(path.joined(separator: "/")): \(String(decoding: body, as: UTF8.self))")
        }
        if body.isEmpty { return .null }
        do throws(DocumentError) { return try JSONValue(parsing: body) } catch { throw BenchError(error.message) }
    }

    /// Waits until another node is connected and the database is the same on both.
    func waitInSync(_ database: String?) throws(BenchError) {
        var query = [("peers", "1"), ("timeout_ms", "\(Self.patienceMilliseconds)")]
        if let database { query.append(("in_sync", database)) }
        _ = try json("POST", ["wait"], query: query)
    }

    /// How many nodes are connected.
    func connectedPeers() throws(BenchError) -> Int {
        (try json("GET", ["status"])["peers"]?.array ?? []).count { $0["connected"]?.bool == true }
    }

    /// Documents and digest of a database; nil where it is not.
    func state(of database: String) throws(BenchError) -> (documents: UInt64, digest: String)? {
        let all = try json("GET", ["status"])["databases"]?.array ?? []
        guard let entry = all.first(where: { $0["name"]?.string == database }),
            let documents = entry["documents"]?.natural, let digest = entry["digest"]?.string
        else { return nil }
        return (documents, digest)
    }
}
