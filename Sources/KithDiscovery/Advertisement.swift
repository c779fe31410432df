import KithDocument

/// What a node lets others find: where it listens and who it says it is.
package struct Advertisement: Hashable, Sendable {
    package let nodeName: String
    package let nodeID: NodeID
    package let port: UInt16
    package let protocolVersion: Int

    package init(nodeName: String, nodeID: NodeID, port: UInt16, protocolVersion: Int) {
        self.nodeName = nodeName
        self.nodeID = nodeID
        self.port = port
        self.protocolVersion = protocolVersion
    }

    /// The instance name: for people, and unique from the start by the node's short id, because a name that another
    /// process of this machine has is refused and one that another machine has is changed. After a refusal the next
    /// attempt gets a longer piece of the id, and then a number.
    package func instanceName(attempt: Int = 0) -> String {
        let id = Hex.encode(nodeID.bytes)
        let suffix =
            switch attempt {
            case 0: " (\(nodeID.short))"
            case 1: " (\(id.prefix(16)))"
            default: " (\(id.prefix(16)) \(attempt))"
            }
        var name = nodeName.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }
        while String(name).utf8.count + suffix.utf8.count > Limits.labelBytes { name.removeLast() }
        return String(name) + suffix
    }

    /// Whether a text may be a group's public tag: 2 to 62 lower-case letters, digits or hyphens, which with the
    /// underscore before them make one DNS label. (Avahi takes no subtype of a single letter.)
    package static func isTag(_ text: String) -> Bool {
        let bytes = text.utf8
        return (2..<Limits.labelBytes).contains(bytes.count)
            && bytes.allSatisfy { ($0 >= 48 && $0 <= 57) || ($0 >= 97 && $0 <= 122) || $0 == UInt8(ascii: "-") }
    }
}
