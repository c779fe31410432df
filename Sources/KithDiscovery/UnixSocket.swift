import Glibc

/// The little that is needed of Unix stream sockets: whether somebody listens, and a connection with time limits.
enum UnixSocket {
    /// Whether somebody listens at the path.
    static func accepts(_ path: String) -> Bool {
        guard let descriptor = connect(path) else { return false }
        close(descriptor)
        return true
    }

    /// A connected socket, which the caller closes; nil when nobody listens.
    static func connect(_ path: String) -> Int32? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return nil }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, size) }
        }
        guard result == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Waits until the descriptor is ready for the events or the deadline (of `Clock.monotonic`) has passed.
    static func wait(_ descriptor: Int32, for events: Int32, until deadline: UInt64) -> Bool {
        while true {
            let now = Clock.monotonic()
            guard now < deadline else { return false }
            var readiness = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            let count = poll(&readiness, 1, Int32(min(deadline - now, 60_000)))
            if count > 0 { return true }
            if count < 0, errno != EINTR { return false }
        }
    }
}
