// The header of the library brings sockaddr_storage along, and so it may count as its.
import CMicroHTTPD
import Glibc

/// A bound, listening socket that closes with the object unless it was handed on.
package struct HTTPListener: ~Copyable {
    /// What clients connect to: the path of the socket, or `host:port` with the port that was given.
    package let address: String
    /// The port of a TCP listener.
    package let port: UInt16?
    let isUnixSocket: Bool
    private var descriptor: Int32

    private init(descriptor: Int32, address: String, port: UInt16?, isUnixSocket: Bool) {
        self.descriptor = descriptor
        self.address = address
        self.port = port
        self.isUnixSocket = isUnixSocket
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Gives the descriptor away; the caller closes it.
    consuming func take() -> Int32 {
        let taken = descriptor
        descriptor = -1
        return taken
    }

    /// Listens on a Unix socket that only this user can connect to (mode 0600). A socket file left behind at the path is
    /// replaced: the caller holds the lock that says nobody else serves it. Any other kind of file is left alone.
    /// - Throws: `HTTPError.cannotListen`.
    package static func unixSocket(_ path: String) throws(HTTPError) -> HTTPListener {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < capacity else {
            throw HTTPError.cannotListen(
                path, reason: "the path is longer than the \(capacity - 1) bytes of a socket's name")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        var present = stat()
        if lstat(path, &present) == 0 {
            guard present.st_mode & S_IFMT == S_IFSOCK else {
                throw HTTPError.cannotListen(path, reason: "there is a file of that name that is no socket")
            }
            unlink(path)
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw HTTPError.cannotListen(path, reason: systemReason()) }
        let listener = HTTPListener(descriptor: descriptor, address: path, port: nil, isUnixSocket: true)
        // On Linux the mode of the descriptor, cut by the umask, becomes that of the file: it is never wider than 0600.
        guard fchmod(descriptor, S_IRUSR | S_IWUSR) == 0 else {
            throw HTTPError.cannotListen(path, reason: systemReason())
        }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, chmod(path, S_IRUSR | S_IWUSR) == 0, listen(descriptor, HTTPLimits.backlog) == 0 else {
            throw HTTPError.cannotListen(path, reason: systemReason())
        }
        return listener
    }

    /// Listens on a numeric TCP address; port 0 takes a free one.
    /// - Throws: `HTTPError.cannotListen`.
    package static func tcp(host: String, port: UInt16) throws(HTTPError) -> HTTPListener {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, String(port), &hints, &found)
        guard result == 0, let info = found else {
            throw HTTPError.cannotListen("\(name):\(port)", reason: String(cString: gai_strerror(result)))
        }
        defer { freeaddrinfo(info) }
        let descriptor = socket(
            info.pointee.ai_family, info.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), info.pointee.ai_protocol)
        guard descriptor >= 0 else { throw HTTPError.cannotListen("\(name):\(port)", reason: systemReason()) }
        let socket = HTTPListener(descriptor: descriptor, address: "\(name):\(port)", port: port, isUnixSocket: false)
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0,
            listen(descriptor, HTTPLimits.backlog) == 0
        else { throw HTTPError.cannotListen("\(name):\(port)", reason: systemReason()) }
        let given = boundPort(of: descriptor) ?? port
        return HTTPListener(descriptor: socket.take(), address: "\(name):\(given)", port: given, isUnixSocket: false)
    }

    private static func boundPort(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { return nil }
        // The port stands at the same place in both families: after the family.
        return withUnsafeBytes(of: &storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
    }
}

/// The system's words for the last error.
func systemReason(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }
