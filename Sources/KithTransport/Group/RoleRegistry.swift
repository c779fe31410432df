import KithDocument

/// The role of each node by the highest number of a certificate that was seen of it, so that a role can be lowered: of
/// equal numbers the lower role counts. The outcome does not depend on the order in which certificates were seen.
package struct RoleRegistry: Hashable, Sendable {
    /// What is remembered of one node.
    package struct Entry: Hashable, Sendable {
        package var role: Role
        package var number: UInt64
        /// The admin who signed the certificate; nil where an earlier version kept the entry.
        package var admittedBy: NodeID?
        /// What the node calls itself, for people; empty while it has not said.
        package var name = ""
    }

    private var entries: [NodeID: Entry] = [:]

    package init() {}

    package subscript(node: NodeID) -> Entry? { entries[node] }

    /// The nodes of which a certificate was seen, ascending.
    package var nodes: [NodeID] { entries.keys.sorted() }

    /// Takes in a certificate's role and number, and gives what counts now.
    /// - Returns: the entry that counts, and whether it is new.
    package mutating func see(
        _ node: NodeID, role: Role, number: UInt64, admittedBy: NodeID? = nil
    ) -> (entry: Entry, changed: Bool) {
        var seen = Entry(role: role, number: number, admittedBy: admittedBy)
        if var known = entries[node] {
            if known.number > number || (known.number == number && known.role <= role) {
                guard known.admittedBy == nil, let admittedBy, known.number == number, known.role == role else {
                    return (known, false)
                }
                known.admittedBy = admittedBy
                entries[node] = known
                return (known, true)
            }
            seen.name = known.name
        }
        // When full, what is shown still counts; it is only not remembered.
        if entries[node] != nil || entries.count < TransportLimits.rememberedRoles { entries[node] = seen }
        return (seen, entries[node] == seen)
    }

    /// Notes what a node calls itself.
    /// - Returns: whether that is new; false also for a node of which no certificate was seen.
    package mutating func call(_ node: NodeID, _ name: String) -> Bool {
        guard let known = entries[node], !known.name.utf8.elementsEqual(name.utf8),
            name.utf8.count <= TransportLimits.nameBytes
        else { return false }
        entries[node]?.name = name
        return true
    }

    func write(to writer: inout FieldWriter) {
        writer.write(count: entries.count)
        for (node, entry) in entries.sorted(by: { $0.key < $1.key }) {
            writer.write(fixed: node.bytes)
            writer.write(byte: entry.role.rawValue)
            writer.write(number: entry.number)
            writer.write(string: entry.admittedBy?.bytes ?? [])
            writer.write(string: Array(entry.name.utf8))
        }
    }

    /// - Parameter isFirstVersion: whether the entries hold role and number alone.
    init(from reader: inout FieldReader, isFirstVersion: Bool) throws(TransportError) {
        for _ in 0..<(try reader.readCount(atMost: TransportLimits.rememberedRoles)) {
            guard let node = NodeID(bytes: try reader.readFixed(32)), let role = Role(rawValue: try reader.readByte())
            else {
                throw .malformed("a remembered role is unknown")
            }
            let number = try reader.readNumber()
            if isFirstVersion {
                _ = see(node, role: role, number: number)
            } else {
                let admittedBy = NodeID(bytes: try reader.readString(atMost: 32))
                _ = see(node, role: role, number: number, admittedBy: admittedBy)
                _ = call(node, try reader.readText(atMost: TransportLimits.nameBytes))
            }
        }
    }
}
