import Glibc
import KithDocument
import KithTestSupport
import Synchronization
import Testing

/// A node of a test: its directory, its process, and the command that talks to it.
final class TestNode: Sendable {
    static let names = ["ada", "ben", "cleo", "dora", "emil", "fay"]

    let name: String
    let directory: String
    /// Remembers what it acknowledges.
    let ledger: Ledger
    /// For what the processes print.
    private let folder: String
    private let environment: [String]
    private let state = Mutex(State())

    private struct State {
        var process: ChildProgram?
        var id: String?
        /// `HOST:PORT`, kept for the next start.
        var address: String?
        var environment: [String] = []
    }

    /// - Parameter environment: what its processes find besides the usual, `NAME=VALUE`.
    init(_ name: String, in folder: String, _ ledger: Ledger, environment: [String] = []) {
        self.name = name
        self.ledger = ledger
        self.folder = folder
        self.environment = environment
        directory = "\(folder)/\(name)"
    }

    // MARK: The command

    /// Runs a command of this node to its end.
    func run(_ arguments: [String], input: [UInt8] = [], within seconds: Double = 40) async throws
        -> ChildProgram.Finished
    {
        if Ledger.isLoss(arguments) { await onThread { self.ledger.willRun(arguments, of: self.name) } }
        let result = try await program(arguments, input: input).finish(within: seconds)
        if result.status == 0 { ledger.succeeded(arguments, input: input, of: name) }
        return result
    }

    /// The database is about to be taken away from this node, or damaged; all of them where none is named.
    func willLose(_ database: String? = nil) async {
        await onThread { self.ledger.willLose(database, of: self.name) }
    }

    /// A command of this node that goes on meanwhile.
    func program(_ arguments: [String], input: [UInt8] = []) throws -> ChildProgram {
        let more = state.withLock { $0.environment }
        return try ChildProgram(
            arguments, in: folder, input: input, environment: ["KITH_DATA=\(directory)"] + environment + more)
    }

    /// What its programs find in their environment from now on, `NAME=VALUE` each, besides what they need.
    func setEnvironment(_ variables: [String]) { state.withLock { $0.environment = variables } }

