import Dispatch
import Glibc
import KithDocument
import KithNode
import KithTransport
import Synchronization

/// What the commands need of a node that does not run yet: each function hands over to KithNode.
enum NodeCommands {
    /// A node as `init` and `join` leave it.
    struct Summary: Sendable {
        let id: String
        let name: String
        let group: String
        let role: String

        init(_ identity: Identity) {
            id = identity.nodeID.description
            name = identity.nodeName
            group = identity.groupName
            role = identity.role.description
        }
    }

    /// `kith start`, as it was asked for.
    struct Start: Sendable {
        var directory: NodeDirectory
        /// `HOST:PORT`; nil for the port kept, or the default.
        var listen: String?
        var peers: [String] = []
        var discovers = true
        /// `text` or `json`.
        var logFormat: String?
        /// Patterns of network interfaces that count for discovery.
        var interfaces: [String] = []
        /// `HOST:PORT`, told to the group.
        var advertise: [String] = []
        /// A level for an area, or for all where the area is nil.
        var logLevels: [(level: String, area: String?)] = []
    }

    /// Makes the directory, this node's identity, and a new group with this node as admin.
    /// - Parameter rootFile: where the root's key goes; nil for the directory.
    static func initialise(_ directory: NodeDirectory, group: String?, name: String?, rootFile: String?)
        async throws(CommandError) -> Summary
    {
        try asCommand { () throws(NodeError) in
            Summary(try NodeSetup.initialise(directory, groupName: group, nodeName: name, rootFile: rootFile))
        }
    }

    /// Makes the directory and identity, finds the inviter and gets a certificate.
    /// - Parameter peer: `HOST:PORT` of the inviter; nil to find it by DNS-SD.
    static func join(_ directory: NodeDirectory, code: String, name: String?, peer: String?)
        async throws(CommandError) -> Summary
    {
        try asCommand { () throws(NodeError) in
            Summary(try NodeSetup.join(directory, code: code, nodeName: name, peer: peer))
        }
    }

    /// Forgets the group; the databases stay.
    static func leave(_ directory: NodeDirectory) async throws(CommandError) {
        try asCommand { () throws(NodeError) in try NodeSetup.leave(directory) }
    }

    /// Who the node of a directory is.
    static func identity(_ directory: NodeDirectory) async throws(CommandError) -> NodeIdentity {
        try asCommand { () throws(NodeError) in
            try NodeSetup.identity(of: directory, machineIDFile: MachineIdentity.file())
        }
    }

    /// A directory was moved to this machine.
    static func keepIdentity(_ directory: NodeDirectory) async throws(CommandError) {
        try asCommand { () throws(NodeError) in
            try NodeSetup.keep(directory, machineIDFile: MachineIdentity.file())
        }
    }

    /// A directory is a copy: it becomes a new node's.
    /// - Returns: whether a root's key went too.
    static func resetIdentity(_ directory: NodeDirectory) async throws(CommandError) -> Bool {
        try asCommand { () throws(NodeError) in try NodeSetup.reset(directory) }
    }

    /// Runs the node until SIGTERM, SIGINT or `kith stop`; prints its one line `ready` itself.
    static func start(_ start: Start) async throws(CommandError) {
        DescriptorLimit.raise()
        let log = Log(format: try logFormat(start.logFormat))
        for setting in start.logLevels {
            let text = setting.area.map { "\($0)=\(setting.level)" } ?? setting.level
            guard log.configure(text) else {
                let areas = Log.Area.allCases.map(\.rawValue).joined(separator: ", ")
                throw .usage("--log takes LEVEL or AREA=LEVEL; areas are \(areas)")
            }
        }
        var configuration = NodeConfiguration(directory: start.directory, log: log)
        configuration.listen = start.listen
        configuration.peers = start.peers
        configuration.usesDiscovery = start.discovers
        configuration.interfaces = start.interfaces
        configuration.advertise = start.advertise
        let node = try asCommand { [configuration] () throws(NodeError) in
            let node = try Node(configuration)
            try node.start()
            return node
        }
        let signals = StopSignals()
        node.stopRequested = signals.raise
        Output.line("ready \(node.listening.joined(separator: " ")) \(start.directory.path)")
        Output.flush()
        let statusSignal = StatusSignal { node.logStatus() }
        await signals.wait()
        withExtendedLifetime(statusSignal) {}
        await withCheckedContinuation { continuation in node.stop { continuation.resume() } }
    }

    private static func logFormat(_ name: String?) throws(CommandError) -> LogFormat {
        switch name {
        case nil, "text": return .ofStandardError()
        case "json": return .json
        case let name?: throw .usage("--log-format is text or json, not \(Shown.name(name))")
        }
    }

    private static func asCommand<Value>(_ body: () throws(NodeError) -> Value) throws(CommandError) -> Value {
        do throws(NodeError) { return try body() } catch {
            throw CommandError(error.message, status: error.code == "usage" ? ExitStatus.usage : ExitStatus.failed)
        }
    }
}

/// SIGTERM and SIGINT, and whatever else ends a node. A second signal ends the process at once.
private struct StopSignals {
    let raise: @Sendable () -> Void
    private let stream: AsyncStream<Void>
    private var sources: [any DispatchSourceSignal] = []

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.stream = stream
        raise = { continuation.yield() }
        let count = Counter()
        for number in [SIGTERM, SIGINT] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                if count.next() > 1 { _exit(1) }
                continuation.yield()
            }
            source.resume()
            sources.append(source)
        }
    }

    func wait() async { for await _ in stream { return } }

    private final class Counter: Sendable {
        private let count = Atomic(0)

        func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
    }
}
