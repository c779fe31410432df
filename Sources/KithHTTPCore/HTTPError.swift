/// What can go wrong between an HTTP client and server.
package enum HTTPError: Error, Hashable, Sendable {
    /// The server cannot listen: what it tried, and the system's reason.
    case cannotListen(String, reason: String)
    /// Nobody answers at the address or socket: which, and the system's reason.
    case cannotConnect(String, reason: String)
    /// The connection ended before the exchange was complete.
    case interrupted(String)
    /// The time for the exchange is over, in seconds.
    case noAnswer(seconds: Int)
    /// The other side left: there is nobody to read from or write to.
    case gone
    /// The request's target is no path and query as RFC 3986 has them, or not UTF-8.
    case malformedTarget
    /// A body is longer than its reader takes; the limit in bytes.
    case tooLarge(limit: Int)

    /// One sentence for people.
    package var message: String {
        switch self {
        case .cannotListen(let address, let reason): "cannot listen on \(address): \(reason)"
        case .cannotConnect(let address, let reason): "cannot connect to \(address): \(reason)"
        case .noAnswer(let seconds): "no answer within \(seconds) s"
        case .interrupted(let reason): "the connection ended early: \(reason)"
        case .gone: "the other side closed the connection"
        case .malformedTarget: "the request's path is malformed"
        case .tooLarge(let limit): "the body is longer than \(limit) bytes"
        }
    }
}
