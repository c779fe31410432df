import KithDocument
import KithReplication

// A presence record is a CBOR map (RFC 8949, deterministic): 1 node (32 bytes), 2 counter, 3 name, 4 software version,
// 5 whether it is a reader, 6 neighbours (an array of 32 bytes each, ascending), 7 databases (an array of [name, timeline,
// sequence, digest], ascending by name), 8 the number of the process (0 for none), 9 identities of which two nodes live (as
// 6), 10 addresses (an array of texts; left out where there are none), 11 whether it is announced by DNS-SD (left out where
// it is not). Unknown keys are passed over, and pass on unread: a record travels as it came.

extension PresenceRecord {
    package var encoded: [UInt8] {
        var writer = CBORWriter()
        writer.beginMap(9 + (addresses.isEmpty ? 0 : 1) + (isAnnounced ? 1 : 0))
        writer.append(uint: 1)
        writer.append(bytes: node.bytes)
        writer.append(uint: 2)
        writer.append(uint: counter)
        writer.append(uint: 3)
        writer.append(text: name)
        writer.append(uint: 4)
        writer.append(text: softwareVersion)
        writer.append(uint: 5)
        writer.append(bool: isReader)
        writer.append(uint: 6)
        writer.beginArray(neighbours.count)
        for neighbour in neighbours { writer.append(bytes: neighbour.bytes) }
        writer.append(uint: 7)
        writer.beginArray(databases.count)
        for database in databases {
            writer.beginArray(4)
            writer.append(text: database.name)
            writer.append(uint: database.position.timeline)
            writer.append(uint: database.position.sequence)
            writer.append(bytes: database.digest.bytes)
        }
        writer.append(uint: 8)
        writer.append(uint: instance)
        writer.append(uint: 9)
        writer.beginArray(doubled.count)
        for node in doubled { writer.append(bytes: node.bytes) }
        if !addresses.isEmpty {
            writer.append(uint: 10)
            writer.beginArray(addresses.count)
            for address in addresses { writer.append(text: address) }
        }
        if isAnnounced {
            writer.append(uint: 11)
            writer.append(bool: true)
        }
        return writer.bytes
    }

    /// Reads a record from a neighbour.
    /// - Throws: `ProtocolError` for anything malformed or over a bound.
    package init(encoded: [UInt8]) throws(ProtocolError) {
        guard encoded.count <= NodeLimits.presenceBytes else { throw ProtocolError("a presence record is too large") }
        self = try CBORReader.read(encoded) { reader throws(ProtocolError) in try PresenceRecord(&reader) }
    }

    private init(_ reader: inout CBORReader) throws(ProtocolError) {
        var node: NodeID?
        var counter: UInt64 = 0
        var name = ""
        var softwareVersion = ""
        var isReader = false
        var neighbours: [NodeID] = []
        var databases: [Database] = []
        var instance: UInt64 = 0
        var doubled: [NodeID] = []
        var addresses: [String] = []
        var isAnnounced = false
        var keys = try reader.map()
        while let key = try keys.next(&reader) {
            switch key {
            case 1: node = try Self.node(&reader)
            case 2: counter = try reader.uint()
            case 3: name = try reader.text(atMost: ReplicationLimits.nodeNameBytes, "a node's name")
            case 4: softwareVersion = try reader.text(atMost: ReplicationLimits.wordBytes, "a software version")
            case 5: isReader = try reader.bool()
            case 6:
                let count = try reader.array(atMost: NodeLimits.presenceNodes, "neighbours")
                neighbours.reserveCapacity(count)
                for _ in 0..<count { neighbours.append(try Self.node(&reader)) }
            case 7:
                for _ in 0..<(try reader.array(atMost: NodeLimits.databases, "databases")) {
                    databases.append(try Self.database(&reader))
                }
            case 8: instance = try reader.uint()
            case 9:
                for _ in 0..<(try reader.array(atMost: NodeLimits.presenceTwins, "doubled nodes")) {
                    doubled.append(try Self.node(&reader))
                }
            case 10:
                for _ in 0..<(try reader.array(atMost: NodeLimits.presenceAddresses, "addresses")) {
                    addresses.append(try reader.text(atMost: NodeLimits.presenceAddressBytes, "an address"))
                }
            case 11: isAnnounced = try reader.bool()
            default: try reader.skip()
            }
        }
        guard let node else { throw ProtocolError("a presence record names no node") }
        self.init(
            node: node, counter: counter, name: name, softwareVersion: softwareVersion, isReader: isReader,
            neighbours: neighbours, databases: databases, instance: instance, doubled: doubled, addresses: addresses,
            isAnnounced: isAnnounced)
    }

    private static func node(_ reader: inout CBORReader) throws(ProtocolError) -> NodeID {
        let bytes = try reader.byteString(atMost: 32, "a node id")
        guard bytes.count == 32 else { throw ProtocolError("a node id has 32 bytes") }
        return NodeID(bytes, from: 0)
    }

    private static func database(_ reader: inout CBORReader) throws(ProtocolError) -> Database {
        try reader.tuple(4, "a database")
        let name = try reader.text(atMost: DocumentLimits.databaseNameBytes, "a database's name")
        let position = Position(timeline: try reader.uint(), sequence: try reader.uint())
        let digest = try reader.byteString(atMost: 32, "a digest")
        guard digest.count == 32 else { throw ProtocolError("a digest has 32 bytes") }
        return Database(name: name, position: position, digest: Digest256(bytes: digest))
    }
}
