import KithMerge
import KithNode

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How a node is started.
public struct NodeOptions: Sendable {
    /// What a node tells on standard error.
    public typealias LogLevel = KithLog.Level

    /// `HOST:PORT` to listen at; nil for all addresses at port 5484, or the next free one, kept from then on.
    public var listen: String?
    /// Addresses where peers may be, `HOST:PORT`, besides those that are found.
    public var peers: [String] = []
    /// Whether it looks for peers by DNS-SD and announces itself.
    public var usesDiscovery = true
    /// Which network interfaces count for discovery: `eth*`, `!docker*`. None for all.
    public var interfaces: [String] = []
    /// Where it can be reached besides the addresses that it has, `HOST:PORT`.
    public var advertise: [String] = []
    /// Whether `kith status --data FOLDER` and the other commands may talk to it, by a socket in its folder.
    public var servesCommands = true
    /// What is written to standard error where no `log` is given: warnings and errors, where nothing else is said.
    public var logLevel = LogLevel.warning
    /// What the node tells, and where it goes; nil for standard error.
    public var log: KithLog?

    /// Code that merges conflicts in databases whose policy names it (docs/merge.md). Of two with one name and version the last
    /// counts.
    public var resolvers: [Resolver] = []

    /// The usual ones.
    public init() {}

    func configuration(of folder: NodeDirectory) -> NodeConfiguration {
        var configuration = NodeConfiguration(directory: folder, log: (log ?? KithLog(level: logLevel)).log)
        configuration.listen = listen
        configuration.peers = peers
        configuration.usesDiscovery = usesDiscovery
        configuration.interfaces = interfaces
        configuration.advertise = advertise
        configuration.servesControl = servesCommands
        configuration.resolvers = ResolverSet(resolvers.map(\.code))
        return configuration
    }
}

/// What a node may do in its group.
public enum NodeRole: String, Sendable, CaseIterable {
    /// Writes, and lets others in.
    case admin
    case writer
    /// Reads; nobody takes documents from it.
    case reader
}

/// Who a node is.
public struct NodeIdentification: Hashable, Sendable {
    /// Of its key.
    public let id: String
    /// What people call it.
    public let name: String
    /// What people call its group.
    public let group: String
    /// What it may do.
    public let role: NodeRole
    /// Of the group's root, in hex: the same on every node of the group.
    public let fingerprint: String

    init(_ identity: NodeIdentity) {
        id = identity.id
        name = identity.name
        group = identity.group
        role = NodeRole(rawValue: identity.role) ?? .reader
        fingerprint = identity.fingerprint
    }
}

/// A code that lets one node in.
public struct Invitation: Hashable, Sendable {
    /// For people to pass on; whoever has it can join.
    public let code: String
    /// What the node that joins may do.
    public let role: NodeRole
    /// From then on the code is of no use.
    public let expiresAt: Date
}
