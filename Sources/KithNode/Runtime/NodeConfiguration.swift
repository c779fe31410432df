import KithSystem

/// How a node is started.
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
    /// The machine that it runs on, with its disk.
    package var machine = Machine.local
    /// The file with the machine's id; an empty name checks nothing.
    package var machineIDFile = MachineIdentity.file()

    /// The port of Kith: the next free one is taken where another node has it.
    package static let defaultPort: UInt16 = 5484

    package init(directory: NodeDirectory, log: Log = Log()) {
        self.directory = directory
        self.log = log
    }
}
