import KithDocument
import KithNode
import KithTransport

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

    /// Whether a node could start as far as that can be said without starting one.
    static func checkStart(_ configured: CommandConfiguration) -> StartCheck {
        StartCheck(NodeConfiguration(configured.configuration, directory: configured.directory, log: Log()))
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

    /// What a node knows of its group was damaged: what is left of it counts.
    static func recoverIdentity(
        _ directory: NodeDirectory, believing node: String?, isAlone: Bool
    ) async throws(CommandError) -> Recovery {
        try asCommand { () throws(NodeError) in try NodeSetup.recover(directory, believing: node, isAlone: isAlone) }
    }

    /// A directory is a copy: it becomes a new node's.
    /// - Returns: whether a root's key went too.
    static func resetIdentity(_ directory: NodeDirectory) async throws(CommandError) -> String? {
        try asCommand { () throws(NodeError) in try NodeSetup.reset(directory) }
    }

    /// Runs the node until SIGTERM, SIGINT or `kith stop`; prints its one line `ready` itself.
    static func start(_ configured: CommandConfiguration, isStrict: Bool) async throws(CommandError) {
        let supervisor = Supervisor(.ofThisProcess())
        MemoryArenas.limit()
        DescriptorLimit.raise()
        let signals = NodeSignals()
        defer { withExtendedLifetime(signals) {} }
        supervisor.open()
        let isJSON = configured.configuration.value(.logFormat) == "json"
        let log = Log(format: isJSON ? .json : .ofStandardError(), keeping: LogLimits.recentBytes)
        log.replace(with: configured.configuration.values(.log).compactMap { Log.Setting($0) })
        let node = try asCommand { () throws(NodeError) in
            let node = try Node(
                NodeConfiguration(configured.configuration, directory: configured.directory, log: log))
            node.supervisor = supervisor
            let file = configured.reader.namedFile
            node.follow(configured.configuration, isStrict: isStrict, namedFile: file) { configured.reader.read() }
            node.stopRequested = signals.stop
            try node.start()
            return node
        }
        supervisor.ready(node)
        Output.line("ready \(node.listening.joined(separator: " ")) \(configured.directory.path)")
        Output.flush()
        signals.hangup = { node.reload { _ in } }
        let statusSignal = StatusSignal { node.logStatus() }
        await signals.wait()
        withExtendedLifetime(statusSignal) {}
        await withCheckedContinuation { continuation in node.stop { continuation.resume() } }
    }

    private static func asCommand<Value>(_ body: () throws(NodeError) -> Value) throws(CommandError) -> Value {
        do throws(NodeError) { return try body() } catch {
            throw CommandError(error.message, status: error.code == "usage" ? ExitStatus.usage : ExitStatus.failed)
        }
    }
}
