import KithDocument

/// The role of each node by the highest number of a certificate that was seen of it, so that a role can be lowered: of
/// equal numbers the lower role counts. The outcome does not depend on the order in which certificates were seen.
package struct RoleRegistry: Hashable, Sendable {
    /// What is remembered of one node.
    package struct Entry: Hashable, Sendable {
        package var role: Role
        package var number: UInt64
    }

    private var entries: [NodeID: Entry] = [:]

    package init() {}

    package subscript(node: NodeID) -> Entry? { entries[node] }

    /// Takes in a certificate's role and number, and gives what counts now.
    /// - Returns: the entry that counts, and whether it is new.
    package mutating func see(_ node: NodeID, role: Role, number: UInt64) -> (entry: Entry, changed: Bool) {
        let seen = Entry(role: role, number: number)
        if let known = entries[node], known.number > number || (known.number == number && known.role <= role) {
            return (known, false)
        }
        // When full, what is shown still counts; it is only not remembered.
        if entries[node] != nil || entries.count < TransportLimits.rememberedRoles { entries[node] = seen }
        return (seen, entries[node] == seen)
    }

    func write(to writer: inout FieldWriter) {
        writer.write(count: entries.count)
        for (node, entry) in entries.sorted(by: { $0.key < $1.key }) {
            writer.write(fixed: node.bytes)
            writer.write(byte: entry.role.rawValue)
            writer.write(number: entry.number)
        }
    }

    init(from reader: inout FieldReader) throws(TransportError) {
        for _ in 0..<(try reader.readCount(atMost: TransportLimits.rememberedRoles)) {
            guard let node = NodeID(bytes: try reader.readFixed(32)), let role = Role(rawValue: try reader.readByte())
            else {
                throw .malformed("a remembered role is unknown")
            }
            _ = see(node, role: role, number: try reader.readNumber())
        }
    }
}
