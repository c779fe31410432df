import KithDocument
import KithNode

/// What the commands need of a node that does not run yet: each function hands over to KithNode.
enum NodeCommands {
    /// A node as `init` and `join` leave it.
    struct Summary: Sendable {
        let id: String
        let name: String
        let group: String
        let role: String
    }

    /// `kith start`, as it was asked for.
    struct Start: Sendable {
        var directory: NodeDirectory
        /// `HOST:PORT`; nil for the port kept, or the default.
        var listen: String?
        var peers: [String] = []
        var discovers = true
        /// `HOST:PORT` of the CouchDB API; nil for none.
        var http: String?
        /// A level for an area, or for all where the area is nil.
        var logLevels: [(level: String, area: String?)] = []
    }

    /// Makes the directory, this node's identity, and a new group with this node as admin.
    /// - Parameter rootFile: where the root's key goes; nil for the directory.
    static func initialise(_ directory: NodeDirectory, group: String?, name: String?, rootFile: String?)
        async throws(CommandError) -> Summary
    {
        throw notBuilt("init")
    }

    /// Makes the directory and identity, finds the inviter and gets a certificate.
    /// - Parameter peer: `HOST:PORT` of the inviter; nil to find it by DNS-SD.
    static func join(_ directory: NodeDirectory, code: String, name: String?, peer: String?)
        async throws(CommandError) -> Summary
    {
        throw notBuilt("join")
    }

    /// Forgets the group; the databases stay.
    static func leave(_ directory: NodeDirectory) async throws(CommandError) {
        throw notBuilt("leave")
    }

    /// Runs the node until SIGTERM, SIGINT or `kith stop`; prints its one line `ready` itself.
    static func start(_ start: Start) async throws(CommandError) {
        throw notBuilt("start")
    }

    private static func notBuilt(_ command: String) -> CommandError {
        CommandError("kith \(command) is not built yet in this version")
    }
}
