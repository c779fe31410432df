package import KithDocument

/// A presence record that a node has: whose, and its count. Of two records of a node the higher counts.
package struct PresenceOffer: Hashable, Sendable {
    package let node: NodeID
    package let counter: UInt64

    package init(node: NodeID, counter: UInt64) {
        self.node = node
        self.counter = counter
    }
}

/// Which presence records a node has, and which it wants of those that it was offered: so each record travels to each node
/// once, though its news comes from every neighbour.
package struct Gossip: Hashable, Sendable {
    package var offers: [PresenceOffer]
    package var wants: [NodeID]

    package init(offers: [PresenceOffer] = [], wants: [NodeID] = []) {
        self.offers = offers
        self.wants = wants
    }

    /// What a hello says of a node that understands this.
    package static let capability = "gossip"

    /// Bytes of an offer and of a want.
    private static let offerBytes = 40
    private static let wantBytes = 32

    func append(to writer: inout CBORWriter) {
        writer.beginMap(2)
        writer.append(uint: 1)
        writer.beginBytes(Self.offerBytes * offers.count)
        for offer in offers {
            writer.append(raw: offer.node.bytes)
            writer.append(raw: offer.counter)
        }
        writer.append(uint: 2)
        writer.beginBytes(Self.wantBytes * wants.count)
        for want in wants { writer.append(raw: want.bytes) }
    }

    init(_ reader: inout CBORReader) throws(ProtocolError) {
        offers = []
        wants = []
        var keys = try reader.map()
        while let key = try keys.next(&reader) {
            switch key {
            case 1:
                let bytes = try reader.byteString(
                    atMost: Self.offerBytes * ReplicationLimits.gossipRecords, "offers of presence")
                for part in try Self.parts(bytes, of: Self.offerBytes) {
                    let counter = bytes.loadUnaligned(fromByteOffset: part + 32, as: UInt64.self)
                    offers.append(
                        PresenceOffer(node: NodeID(bytes, from: part), counter: UInt64(bigEndian: counter)))
                }
            case 2:
                let bytes = try reader.byteString(
                    atMost: Self.wantBytes * ReplicationLimits.gossipRecords, "wants of presence")
                for part in try Self.parts(bytes, of: Self.wantBytes) {
                    wants.append(NodeID(bytes, from: part))
                }
            default: try reader.skip()
            }
        }
    }

    private static func parts(_ bytes: UnsafeRawBufferPointer, of size: Int) throws(ProtocolError) -> StrideTo<Int> {
        guard bytes.count % size == 0 else { throw ProtocolError("gossip ends in the middle") }
        return stride(from: 0, to: bytes.count, by: size)
    }
}
