import Glibc
import KithNetwork

/// A socket on the port of multicast DNS that is in its group on some interfaces; of one IP version.
final class MulticastSocket {
    struct Packet {
        let source: NetworkAddress
        let interface: UInt32
        let bytes: [UInt8]
    }

    let descriptor: Int32
    private let family: Int32
    private let interfaces: [Interface]
    private static let port: UInt16 = 5_353

    /// Nil where there is no interface of this version, or the port is not to be had; `errno` then says why.
    init?(family: Int32, interfaces: [Interface]) {
        var seen: Set<UInt32> = []
        self.interfaces = interfaces.filter { seen.insert($0.index).inserted }
        self.family = family
        guard !interfaces.isEmpty else { return nil }
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { return nil }
        set(SOL_SOCKET, SO_REUSEADDR, 1)
        set(SOL_SOCKET, SO_REUSEPORT, 1)
        if family == AF_INET {
            set(Int32(IPPROTO_IP), IP_PKTINFO, 1)
            set(Int32(IPPROTO_IP), IP_MULTICAST_TTL, 255)
        } else {
            set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1)
            set(Int32(IPPROTO_IPV6), IPV6_RECVPKTINFO, 1)
            set(Int32(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, 255)
        }
        let any = NetworkAddress(
            ip: [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16), interface: 0, port: Self.port)!
        guard any.withSystemAddress({ bind(descriptor, $0, $1) }) == 0 else {
            let error = errno
            close(descriptor)
            errno = error
            return nil
        }
        for interface in self.interfaces { join(interface.index) }
    }

    deinit { close(descriptor) }

    /// 224.0.0.251 and ff02::fb.
    private static let groupIPv4: [UInt8] = [224, 0, 0, 251]
    private static let groupIPv6: [UInt8] = [0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfb]

    private func join(_ interface: UInt32) {
        if family == AF_INET {
            var request = ip_mreqn()
            withUnsafeMutableBytes(of: &request.imr_multiaddr) { $0.copyBytes(from: Self.groupIPv4) }
            request.imr_ifindex = Int32(interface)
            setsockopt(
                descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &request, socklen_t(MemoryLayout<ip_mreqn>.size))
        } else {
            var request = ipv6_mreq()
            withUnsafeMutableBytes(of: &request.ipv6mr_multiaddr) { $0.copyBytes(from: Self.groupIPv6) }
            request.ipv6mr_interface = interface
            setsockopt(
                descriptor, Int32(IPPROTO_IPV6), IPV6_JOIN_GROUP, &request, socklen_t(MemoryLayout<ipv6_mreq>.size))
        }
    }

    /// Sends to the group on each interface.
    /// - Returns: by interface the error, nil for none.
    func send(_ bytes: [UInt8]) -> [(interface: String, error: Int32?)] {
        interfaces.map { interface in
            let target: NetworkAddress
            if family == AF_INET {
                var request = ip_mreqn()
                request.imr_ifindex = Int32(interface.index)
                setsockopt(
                    descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &request, socklen_t(MemoryLayout<ip_mreqn>.size))
                target = NetworkAddress(ip: Self.groupIPv4, interface: 0, port: Self.port)!
            } else {
                set(Int32(IPPROTO_IPV6), IPV6_MULTICAST_IF, Int32(interface.index))
                target = NetworkAddress(ip: Self.groupIPv6, interface: 0, port: Self.port)!
            }
            let sent = target.withSystemAddress { sendto(descriptor, bytes, bytes.count, 0, $0, $1) }
            return (interface.name, sent < 0 ? errno : nil)
        }
    }

    /// One packet that waits; nil for none.
    func receive() -> Packet? {
        var bytes = [UInt8](repeating: 0, count: 9_000)
        var control = [UInt64](repeating: 0, count: 32)
        var count = -1
        var index: UInt32 = 0
        let (_, source) = NetworkAddress.read { address, length in
            bytes.withUnsafeMutableBytes { data in
                control.withUnsafeMutableBytes { room in
                    var part = iovec(iov_base: data.baseAddress, iov_len: data.count)
                    withUnsafeMutablePointer(to: &part) { parts in
                        var message = msghdr()
                        message.msg_name = UnsafeMutableRawPointer(address)
                        message.msg_namelen = length.pointee
                        message.msg_iov = parts
                        message.msg_iovlen = 1
                        message.msg_control = room.baseAddress
                        message.msg_controllen = room.count
                        count = recvmsg(descriptor, &message, 0)
                        index = Self.interface(
                            UnsafeRawBufferPointer(rebasing: room[..<min(room.count, message.msg_controllen)]))
                    }
                }
            }
        }
        guard count > 0, let source, index != 0 else { return nil }
        return Packet(source: source, interface: index, bytes: Array(bytes.prefix(count)))
    }

    /// The interface that a packet came on, out of what came with it: a header of length, level and type, then
    /// `in_pktinfo`, whose first number it is, or `in6_pktinfo`, whose last one.
    private static func interface(_ control: UnsafeRawBufferPointer) -> UInt32 {
        let header = MemoryLayout<cmsghdr>.size
        guard control.count >= header + 8 else { return 0 }
        let message = control.loadUnaligned(as: cmsghdr.self)
        if message.cmsg_level == Int32(IPPROTO_IP) {
            return control.loadUnaligned(fromByteOffset: header, as: UInt32.self)
        }
        guard control.count >= header + 20 else { return 0 }
        return control.loadUnaligned(fromByteOffset: header + 16, as: UInt32.self)
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