    /// Runs a command that must succeed.
    /// - Returns: what it printed, without the line end.
    @discardableResult
    func kith(
        _ arguments: String..., input: [UInt8] = [], within seconds: Double = 40,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let result = try await run(arguments, input: input, within: seconds)
        try #require(
            result.status == 0,
            "\(name): kith \(arguments.joined(separator: " ")): \(result.status) \(result.errorText)",
            sourceLocation: sourceLocation)
        return result.line
    }

    /// Runs a command that must succeed and prints one JSON value.
    func json(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws -> JSONValue {
        let result = try await run(arguments)
        try #require(
            result.status == 0,
            "\(name): kith \(arguments.joined(separator: " ")): \(result.status) \(result.errorText)",
            sourceLocation: sourceLocation)
        return try JSONValue(parsing: result.output)
    }

    // MARK: Its life

    /// The node's id, once it is in a group.
    var id: String { state.withLock { $0.id } ?? "" }

    /// Makes a group with this node as admin.
    func found(_ group: String) async throws { note(try await kith("init", "--group", group, "--name", name)) }

    private func note(_ told: String) {
        // `node       NAME (ID)`
        let line = told.split(separator: "\n").first ?? ""
        let id = line.split(separator: "(").last?.prefix { $0 != ")" }
        state.withLock { $0.id = id.map(String.init) }
    }

    /// Where it listens, once it was started.
    var address: String? { state.withLock { $0.address } }

    /// Where its control socket is.
    var socket: String { "\(directory)/kith.sock" }

    var processID: Int32? { state.withLock { $0.process?.processID } }

    /// What it logged.
    var log: String { String(decoding: state.withLock { $0.process }?.errors ?? [], as: UTF8.self) }

    /// Makes this node one of the other's group.
    func join(by other: TestNode, role: String = "writer", root: String? = nil) async throws {
        var invite = ["invite", "--role", role]
        if let root { invite += ["--root", root] }
        let invited = try await other.run(invite)
        try #require(invited.status == 0, "\(other.name): kith \(invite): \(invited.errorText)")
        let code = invited.line
        note(try await kith("join", code, "--name", name, "--peer", try #require(other.address)))
    }

    /// Starts the node, on the port it had before or on a free one, and waits until it is ready.
    /// - Parameter peers: the nodes it is to dial, as far as they were started before; itself is left out.
    func start(peers: [TestNode] = [], options: [String] = []) async throws {
        try await start(listening: address ?? "127.0.0.1:0", peers: peers, options: options)
    }

    /// - Parameter address: `HOST:PORT`; nil leaves it to the node.
    func start(listening address: String?, peers: [TestNode] = [], options: [String] = []) async throws {
        var arguments = ["start", "--no-discovery"] + options
        if let address { arguments += ["--listen", address] }
        for peer in peers where peer !== self { if let address = peer.address { arguments += ["--peer", address] } }
        let process = try program(arguments)
        state.withLock { $0.process = process }
        let line = await Blocking.run {
            Blocking.poll(seconds: 30) { () -> String? in
                let output = process.output
                if output.contains(UInt8(ascii: "\n")) { return String(decoding: output, as: UTF8.self) }
                return process.status == nil ? nil : ""
            }
        }
        let words = line?.split(whereSeparator: \.isWhitespace).map(String.init) ?? []
        try #require(words.count >= 3 && words[0] == "ready", "\(name) did not start: \(line ?? "silence") \(log)")
        #expect(words.last == directory)
        state.withLock { $0.address = words[1] }
    }

    /// Ends the node as a service manager does.
    func stop() async throws {
        guard let process = state.withLock({ $0.process }) else { return }
        process.signal(SIGTERM)
        let result = try await process.finish(within: 20)
        #expect(result.status == 0, "\(name) ended with \(result.status): \(result.errorText)")
        state.withLock { $0.process = nil }
    }

    /// Ends the node as a power cut does.
    func kill() { state.withLock { $0.process }?.signal(SIGKILL) }

    /// Waits until its process has ended, and forgets it.
    @discardableResult
    func ended(within seconds: Double = 20) async -> Int32? {
        guard let process = state.withLock({ $0.process }) else { return nil }
        let status = await Blocking.run { process.wait(seconds: seconds) }
        state.withLock { $0.process = nil }
        return status
    }

    // MARK: What it says of itself

    func status() async throws -> JSONValue { try await json("status", "--json") }

    /// A database's part of the status.
    func database(_ name: String) async throws -> JSONValue {
        let databases = try await status()["databases"]?.array ?? []
        return try #require(databases.first { $0["name"]?.string == name }, "\(self.name) has no database \(name)")
    }

    /// A peer's part of the status.
    func peer(_ other: TestNode) async throws -> JSONValue {
        let peers = try await status()["peers"]?.array ?? []
        return try #require(peers.first { $0["id"]?.string == other.id }, "\(name) does not know \(other.name)")
    }

    /// Whether it calls a peer in sync, soon: on a busy machine a peer may answer late, and is unknown until it does.
    func seesInSync(_ other: TestNode) async throws -> Bool {
        try await eventually(within: 30) { try await peer(other)["state"]?.string == "in_sync" }
    }

    func revision(_ database: String, _ id: String) async throws -> String? {
        try await json("get", database, id, "--meta")["_rev"]?.string
    }

    /// What is printed a line of JSON each.
    func lines(_ arguments: String...) async throws -> [JSONValue] {
        let result = try await run(arguments)
        try #require(result.status == 0, "\(name): kith \(arguments): \(result.errorText)")
        return try result.output.split(separator: UInt8(ascii: "\n")).map { try JSONValue(parsing: Array($0)) }
    }
}

extension [TestNode] {
    /// Makes a database and waits until all have it.
    func makeDatabase(_ name: String) async throws {
        try await self[0].kith("db", "create", name)
        let here = try await eventually(within: 20) {
            for node in self where try await !node.kith("db", "list").split(separator: "\n").contains(Substring(name)) {
                return false
            }
            return true
        }
        try #require(here, "the database \(name) is not on all nodes")
    }

    /// Each writes a document of its own, so that there is something to lose.
    func writeEach(_ id: String, in database: String) async throws {
        for node in self { try await node.kith("put", database, "\(id)-\(node.name)", #"{"by":"\#(node.name)"}"#) }
    }

    /// Waits until all are connected to all and say that they are in sync, have one digest, and show every document that
    /// one of them acknowledged (`Ledger`).
    /// - Returns: the digest.
    @discardableResult
    func settle(_ database: String, within seconds: Double = 60) async throws -> String {
        let watch = Stopwatch()
        let isInSync = try await eventually(within: seconds) {
            for node in self {
                let wait = ["wait", "--peers", "\(count - 1)", "--in-sync", database, "--timeout", "5s"]
                if try await node.run(wait).status != 0 { return false }
            }
            return true
        }
        if !isInSync {
            for node in self { print("\(node.name): \(try await node.status())\n\(node.log.suffix(2_000))") }
        }
        try #require(isInSync, "the nodes are not in sync in \(database) after \(seconds) s")
        return try await settleEach(database, within: Swift.max(5, seconds - watch.seconds))
    }

    /// Waits until all have one digest and show every document that one of them acknowledged, whoever else there is and
    /// whatever they say.
    /// - Returns: the digest.
    @discardableResult
    func settleEach(_ database: String, within seconds: Double = 60) async throws -> String {
        let (ledger, names) = (self[0].ledger, map(\.name))
        return try await onThread { try ledger.settle(database, on: names, within: seconds) }
    }

    /// Cuts all from all.
    func pauseAll() async throws {
        try await together(self) { try await $0.kith("pause") }
        let apart = try await eventually(within: 20) {
            for node in self {
                let peers = try await node.status()["peers"]?.array ?? []
                if peers.contains(where: { $0["connected"]?.bool == true }) { return false }
            }
            return true
        }
        try #require(apart, "the nodes are paused and still connected")
    }

    func resumeAll() async throws { try await together(self) { try await $0.kith("resume") } }
}
