/// Where to connect to or to listen, as a person, a list or the network names it: an IP address, or a host name that must
/// be looked up before each dial.
package enum Endpoint: Hashable, Sendable, CustomStringConvertible {
    case numeric(NetworkAddress)
    case name(String, port: UInt16)

    /// An address where the host is one, else a name, which is not checked.
    package init(host: String, port: UInt16) {
        self = NetworkAddress(host: host, port: port).map(Endpoint.numeric) ?? .name(host, port: port)
    }

    /// Reads `HOST:PORT`, `ADDRESS:PORT` or `[ADDRESS]:PORT`; a bare host or address gets the default port.
    /// - Throws: the rule that the text breaks.
    package init(_ text: String, defaultPort: UInt16? = nil) throws(AddressError) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty, bytes.count <= Limits.textBytes else {
            throw AddressError(message: "an address is HOST:PORT and at most \(Limits.textBytes) bytes")
        }
        let (host, portText) = try Self.split(text, bytes)
        let port: UInt16
        if let portText {
            guard portText.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let number = UInt16(portText) else {
                throw Self.badPort(text)
            }
            port = number
        } else if let defaultPort {
            port = defaultPort
        } else {
            throw AddressError(message: "\(text): the port is missing; write HOST:PORT")
        }
        self.init(host: host, port: port)
        if case .name = self, !Self.isName(host) {
            throw AddressError(message: "\(text): neither an IP address nor a host name")
        }
    }

    /// Reads the same, and refuses what can't be dialled: a port 0, the unspecified address, multicast.
    /// - Throws: the rule that the text breaks.
    package init(peer text: String, defaultPort: UInt16? = nil) throws(AddressError) {
        try self.init(text, defaultPort: defaultPort)
        guard port > 0 else { throw Self.badPort(text) }
        if case .numeric(let address) = self, address.isUndialable {
            throw AddressError(message: "\(text): no node can be at this address")
        }
    }

    /// Reads where to listen: an address of this machine, or one that stands for all of them. A name is refused, for it may
    /// stand for several addresses, and for others tomorrow.
    /// - Throws: the rule that the text breaks.
    package init(listening text: String, defaultPort: UInt16? = nil) throws(AddressError) {
        try self.init(text, defaultPort: defaultPort)
        guard case .name(let name, let port) = self else { return }
        let local = name == "localhost" ? "127.0.0.1:\(port) for this machine alone" : "the address itself"
        throw AddressError(
            message: "\(text): a node listens at an IP address, not at a name; write \(local), or [::]:\(port) for all")
    }

    /// The name, or the address with its scope: what a dial takes.
    package var host: String {
        switch self {
        case .numeric(let address): address.host
        case .name(let name, _): name
        }
    }

    /// The port; 0 is any free one, to listen on.
    package var port: UInt16 {
        switch self {
        case .numeric(let address): address.port
        case .name(_, let port): port
        }
    }

    /// `192.0.2.1:5484`, `[fe80::1%eth0]:5484` or `nas.local:5484`.
    package var description: String {
        switch self {
        case .numeric(let address): address.description
        case .name(let name, let port): "\(name):\(port)"
        }
    }

    private static func badPort(_ text: String) -> AddressError {
        AddressError(message: "\(text): the port must be a number from 1 to 65535")
    }

    private static func split(_ text: String, _ bytes: [UInt8]) throws(AddressError) -> (host: String, port: String?) {
        if bytes[0] == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else {
                throw AddressError(message: "\(text): the bracket is not closed")
            }
            let host = String(decoding: bytes[1..<end], as: UTF8.self)
            if end == bytes.count - 1 { return (host, nil) }
            guard bytes[end + 1] == UInt8(ascii: ":") else {
                throw AddressError(message: "\(text): write [ADDRESS]:PORT")
            }
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
        guard host.utf8.count <= Limits.nameBytes, let last = labels.last, !last.allSatisfy({ $0 >= 48 && $0 <= 57 })
        else {
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
