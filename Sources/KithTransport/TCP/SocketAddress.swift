import Glibc

/// An IP address and a port. An IPv4 address that came mapped into IPv6 is held as IPv4.
package struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address without the port.
    package enum Host: Hashable, Sendable {
        /// Four bytes.
        case v4([UInt8])
        /// Sixteen bytes, and the interface of a link-local address (0: none).
        case v6([UInt8], scope: UInt32)
    }

    package let host: Host
    package let port: UInt16

    /// Reads a numeric address: `192.0.2.1`, `2001:db8::1`, `fe80::1%eth0`, `fe80::1%2`. Nil for anything else.
    package init?(_ text: String, port: UInt16) {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        var v4 = in_addr()
        var v6 = in6_addr()
        if parts.count == 1, inet_pton(AF_INET, text, &v4) == 1 {
            self.init(host: .v4(withUnsafeBytes(of: v4) { Array($0) }), port: port)
        } else if inet_pton(AF_INET6, String(parts[0]), &v6) == 1 {
            var scope: UInt32 = 0
            if parts.count == 2 {
                scope = UInt32(parts[1]) ?? if_nametoindex(String(parts[1]))
                guard scope != 0 else { return nil }
            }
            self.init(host: .v6(withUnsafeBytes(of: v6) { Array($0) }, scope: scope), port: port)
        } else {
            return nil
        }
    }

    /// Takes mapped addresses apart.
    package init(host: Host, port: UInt16) {
        self.port = port
        if case .v6(let bytes, _) = host, bytes[0..<10].allSatisfy({ $0 == 0 }), bytes[10...11] == [0xff, 0xff] {
            self.host = .v4(Array(bytes[12..<16]))
        } else {
            self.host = host
        }
    }

    /// Nil unless it is an address of IPv4 or IPv6.
    init?(_ storage: sockaddr_storage) {
        var storage = storage
        switch Int32(storage.ss_family) {
        case AF_INET:
            let address = withUnsafeBytes(of: &storage) { $0.loadUnaligned(as: sockaddr_in.self) }
            self.init(
                host: .v4(withUnsafeBytes(of: address.sin_addr) { Array($0) }),
                port: UInt16(bigEndian: address.sin_port))
        case AF_INET6:
            let address = withUnsafeBytes(of: &storage) { $0.loadUnaligned(as: sockaddr_in6.self) }
            self.init(
                host: .v6(withUnsafeBytes(of: address.sin6_addr) { Array($0) }, scope: address.sin6_scope_id),
                port: UInt16(bigEndian: address.sin6_port))
        default: return nil
        }
    }

    var family: Int32 {
        switch host {
        case .v4: AF_INET
        case .v6: AF_INET6
        }
    }

    /// Lends the address as the system's calls want it.
    func withSystemAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var storage = sockaddr_storage()
        let count: Int
        switch host {
        case .v4(let bytes):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: sockaddr_in.self) }
            count = MemoryLayout<sockaddr_in>.size
        case .v6(let bytes, let scope):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: sockaddr_in6.self) }
            count = MemoryLayout<sockaddr_in6>.size
        }
        return withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(count)) }
        }
    }

    /// The address without the port, with the name of the interface where there is one.
    package var hostText: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        switch host {
        case .v4(let bytes):
            inet_ntop(AF_INET, bytes, &text, socklen_t(text.count))
            return Self.string(text)
        case .v6(let bytes, let scope):
            inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count))
            guard scope != 0 else { return Self.string(text) }
            var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
            let known = if_indextoname(scope, &name) != nil
            return Self.string(text) + "%" + (known ? Self.string(name) : String(scope))
        }
    }

    /// `192.0.2.1:5484`, `[fe80::1%eth0]:5484`.
    package var description: String {
        switch host {
        case .v4: "\(hostText):\(port)"
        case .v6: "[\(hostText)]:\(port)"
        }
    }

    private static func string(_ text: [CChar]) -> String {
        String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// Where to connect to: a numeric address or a name, and a port.
package struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// An address as text, with its scope where it is link-local, or a host's name.
    package let host: String
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    package init(_ address: SocketAddress) { self.init(host: address.hostText, port: address.port) }

    /// Reads `HOST:PORT`, `[ADDRESS]:PORT`, and where there is a default port also `HOST` and a bare address.
    /// - Throws: `.address` with what is wrong.
    package init(_ text: String, defaultPort: UInt16? = nil) throws(TransportError) {
        let problem = TransportError.address(
            "`\(text.prefix(80))` is no address: HOST:PORT or [ADDRESS]:PORT is wanted")
        var host = text[...]
        var port: Substring?
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw problem }
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { throw problem }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else if let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
        }
        let number = port.map { UInt16($0) } ?? defaultPort
        guard let number, !host.isEmpty, host.utf8.count <= 255, !host.utf8.contains(0) else { throw problem }
        self.init(host: String(host), port: number)
    }

    /// The address where the host is one.
    package var address: SocketAddress? { SocketAddress(host, port: port) }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
