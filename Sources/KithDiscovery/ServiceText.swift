import KithDocument

/// What a node says of itself in its TXT record: its id, its protocol version and its group's public tag, and never an
/// address. All of it is a hint: who a node is its certificate says.
package struct ServiceText: Hashable, Sendable {
    package let nodeID: NodeID?
    package let protocolVersion: Int?
    /// The public tag of the group, as in the subtype; here so that groups can be counted.
    package let tag: String?

    package init(nodeID: NodeID?, protocolVersion: Int?, tag: String?) {
        self.nodeID = nodeID
        self.protocolVersion = protocolVersion
        self.tag = tag
    }

    /// Reads the data of a TXT record (RFC 6763, 6): strings with a length byte, `key=value`, of equal keys the first
    /// counts, keys in any case. What can't be read is left out; nothing of it is an error.
    package init(decoding data: some Collection<UInt8>) {
        var nodeID: NodeID?
        var version: Int?
        var tag: String?
        var seen: Set<String> = []
        var rest = Array(data.prefix(Limits.textBytes))[...]
        while let length = rest.popFirst() {
            guard Int(length) <= rest.count else { break }
            let entry = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            guard let equals = entry.firstIndex(of: UInt8(ascii: "=")), equals > entry.startIndex else { continue }
            let key = String(decoding: entry[..<equals].map { $0 >= 65 && $0 <= 90 ? $0 | 0x20 : $0 }, as: UTF8.self)
            let value = entry[(equals + 1)...]
            guard seen.insert(key).inserted else { continue }
            switch key {
            case "id": nodeID = NodeID(String(decoding: value, as: UTF8.self))
            case "v":
                let text = String(decoding: value, as: UTF8.self)
                version = value.count <= 6 && value.allSatisfy { $0 >= 48 && $0 <= 57 } ? Int(text) : nil
            case "g":
                let text = String(decoding: value, as: UTF8.self)
                tag = Advertisement.isTag(text) ? text : nil
            default: break
            }
        }
        self.init(nodeID: nodeID, protocolVersion: version, tag: tag)
    }

    /// The data of the TXT record.
    package var encoded: [UInt8] {
        var data: [UInt8] = []
        func append(_ text: String) {
            data.append(UInt8(text.utf8.count))
            data.append(contentsOf: text.utf8)
        }
        if let nodeID { append("id=\(nodeID)") }
        if let protocolVersion { append("v=\(protocolVersion)") }
        if let tag { append("g=\(tag)") }
        return data
    }
}
