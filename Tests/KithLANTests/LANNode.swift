import Glibc
import KithDocument
import KithHTTPCore
import KithTestSupport

/// A node on one machine of the LAN: the `kith` command in its namespace, and its control socket, which the file system
/// brings here.
final class LANNode {
    let name: String
    let machine: Int
    private let lab: Lab
    private let directory: String
    private var process: LineProcess?
    /// Who asks it, and who remembers what it acknowledges, where it was made with a group.
    private(set) var truth: TruthPoller?
    private(set) var ledger: Ledger?

    init(_ name: String, on machine: Int, of lab: Lab) {
        self.name = name
        self.machine = machine
        self.lab = lab
        directory = "\(lab.folder)/\(name)"
    }

    /// From now on it is asked what it says of others, and what it acknowledges is remembered.
    func watch(_ truth: TruthPoller?, _ ledger: Ledger?) {
        truth?.add(name, socket)
        ledger?.add(name, socket)
        (self.truth, self.ledger) = (truth, ledger)
    }

    // MARK: The command

    /// Runs `kith` to its end in the node's namespace.
    /// - Returns: the exit status, nil where it was killed, and the lines of its output.
    func command(_ arguments: String...) throws -> (status: Int32?, lines: [String]) { try command(arguments) }

    /// The same with a list.
    func command(_ arguments: [String]) throws -> (status: Int32?, lines: [String]) {
        let child = try LineProcess(wrapped([arguments[0], "--data", directory] + arguments.dropFirst()))
        // A join looks for its inviter for 30 s.
        let status = child.end(seconds: 35)
        return (status, child.lines)
    }

    /// Begins a command that is waited for later.
    func begin(_ arguments: String...) throws -> LineProcess {
        try LineProcess(wrapped([arguments[0], "--data", directory] + arguments.dropFirst()))
    }

    /// The same, where it has to succeed.
    @discardableResult
    func mustRun(_ arguments: String...) throws -> [String] {
        let child = try LineProcess(wrapped([arguments[0], "--data", directory] + arguments.dropFirst()))
        let status = child.end(seconds: 35)
        guard status == 0 else {
            throw Failure("kith \(arguments.joined(separator: " ")) on \(name): status \(status ?? -1); \(log)")
        }
        return child.lines
    }

    /// A copy of the directory as it is now on another machine, as after cloning a disk.
    func copy(as name: String, on machine: Int) throws -> LANNode {
        let copy = LANNode(name, on: machine, of: lab)
        copy.watch(truth, ledger)
        try lab.run("cp -a '\(directory)' '\(copy.directory)' && rm -f '\(copy.directory)/kith.sock'")
        return copy
    }

    /// Makes the copy a node of its own, in no group yet.
    func resetIdentity() throws {
        let child = try LineProcess(wrapped(["identity", "reset", "--yes", "--data", directory]))
        let status = child.end(seconds: 35)
        guard status == 0 else { throw Failure("kith identity reset on \(name): status \(status ?? -1); \(log)") }
    }

    /// Datagrams that the machine has sent since it is up.
    func sentDatagrams() throws -> Int {
        let lines = try lab.run("on \(machine) cat /proc/net/snmp").filter { $0.hasPrefix("Udp: ") }
            .map { $0.split(separator: " ") }
        guard lines.count == 2, let column = lines[0].firstIndex(of: "OutDatagrams"), let count = Int(lines[1][column])
        else { throw Failure("no count of datagrams: \(lines)") }
        return count
    }

    /// Runs the node, and waits until it says that it is ready.
    func start(_ arguments: String...) throws {
        let child = try LineProcess(wrapped(["start", "--data", directory, "--log", "mesh=debug"] + arguments))
        process = child
        _ = try child.wait(seconds: 60, for: "ready node \(name); \(log)") { $0.hasPrefix("ready") }
    }

    func stop() throws {
        let status = process?.terminate()
        process = nil
        guard status == 0 else { throw Failure("\(name) did not end cleanly: \(log)") }
    }

    /// Where its control socket is.
    var socket: String { "\(directory)/kith.sock" }

    /// Sends a signal to its process: SIGSTOP, SIGCONT.
    func signal(_ number: Int32) {
        guard let process else { return }
        _ = Glibc.kill(process.pid, number)
    }

    /// As a crash ends it.
    func kill() {
        process?.kill()
        process = nil
    }

    /// Standard error goes to a file beside the directory.
    private func wrapped(_ arguments: [String]) throws -> [String] {
        let script = "exec \"$@\" 2>> '\(directory).log'"
        return try lab.inside(machine) + ["bash", "-c", script, "kith", Program.built("kith")] + arguments
    }

    /// What the node said last, for the message about a failure.
    var log: String {
        let lines = allLog
        return lines.isEmpty ? "\(name) said nothing" : "log of \(name):\n" + lines.suffix(25).joined()
    }

    /// The lines of its log with these words.
    func logLines(_ words: String) -> [String] { allLog.filter { $0.contains(words) } }

    private var allLog: [String] {
        let text = TestFile.text(of: "\(directory).log") ?? ""
        return text.split(separator: "\n").map { $0 + "\n" }
    }

    // MARK: The control socket

    func status() throws -> JSONValue { try json("GET", ["status"]) }

    func put(_ id: String, _ body: JSONValue, in database: String = "t") throws {
        _ = try send("PUT", ["databases", database, "documents", id], body: body.canonicalBytes)
        ledger?.wrote([id], in: database, by: name)
    }

    /// The document, or nil where it is not here.
    func document(_ id: String, in database: String = "t") -> JSONValue? {
        try? json("GET", ["databases", database, "documents", id])
    }

    func createDatabase(_ name: String) throws { _ = try send("PUT", ["databases", name]) }

    private func json(_ method: String, _ path: [String]) throws -> JSONValue {
        try JSONValue(parsing: try send(method, path))
    }

    private func send(_ method: String, _ path: [String], body: [UInt8]? = nil) throws -> [UInt8] {
        let client = HTTPClient(.unixSocket(socket))
        let answer = try client.send(
            HTTPClientRequest(
                method: method, target: HTTPTarget.encode(["v1"] + path), body: body.map { .bytes($0) } ?? .none,
                seconds: 60))
        guard (200..<300).contains(answer.head.status) else {
            throw Failure("\(method) \(path) on \(name): \(String(decoding: answer.body, as: UTF8.self))")
        }
        return answer.body
    }
}

// MARK: What status says

extension JSONValue {
    /// The peer of that name in a status.
    func peer(_ name: String) -> JSONValue? { self["peers"]?.array?.first { $0["name"]?.string == name } }

    /// The state of the peer of that name in a status.
    func state(of name: String) -> String { peer(name)?["state"]?.string ?? "absent" }

    /// How many peers are connected.
    var connected: Int { self["peers"]?.array?.count { $0["connected"]?.bool == true } ?? 0 }

    /// The digest of a database.
    func digest(of database: String) -> String? {
        self["databases"]?.array?.first { $0["name"]?.string == database }?["digest"]?.string
    }

    /// Whether a database is in sync with so many peers.
    func isInSync(_ database: String, with peers: Int) -> Bool {
        let database = self["databases"]?.array?.first { $0["name"]?.string == database }
        return database?["in_sync_with"]?.integer == Int64(peers) && database?["peers"]?.integer == Int64(peers)
    }

    /// The codes of what is wrong, without advice.
    var checks: [String] {
        self["health"]?["checks"]?.array?.filter { $0["level"]?.string != "ok" }.compactMap { $0["code"]?.string } ?? []
    }
}
