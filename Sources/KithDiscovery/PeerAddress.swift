/// An address as a person or a list names it: an IP address, or a host name that must be looked up before each dial.
package enum PeerAddress: Hashable, Sendable, CustomStringConvertible {
    case numeric(NetworkAddress)
    case name(String, port: UInt16)

    /// Reads `HOST:PORT`, `ADDRESS:PORT` or `[ADDRESS]:PORT`; a bare host or address gets the default port.
    ///
    /// Throws `invalid` with the rule that the text breaks.
    package init(_ text: String, defaultPort: UInt16? = nil) throws(DiscoveryError) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty, bytes.count <= 300 else {
            throw .invalid("a peer's address is HOST:PORT and at most 300 bytes")
        }
        let (host, portText) = try Self.split(text, bytes)
        let port: UInt16
        if let portText {
            guard portText.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let number = UInt16(portText), number > 0 else {
                throw .invalid("\(text): the port must be a number from 1 to 65535")
            }
            port = number
        } else if let defaultPort {
            port = defaultPort
        } else {
            throw .invalid("\(text): the port is missing; write HOST:PORT")
        }
        if let address = NetworkAddress(host: host, port: port) {
            guard !address.isUndialable else { throw .invalid("\(text): no node can be at this address") }
            self = .numeric(address)
        } else if Self.isName(host) {
            self = .name(host, port: port)
        } else {
            throw .invalid("\(text): neither an IP address nor a host name")
        }
    }

    /// The name, or the address with its scope: what a dial takes.
    package var host: String {
        switch self {
        case .numeric(let address): address.host
        case .name(let name, _): name
        }
    }

    package var port: UInt16 {
        switch self {
        case .numeric(let address): address.port
        case .name(_, let port): port
        }
    }

    package var description: String {
        switch self {
        case .numeric(let address): address.description
        case .name(let name, let port): "\(name):\(port)"
        }
    }

    private static func split(_ text: String, _ bytes: [UInt8]) throws(DiscoveryError) -> (host: String, port: String?)
    {
        if bytes[0] == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else {
                throw .invalid("\(text): the bracket is not closed")
            }
            let host = String(decoding: bytes[1..<end], as: UTF8.self)
            if end == bytes.count - 1 { return (host, nil) }
            guard bytes[end + 1] == UInt8(ascii: ":") else { throw .invalid("\(text): write [ADDRESS]:PORT") }
            return (host, String(decoding: bytes[(end + 2)...], as: UTF8.self))
        }
        let colons = bytes.indices.filter { bytes[$0] == UInt8(ascii: ":") }
        // An IPv6 address without brackets can have no port: which colon would be its colon?
        guard let colon = colons.first, colons.count == 1 else { return (text, nil) }
        return (
            String(decoding: bytes[..<colon], as: UTF8.self), String(decoding: bytes[(colon + 1)...], as: UTF8.self)
        )
    }

    /// Letters, digits, hyphens and underscores in labels of 1 to 63 bytes. Four numbers are no name: `300.1.1.1` is a
    /// mistyped address.
    private static func isName(_ host: String) -> Bool {
        var labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if labels.count > 1, labels[labels.count - 1].isEmpty { labels.removeLast() }
        guard host.utf8.count <= 253, let last = labels.last, !last.allSatisfy({ $0 >= 48 && $0 <= 57 }) else {
            return false
        }
        return labels.allSatisfy { label in
            !label.isEmpty && label.count <= Limits.labelBytes
                && label.allSatisfy { byte in
                    (byte >= 48 && byte <= 57) || (byte | 0x20 >= 97 && byte | 0x20 <= 122) || byte == UInt8(ascii: "-")
                        || byte == UInt8(ascii: "_")
                }
        }
    }
}
