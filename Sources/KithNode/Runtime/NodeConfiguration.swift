import KithDiscovery
import KithMerge
import KithNetwork
import KithSystem
import KithTransport

/// How a node is started, and what there is around it: the machine, the network, discovery. A simulation has its own.
package struct NodeConfiguration: Sendable {
    package var directory: NodeDirectory
    /// `HOST:PORT`; nil for all addresses at the usual port or the one kept from last time.
    package var listen: String?
    /// Addresses where peers may be, `HOST:PORT`.
    package var peers: [String] = []
    package var usesDiscovery = true
    /// Which network interfaces count for discovery, as patterns: `eth*`, `!docker*`. None for all.
    package var interfaces: [String] = []
    /// Where this node can be reached besides the addresses that are found, `HOST:PORT`: told to the group.
    package var advertise: [String] = []
    package var log: Log
    /// Code of the application that merges.
    package var resolvers = ResolverSet()
    /// Whether it answers on its control socket.
    package var servesControl = true
    /// The machine that it runs on, with its disk.
    package var machine = Machine.local
    /// How it reaches others and is reached, as who it is; called once.
    package var transport: @Sendable (TLSConfiguration) throws(TransportError) -> any Transport = {
        (configuration) throws(TransportError) in try TLSTransport(configuration)
    }
    /// How it finds others; called with each start of discovery.
    package var discovery: @Sendable (InterfacePatterns) -> any DiscoveryService = { AvahiDiscovery(interfaces: $0) }
    /// The networks that it is on.
    package var network: any NetworkView = LocalNetwork()
    /// The file with the machine's id; an empty name checks nothing.
    package var machineIDFile = MachineIdentity.file()

    /// The port of Kith: the next free one is taken where another node has it.
    package static let defaultPort: UInt16 = 5484

    package init(directory: NodeDirectory, log: Log = Log()) {
        self.directory = directory
        self.log = log
    }
}
