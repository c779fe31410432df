import CCurl
import Glibc

/// Where a client connects to.
package enum HTTPEndpoint: Hashable, Sendable {
    /// The path of a Unix socket.
    case unixSocket(String)
    /// A host and port as they stand in a URL: `127.0.0.1:5984`, `[::1]:5984`.
    case tcp(String)

    var description: String {
        switch self {
        case .unixSocket(let path): path
        case .tcp(let address): address
        }
    }
}

/// A request as a client sends it.
package struct HTTPClientRequest {
    package enum Body {
        case none
        case bytes([UInt8])
        /// Read as it is sent: `read` fills the buffer and returns the count, 0 at the end, or nil to give the request
        /// up. `length` is the number of bytes where it is known.
        case stream(length: Int?, read: (UnsafeMutableRawBufferPointer) -> Int?)
    }

    package var method: String
    /// The path and query, escaped: `HTTPTarget.encode` makes it.
    package var target: String
    package var headers: HTTPHeaders
    package var body: Body
    /// Within how many seconds the exchange must be over; nil for no limit.
    package var seconds: Int?

    package init(
        method: String, target: String, headers: HTTPHeaders = [:], body: Body = .none, seconds: Int? = nil
    ) {
        self.seconds = seconds
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }
}

/// The status and headers of a response.
package struct HTTPResponseHead: Hashable, Sendable {
    package var status: Int
    package var headers: HTTPHeaders
}

/// An HTTP/1.1 client whose calls return when the exchange is over. Each call makes a connection of its own.
package struct HTTPClient: Sendable {
    package let endpoint: HTTPEndpoint

    package init(_ endpoint: HTTPEndpoint) { self.endpoint = endpoint }

    /// Sends a request and takes the response whole.
    /// - Throws: `HTTPError.cannotConnect` where nobody answers, `interrupted` where the exchange breaks off, `noAnswer` where
    ///   its time is over, `tooLarge` for a response beyond `HTTPLimits.clientResponseBytes`.
    package func send(_ request: HTTPClientRequest) throws(HTTPError) -> (head: HTTPResponseHead, body: [UInt8]) {
        var body: [UInt8] = []
        var isTooLarge = false
        let head = try stream(request) { _, bytes in
            isTooLarge = bytes.count > HTTPLimits.clientResponseBytes - body.count
            if !isTooLarge { body += bytes }
            return !isTooLarge
        }
        if isTooLarge { throw HTTPError.tooLarge(limit: HTTPLimits.clientResponseBytes) }
        return (head, body)
    }

    /// Sends a request and hands on the response's body as it comes, until it ends or `receive` returns false.
    /// - Throws: as `send`.
    package func stream(
        _ request: HTTPClientRequest, receive: (HTTPResponseHead, UnsafeRawBufferPointer) -> Bool
    ) throws(HTTPError) -> HTTPResponseHead {
        try withoutActuallyEscaping(receive) { receive throws(HTTPError) in
            let transfer = CurlTransfer(endpoint, request, receive)
            return try transfer.run()
        }
    }

    /// Sends a request and hands on the lines of the response's body, without their ends, as they come. A last line
    /// needs no end.
    /// - Throws: as `send`; `tooLarge` for a line beyond `HTTPLimits.clientLineBytes`.
    package func lines(
        _ request: HTTPClientRequest, receive: (HTTPResponseHead, [UInt8]) -> Bool
    ) throws(HTTPError) -> HTTPResponseHead {
        var pending: [UInt8] = []
        var isTooLarge = false
        var stopped = false
        let head = try stream(request) { head, bytes in
            var rest = bytes[...]
            while let end = Self.lineEnd(in: rest) {
                pending += rest[..<end]
                let line = pending
                pending = []
                rest = rest[(end + 1)...]
                if !receive(head, line) {
                    stopped = true
                    return false
                }
            }
            isTooLarge = rest.count > HTTPLimits.clientLineBytes - pending.count
            if !isTooLarge { pending += rest }
            return !isTooLarge
        }
        if isTooLarge { throw HTTPError.tooLarge(limit: HTTPLimits.clientLineBytes) }
        if !stopped, !pending.isEmpty { _ = receive(head, pending) }
        return head
    }

    private static func lineEnd(in bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard !bytes.isEmpty, let start = bytes.base.baseAddress else { return nil }
        guard let found = memchr(start + bytes.startIndex, 10, bytes.count) else { return nil }
        return UnsafeRawPointer(found) - start
    }
}
