import Glibc
import KithNetwork
import KithSystem
import KithTransport

/// Whether this node's port answers at the addresses of this machine: a connection that a firewall drops here does not come
/// from elsewhere either. Where no node listens, a socket of its own takes the port for that time.
enum OwnPortProbe {
    struct Finding: Sendable {
        var ports: [DoctorFacts.OwnPort] = []
        var failure: String?
    }

    /// Blocks for the time of one answer and a little.
    static func run(port: UInt16, isListening: Bool, interfaces: [Interface]) -> Finding {
        var finding = Finding()
        var borrowed: Int32 = -1
        defer { if borrowed >= 0 { close(borrowed) } }
        if !isListening {
            guard let descriptor = listen(port) else {
                finding.failure = "port \(port) is taken by another program (\(String(cString: strerror(errno))))"
                return finding
            }
            borrowed = descriptor
        }
        let addresses = interfaces.filter { !$0.isLoopback }.prefix(DoctorLimits.ownAddresses).compactMap { interface in
            NetworkAddress(ip: interface.ip, interface: interface.index, port: port).map { (interface.name, $0) }
        }
        let dials = addresses.map { (name: $0.0, address: $0.1, descriptor: begin($0.1)) }
        let deadline = SystemClock().monotonicMilliseconds + UInt64(DoctorLimits.ownPortMilliseconds)
        for dial in dials {
            var port = DoctorFacts.OwnPort()
            port.address = dial.address.description
            port.interface = dial.name
            port.outcome = outcome(dial.descriptor, until: deadline)
            finding.ports.append(port)
            if dial.descriptor >= 0 { close(dial.descriptor) }
        }
        return finding
    }

    private static func listen(_ port: UInt16) -> Int32? {
        for family in [AF_INET6, AF_INET] {
            let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { continue }
            var one: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, 4)
            var zero: Int32 = 0
            if family == AF_INET6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &zero, 4) }
            let any = NetworkAddress(
                ip: [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16), interface: 0, port: port)
            let isBound = any?.withSystemAddress { bind(descriptor, $0, $1) } == 0
            if isBound, Glibc.listen(descriptor, 16) == 0 { return descriptor }
            let error = errno
            close(descriptor)
            errno = error
            if error == EADDRINUSE { return nil }
        }
        return nil
    }

    private static func begin(_ address: NetworkAddress) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(address.family, kind, 0)
        guard descriptor >= 0 else { return -1 }
        let result = address.withSystemAddress { connect(descriptor, $0, $1) }
        guard result == 0 || errno == EINPROGRESS else {
            close(descriptor)
            return -1
        }
        return descriptor
    }

    private static func outcome(_ descriptor: Int32, until deadline: UInt64) -> DoctorFacts.DialOutcome {
        guard descriptor >= 0 else { return .failed("no connection could be begun") }
        let now = SystemClock().monotonicMilliseconds
        var readiness = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&readiness, 1, Int32(deadline > now ? deadline - now : 0)) == 1 else { return .noAnswer }
        var error: Int32 = 0
        var count = socklen_t(4)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &count)
        switch error {
        case 0: return .answered
        case ECONNREFUSED: return .refused
        case ETIMEDOUT: return .noAnswer
        default: return .failed(String(cString: strerror(error)))
        }
    }
}
