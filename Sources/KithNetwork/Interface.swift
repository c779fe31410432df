import Glibc

/// One address of one network interface of this machine.
package struct Interface: Hashable, Sendable {
    package let index: UInt32
    /// `eth0`; empty where nobody asked.
    package let name: String
    package let isLoopback: Bool
    /// Whether it has a carrier: a cable with something at the other end.
    package let isRunning: Bool
    /// The address without a port.
    package let ip: [UInt8]
    /// Leading bits of the address that name its subnet.
    package let prefixLength: Int
    /// Whether it has just one other end, as a tunnel has. Avahi leaves such interfaces out unless told otherwise.
    package let isPointToPoint: Bool

    package init(
        index: UInt32, name: String = "", isLoopback: Bool, isRunning: Bool = true, isPointToPoint: Bool = false,
        ip: [UInt8], prefixLength: Int
    ) {
        self.index = index
        self.name = name
        self.isPointToPoint = isPointToPoint
        self.isLoopback = isLoopback
        self.isRunning = isRunning
        self.ip = ip
        self.prefixLength = prefixLength
    }

    /// Whether an address is in this one's subnet.
    package func sharesSubnet(with other: [UInt8]) -> Bool {
        guard other.count == ip.count else { return false }
        let whole = prefixLength / 8
        guard other.prefix(whole).elementsEqual(ip.prefix(whole)) else { return false }
        let rest = prefixLength % 8
        guard rest > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xff00 >> rest)
        return (other[whole] ^ ip[whole]) & mask == 0
    }

    /// The addresses of all interfaces that are up, as they are at this moment.
    package static func all() -> [Interface] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0, let first else { return [] }
        defer { freeifaddrs(first) }
        var interfaces: [Interface] = []
        for entry in sequence(first: first, next: { $0.pointee.ifa_next }) {
            let flags = Int32(bitPattern: entry.pointee.ifa_flags)
            guard flags & Int32(IFF_UP) != 0, let address = entry.pointee.ifa_addr,
                let ip = NetworkAddress(UnsafePointer(address))?.ip
            else { continue }
            let index = if_nametoindex(entry.pointee.ifa_name)
            guard index != 0 else { continue }
            interfaces.append(
                Interface(
                    index: index, name: String(cString: entry.pointee.ifa_name),
                    isLoopback: flags & Int32(IFF_LOOPBACK) != 0, isRunning: flags & Int32(IFF_RUNNING) != 0,
                    isPointToPoint: flags & Int32(IFF_POINTOPOINT) != 0, ip: ip,
                    prefixLength: prefixLength(entry.pointee.ifa_netmask, bytes: ip.count)))
        }
        return interfaces
    }

    /// The name of an interface, or its number where there is none by that number any more.
    package static func name(of index: UInt32) -> String {
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard if_indextoname(index, &name) != nil else { return String(index) }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func prefixLength(_ mask: UnsafeMutablePointer<sockaddr>?, bytes: Int) -> Int {
        guard let mask else { return bytes * 8 }
        let raw = UnsafeRawPointer(mask)
        if bytes == 4 {
            return raw.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr.nonzeroBitCount
        }
        let address = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
        return withUnsafeBytes(of: address) { $0.reduce(0) { $0 + $1.nonzeroBitCount } }
    }
}
