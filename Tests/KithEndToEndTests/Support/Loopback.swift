import Glibc

/// Sockets on 127.0.0.1.
enum Loopback {
    /// Connects to `HOST:PORT`, of which the port counts.
    /// - Returns: a descriptor; nil when nobody answers.
    static func connect(to address: String) -> Int32? {
        guard let port = UInt16(address.split(separator: ":").last ?? ""), let made = make() else { return nil }
        guard with(port: port, { Glibc.connect(made, $0, $1) }) == 0 else {
            close(made)
            return nil
        }
        return made
    }

    /// Listens on a free port.
    static func listen() -> (descriptor: Int32, address: String)? {
        guard let made = make() else { return nil }
        var bound = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isThere =
            with(port: 0, { bind(made, $0, $1) }) == 0 && Glibc.listen(made, 64) == 0
            && withUnsafeMutablePointer(to: &bound) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(made, $0, &length) }
            } == 0
        guard isThere else {
            close(made)
            return nil
        }
        return (made, "127.0.0.1:\(UInt16(bigEndian: bound.sin_port))")
    }

    private static func make() -> Int32? {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        return made < 0 ? nil : made
    }

    private static func with(port: UInt16, _ work: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                work($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
