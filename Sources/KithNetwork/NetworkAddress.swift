import Glibc

/// An IP address, its scope and a port: what a dial needs and what a socket is bound to.
///
/// Link-local IPv6 addresses (fe80::/10) mean nothing without the interface they were learnt on, so they carry its
/// index as scope; every other address has scope 0. An IPv4 address written as IPv6 (::ffff:a.b.c.d) is the IPv4 one.
package struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes in network order.
    package let ip: [UInt8]
    /// The interface index of a link-local IPv6 address, else 0.
    package let scope: UInt32
    package let port: UInt16

    private init(checked ip: [UInt8], scope: UInt32, port: UInt16) {
        self.ip = ip
        self.scope = scope
        self.port = port
    }

    /// Nil unless there are 4 or 16 bytes. The interface is used for link-local addresses alone.
    package init?(ip: [UInt8], interface: UInt32, port: UInt16) {
        switch ip.count {
        case 4: self.ip = ip
        case 16:
            let isMapped = ip[0..<10].allSatisfy { $0 == 0 } && ip[10] == 0xff && ip[11] == 0xff
            self.ip = isMapped ? Array(ip[12...]) : ip
        default: return nil
        }
        scope = Self.isLinkLocalIPv6(self.ip) ? interface : 0
        self.port = port
    }

    /// Reads `192.0.2.1` or `fe80::1%eth0` (also `%2`); nil when it is no such text or names no interface here.
    package init?(host: String, port: UInt16) {
        // inet_pton would stop at a zero byte and take what stands before it.
        guard !host.utf8.contains(0) else { return nil }
        var address: [UInt8]
        var interface: UInt32 = 0
        if let percent = host.utf8.firstIndex(of: UInt8(ascii: "%")) {
            let zone = String(host[host.utf8.index(after: percent)...])
            interface = UInt32(zone) ?? if_nametoindex(zone)
            guard interface != 0, let bytes = Self.parse(String(host[..<percent]), family: AF_INET6, count: 16) else {
                return nil
            }
            address = bytes
        } else if let bytes = Self.parse(host, family: AF_INET, count: 4)
            ?? Self.parse(host, family: AF_INET6, count: 16)
        {
            address = bytes
        } else {
            return nil
        }
        self.init(ip: address, interface: interface, port: port)
    }

    /// Every IPv4 address of this machine.
    package static func anyIPv4(port: UInt16) -> NetworkAddress {
        NetworkAddress(checked: [0, 0, 0, 0], scope: 0, port: port)
    }

    /// The same address with another port.
    package func with(port: UInt16) -> NetworkAddress { NetworkAddress(checked: ip, scope: scope, port: port) }

    package var isIPv6: Bool { ip.count == 16 }

    /// fe80::/10 or 169.254.0.0/16.
    package var isLinkLocal: Bool { isIPv6 ? Self.isLinkLocalIPv6(ip) : ip[0] == 169 && ip[1] == 254 }

    /// 127.0.0.0/8 or ::1.
    package var isLoopback: Bool {
        isIPv6 ? ip[0..<15].allSatisfy { $0 == 0 } && ip[15] == 1 : ip[0] == 127
    }

    /// 0.0.0.0 or ::, which stand for all addresses of this machine.
    package var isUnspecified: Bool { ip.allSatisfy { $0 == 0 } }

    /// The unspecified address, a multicast one or the broadcast address, or port 0: never a peer.
    package var isUndialable: Bool { isUnspecified || (isIPv6 ? ip[0] == 0xff : ip[0] >= 224) || port == 0 }

    /// `192.0.2.1`, `2001:db8::1` or `fe80::1%eth0`.
    package var host: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard ip.withUnsafeBytes({ inet_ntop(family, $0.baseAddress, &text, socklen_t(INET6_ADDRSTRLEN)) }) != nil
        else {
            return "?"
        }
        let address = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return scope == 0 ? address : "\(address)%\(Interface.name(of: scope))"
    }

    /// `192.0.2.1:5484` or `[fe80::1%eth0]:5484`.
    package var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private static func isLinkLocalIPv6(_ ip: [UInt8]) -> Bool {
        ip.count == 16 && ip[0] == 0xfe && ip[1] & 0xc0 == 0x80
    }

    private static func parse(_ text: String, family: Int32, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }
}
