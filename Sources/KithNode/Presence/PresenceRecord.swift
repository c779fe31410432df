import KithDocument

/// What a node says of itself to the whole mesh: passed on from neighbour to neighbour, so that every node's status
/// shows every node.
package struct PresenceRecord: Hashable, Sendable {
    package struct Database: Hashable, Sendable {
        package let name: String
        package let position: Position
        package let digest: Digest256

        package init(name: String, position: Position, digest: Digest256) {
            self.name = name
            self.position = position
            self.digest = digest
        }
    }

    package let node: NodeID
    /// The node's own count of its records, rising for ever: of two records the higher counts.
    package let counter: UInt64
    package let name: String
    package let softwareVersion: String
    package let isReader: Bool
    /// The nodes it has links to, ascending.
    package let neighbours: [NodeID]
    /// Its databases, ascending by name.
    package let databases: [Database]
    /// The process's own number, drawn at its start; 0 from nodes of earlier versions.
    package let instance: UInt64
    /// Identities of which this node has found two nodes alive, ascending.
    package let doubled: [NodeID]
    /// Where it says that it can be reached besides, as `HOST:PORT`: what an administrator gave it to tell. Hints.
    package let addresses: [String]
    /// Whether its machine announces it by DNS-SD now.
    package let isAnnounced: Bool

    package init(
        node: NodeID, counter: UInt64, name: String, softwareVersion: String, isReader: Bool, neighbours: [NodeID],
        databases: [Database], instance: UInt64 = 0, doubled: [NodeID] = [], addresses: [String] = [],
        isAnnounced: Bool = false
    ) {
        self.node = node
        self.counter = counter
        self.name = name
        self.softwareVersion = softwareVersion
        self.isReader = isReader
        self.neighbours = neighbours
        self.databases = databases
        self.instance = instance
        self.doubled = doubled
        self.addresses = addresses
        self.isAnnounced = isAnnounced
    }
}
