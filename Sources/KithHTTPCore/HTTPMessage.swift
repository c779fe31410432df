/// Header fields in the order they came. Names are compared without regard to case, as HTTP has it.
package struct HTTPHeaders: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    package private(set) var fields: [Field] = []

    package init() {}

    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { add(name, value) }
    }

    /// Adds a field after those present.
    package mutating func add(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }

    /// The value of the first field of that name.
    package subscript(name: String) -> String? {
        let wanted = name.lowercased()
        return fields.first { $0.name.lowercased() == wanted }?.value
    }
}

/// A request as the server's handler gets it: when its headers are in, the body still on its way.
package struct HTTPRequest: Sendable {
    /// As it came: `GET`, `PUT` ...
    package let method: String
    package let target: HTTPTarget
    package let headers: HTTPHeaders
    package let body: HTTPBodyReader

    /// For handlers called without a server.
    package init(method: String, target: HTTPTarget, headers: HTTPHeaders = [:], body: HTTPBodyReader = .empty) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }
}

/// A response: a status, headers, and a body that is at hand or is made while it is sent.
package struct HTTPResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// Called after the response's head was handed over; the response ends when it returns, and is cut off, so that
        /// the client can tell, when it throws.
        case stream(@Sendable (HTTPBodyWriter) async throws -> Void)
    }

    package var status: Int
    package var headers: HTTPHeaders
    package var body: Body

    package init(status: Int, headers: HTTPHeaders = [:], body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// The body of a request, read in parts as they come.
package struct HTTPBodyReader: Sendable {
    private let read: @Sendable () async throws(HTTPError) -> [UInt8]?

    /// A reader that calls `read` for each part, which returns nil at the end.
    package init(read: @escaping @Sendable () async throws(HTTPError) -> [UInt8]?) { self.read = read }

    /// A body without bytes.
    package static let empty = HTTPBodyReader { () async throws(HTTPError) -> [UInt8]? in nil }

    /// The next part, or nil at the end. One caller at a time.
    /// - Throws: `HTTPError.gone` when the client left before the end.
    package func next() async throws(HTTPError) -> [UInt8]? { try await read() }

    /// The whole body.
    /// - Throws: `HTTPError.tooLarge` as soon as it is longer than `limit` bytes; `HTTPError.gone`.
    package func collect(limit: Int) async throws(HTTPError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let part = try await read() {
            guard part.count <= limit - bytes.count else { throw HTTPError.tooLarge(limit: limit) }
            if bytes.isEmpty { bytes = part } else { bytes += part }
        }
        return bytes
    }
}

/// Where a streamed response is written.
package struct HTTPBodyWriter: Sendable {
    private let send: @Sendable ([UInt8]) async throws(HTTPError) -> Void

    /// A writer that passes each part to `send`.
    package init(send: @escaping @Sendable ([UInt8]) async throws(HTTPError) -> Void) { self.send = send }

    /// Hands bytes over for sending, and waits while the client is behind. One caller at a time.
    ///
    /// While the request's body is still being received nothing is sent and nothing waits: what is written then is held
    /// in memory.
    /// - Throws: `HTTPError.gone` when the client left or the server stops.
    package func write(_ bytes: [UInt8]) async throws(HTTPError) { try await send(bytes) }
}
