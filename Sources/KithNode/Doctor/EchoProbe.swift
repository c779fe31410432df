import Glibc
import KithNetwork
import KithSystem

/// Whether machines answer an echo request (RFC 792): who does is there, whatever becomes of its ports. Where this user may
/// send none nothing is known.
enum EchoProbe {
    /// Asks all at once, and listens for the time. Blocks for it.
    /// - Returns: the hosts that answered.
    static func run(_ addresses: [NetworkAddress], milliseconds: UInt64) -> Set<String> {
        let targets = addresses.filter { !$0.isIPv6 }
        // The kernel numbers the request and sums it up: a socket of this kind can send nothing else.
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_INET, kind, Int32(IPPROTO_ICMP))
        guard !targets.isEmpty, descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let request: [UInt8] = [8, 0, 0, 0, 0, 0, 0, 1]
        for target in targets {
            _ = target.withSystemAddress { sendto(descriptor, request, request.count, 0, $0, $1) }
        }
        var answered: Set<String> = []
        let deadline = SystemClock().monotonicMilliseconds + milliseconds
        while answered.count < targets.count {
            let now = SystemClock().monotonicMilliseconds
            guard now < deadline else { break }
            var readiness = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&readiness, 1, Int32(deadline - now)) > 0 else { continue }
            var bytes = [UInt8](repeating: 0, count: 256)
            let (count, source) = NetworkAddress.read { recvfrom(descriptor, &bytes, bytes.count, 0, $0, $1) }
            if count > 0, bytes[0] == 0, let source { answered.insert(source.host) }
            if count < 0, errno != EAGAIN, errno != EINTR { continue }
        }
        return answered
    }
}
