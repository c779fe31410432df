import Glibc
import KithNetwork

/// The calls of the system on a stream socket that never blocks. EINTR is not seen outside; running dry is a value.
package enum Socket {
    enum Transfer {
        case bytes(Int)
        case wouldBlock
        case end
    }

    /// A new socket, not blocking, closed on exec.
    static func make(family: Int32) throws(TransportError) -> Int32 {
        let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let descriptor = socket(family, Int32(kind), 0)
        guard descriptor >= 0 else { throw .system("making a socket", errno) }
        return descriptor
    }

    /// What `make` does at once, for an accepted socket.
    static func setNonBlocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Begins to connect; the socket becomes writable when it is decided.
    static func connect(_ descriptor: Int32, to address: NetworkAddress) throws(TransportError) {
        let result = address.withSystemAddress { Glibc.connect(descriptor, $0, $1) }
        guard result == 0 || errno == EINPROGRESS || errno == EINTR else {
            throw .system("connecting to \(address)", errno)
        }
    }

    /// The error that the socket holds, 0 for none.
    static func pendingError(_ descriptor: Int32) -> Int32 {
        var error: Int32 = 0
        var count = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &count) == 0 else { return errno }
        return error
    }

    /// Small messages go at once, and a peer that is gone without a word is noticed by the kernel too.
    static func setForLink(_ descriptor: Int32) {
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, 15)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, 5)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPCNT, 3)
        #if os(Linux)
        set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, TransportLimits.unacknowledgedMilliseconds)
        #endif
    }

    @discardableResult
    static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) -> Bool {
        var value = value
        return setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
    }

    static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(TransportError)
        -> Transfer
    {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            case let error: throw .system("receiving", error)
            }
        }
    }

    /// Never raises SIGPIPE.
    static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(TransportError) -> Transfer {
        while true {
            let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return .bytes(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            case let error: throw .system("sending", error)
            }
        }
    }

    /// The address of this end.
    static func localAddress(_ descriptor: Int32) -> NetworkAddress? {
        let (result, address) = NetworkAddress.read { getsockname(descriptor, $0, $1) }
        return result == 0 ? address : nil
    }

    /// The numeric addresses of a name; blocks, for seconds where the name service is slow.
    package static func resolve(_ endpoint: Endpoint) throws(TransportError) -> [NetworkAddress] {
        if case .numeric(let address) = endpoint { return [address] }
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(endpoint.host, String(endpoint.port), &hints, &list)
        guard result == 0 else {
            throw .address("the host \(endpoint.host) was not found: \(String(cString: gai_strerror(result)))")
        }
        defer { freeaddrinfo(list) }
        var addresses: [NetworkAddress] = []
        var entry = list
        while let current = entry?.pointee, addresses.count < TransportLimits.addressesPerHost {
            if let system = current.ai_addr, let address = NetworkAddress(system), !addresses.contains(address) {
                addresses.append(address)
            }
            entry = current.ai_next
        }
        guard !addresses.isEmpty else { throw .address("the host \(endpoint.host) has no IP address") }
        return addresses
    }
}
