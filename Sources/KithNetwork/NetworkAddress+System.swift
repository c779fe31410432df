import Glibc

/// The address as the system's calls give it and want it.
extension NetworkAddress {
    /// Reads an address as the system gives it; nil for another family.
    package init?(_ pointer: UnsafePointer<sockaddr>) {
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET:
            let address = UnsafeRawPointer(pointer).loadUnaligned(as: sockaddr_in.self)
            let bytes = withUnsafeBytes(of: address.sin_addr) { Array($0) }
            self.init(ip: bytes, interface: 0, port: UInt16(bigEndian: address.sin_port))
        case AF_INET6:
            let address = UnsafeRawPointer(pointer).loadUnaligned(as: sockaddr_in6.self)
            let bytes = withUnsafeBytes(of: address.sin6_addr) { Array($0) }
            self.init(ip: bytes, interface: address.sin6_scope_id, port: UInt16(bigEndian: address.sin6_port))
        default: return nil
        }
    }

    /// What `body` writes into the room it is lent, as `accept` and `getsockname` do, and what it returns. The address
    /// is nil when it is of another family, or when nothing was written.
    package static func read<Result>(
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Result
    ) -> (result: Result, address: NetworkAddress?) {
        var storage = sockaddr_storage()
        var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let result = body(address, &count)
                return (result, NetworkAddress(UnsafePointer(address)))
            }
        }
    }

    /// `AF_INET` or `AF_INET6`.
    package var family: Int32 { isIPv6 ? AF_INET6 : AF_INET }

    /// Lends the address as `connect` and `bind` want it.
    package func withSystemAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        if isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: ip) }
            return Self.lend(address, body)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: ip) }
        return Self.lend(address, body)
    }

    private static func lend<Address, Result>(
        _ address: Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }
}
