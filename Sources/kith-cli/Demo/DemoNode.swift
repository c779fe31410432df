import Glibc
import KithDocument
import KithHTTPCore
import KithNode
import Synchronization

/// A node of the demonstration: its directory, its process, and the client that talks to it.
///
/// The scenario uses it from one thread; `stop` may come from another at any time and ends what runs and what would.
final class DemoNode: Sendable {
    let name: String
    let client: ControlClient
    private let folder: String
    private let environment: [String]
    private let state = Mutex(State())

    private struct State {
        var node: DemoProcess?
        var command: DemoProcess?
        var isStopped = false
    }

    init(name: String, folder: String, environment: [String]) throws(CommandError) {
        self.name = name
        self.folder = folder
        self.environment = environment
        do throws(ControlError) { client = ControlClient(try NodeDirectory(option: "\(folder)/\(name)")) } catch {
            throw CommandError(error.message)
        }
    }

    /// Runs a command of this node to its end.
    func run(_ arguments: [String]) throws(CommandError) {
        let process = try launch(arguments) { $0.command = $1 }
        guard let status = process.wait(milliseconds: 20_000) else {
            throw CommandError("kith \(arguments[0]) of node \(name) has not ended after 20 s")
        }
        if status != 0 { throw CommandError("kith \(arguments[0]) of node \(name) failed: \(process.lastWords)") }
    }

    /// Starts the node and waits until it is ready.
    func start(peers: [String], discovers: Bool) throws(CommandError) {
        var arguments = ["start"]
        for peer in peers { arguments += ["--peer", peer] }
        if !discovers { arguments.append("--no-discovery") }
        let process = try launch(arguments) { $0.node = $1 }
        guard let line = process.line(milliseconds: 15_000), line.hasPrefix("ready") else {
            throw CommandError("node \(name) did not start: \(process.lastWords)")
        }
    }

    /// Starts a process and notes it, unless the node was stopped.
    private func launch(_ arguments: [String], _ note: (inout State, DemoProcess) -> Void)
        throws(CommandError) -> DemoProcess
    {
        let launched: Result<DemoProcess, CommandError> = state.withLock { state in
            if state.isStopped { return .failure(CommandError("node \(name) is stopped")) }
            do throws(CommandError) {
                let arguments = arguments + ["--data", client.directory.path]
                let process = try DemoProcess(arguments, environment: environment, log: "\(folder)/\(name).log")
                note(&state, process)
                return .success(process)
            } catch {
                return .failure(error)
            }
        }
        return try launched.get()
    }

    /// Where it listens, on this machine's loopback address.
    func loopbackAddress() throws(CommandError) -> String {
        let status = try client.json("GET", ["status"])
        let listen = status["node"]?["listen"]?[0]?.string ?? ""
        guard let colon = listen.lastIndex(of: ":") else { throw CommandError("node \(name) tells no address") }
        return "127.0.0.1\(listen[colon...])"
    }

    func id() throws(CommandError) -> String {
        try client.json("GET", ["status"])["node"]?["id"]?.string ?? ""
    }

    /// Waits until so many peers are connected, and the database is the same with all of them.
    func wait(peers: Int, inSync database: String?) throws(CommandError) {
        _ = try client.call(
            "POST", ["wait"], query: [("peers", String(peers)), ("in_sync", database), ("timeout_ms", "20000")])
    }

    func document(_ id: String, _ database: String) throws(CommandError) -> JSONValue {
        try client.json("GET", ["databases", database, "documents", id], query: [("meta", "true")])
    }

    /// Sets one member of a document.
    func edit(_ id: String, _ database: String, _ member: String, _ value: JSONValue) throws(CommandError) {
        let path = ["databases", database, "documents", id]
        var body = try client.json("GET", path)
        body[member] = value
        _ = try client.call("PUT", path, body: .bytes(body.canonicalBytes))
    }

    func delete(_ id: String, _ database: String) throws(CommandError) {
        _ = try client.call("DELETE", ["databases", database, "documents", id])
    }

    /// Ends its processes, by force where they do not go, and starts no more.
    func stop() {
        let (node, command) = state.withLock { state in
            state.isStopped = true
            return (state.node, state.command)
        }
        for process in [command, node] {
            guard let process else { continue }
            process.kill(SIGTERM)
            if process.wait(milliseconds: 5_000) == nil { process.kill(SIGKILL) }
        }
    }
}
