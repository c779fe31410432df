import CMicroHTTPD
import Dispatch
import Glibc
import Synchronization

/// An HTTP/1.1 server on one listening socket.
///
/// A request's handler is started when the headers are in and runs on threads of the server's own, where it may block;
/// other requests go on meanwhile. When the client goes away the handler's task is cancelled and its body and stream
/// throw `HTTPError.gone`, within a quarter of a second. A client that is slow to read makes the handler's writes wait.
///
/// `@unchecked Sendable`: the daemon's pointer is set before the server is handed out and used after that only by
/// `stop`, once; everything else is immutable or behind a mutex.
package final class HTTPServer: @unchecked Sendable {
    package typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse

    /// How long a server waits for a client.
    package struct TimeLimits: Sendable {
        /// Without a byte while a request's head is awaited, in seconds; 0 is for ever.
        package var requestTimeoutSeconds: Int
        /// Without a byte while bodies are transferred, in seconds; 0 is for ever. A handler's own time is not counted.
        package var transferTimeoutSeconds: Int

        package init(requestTimeoutSeconds: Int, transferTimeoutSeconds: Int) {
            self.requestTimeoutSeconds = requestTimeoutSeconds
            self.transferTimeoutSeconds = transferTimeoutSeconds
        }

        /// For clients of the same user, who may stop a pager as long as they like.
        package static let local = TimeLimits(requestTimeoutSeconds: 30, transferTimeoutSeconds: 0)
        /// For clients that may be anyone.
        package static let network = TimeLimits(requestTimeoutSeconds: 30, transferTimeoutSeconds: 120)
    }

    /// What clients connect to.
    package let address: String
    /// The port, of a server on TCP.
    package let port: UInt16?
    let limits: TimeLimits
    let handler: Handler
    let workers = HTTPWorkers()
    /// What a request gets whose target cannot be read.
    let malformedRequest: HTTPResponse

    private let isUnixSocket: Bool
    private var daemon: OpaquePointer?
    private var acceptor: HTTPAcceptor?
    private let exchanges = Mutex(Exchanges())
    private let watch = DispatchQueue(label: "kith.http.watch")

    private struct Exchanges {
        var open: [ObjectIdentifier: HTTPExchange] = [:]
        var stopping = false
        /// Whether a look at the waiting connections is due.
        var watching = false
    }

    /// Takes the listener over and serves it.
    /// - Throws: `HTTPError.cannotListen` where the system gives no thread or descriptors.
    package init(
        listener: consuming HTTPListener, limits: TimeLimits, connections: Int = HTTPLimits.connections,
        malformedRequest: HTTPResponse = HTTPResponse(status: 400), handler: @escaping Handler
    ) throws(HTTPError) {
        address = listener.address
        port = listener.port
        isUnixSocket = listener.isUnixSocket
        self.limits = limits
        self.malformedRequest = malformedRequest
        self.handler = handler
        try workers.start(for: address)
        daemon = kith_mhd_start(
            UInt32(connections + HTTPLimits.acceptedAtOnce), UInt32(limits.requestTimeoutSeconds),
            HTTPLimits.connectionMemoryBytes,
            { context, target, connection in
                HTTPServer.from(context).opened(target!, HTTPExchange.Connection(pointer: connection!))
            },
            { context, _, _, method, _, data, size, exchange in
                let exchange = Unmanaged<HTTPExchange>.fromOpaque(exchange!.pointee!).takeUnretainedValue()
                return exchange.access(
                    HTTPServer.from(context), method: String(cString: method!), data: data, size: size!)
            },
            { context, _, exchange, _ in
                guard let pointer = exchange!.pointee else { return }
                HTTPServer.from(context).closed(Unmanaged<HTTPExchange>.fromOpaque(pointer).takeRetainedValue())
                exchange!.pointee = nil
            }, Unmanaged.passUnretained(self).toOpaque())
        guard let daemon else {
            let reason = systemReason()
            workers.stop()
            throw HTTPError.cannotListen(address, reason: reason)
        }
        acceptor = HTTPAcceptor(listener.take(), into: daemon, connections: connections)
    }

    deinit { stop() }

    /// Stops serving: takes no more connections, cancels handlers that stream, lets the others answer for up to two
    /// seconds, then cuts what is left. Returns when no handler is reached any more; a second call returns at once.
    package func stop() {
        guard let daemon else { return }
        self.daemon = nil
        acceptor?.stop()
        let open = exchanges.withLock { exchanges in
            exchanges.stopping = true
            return exchanges.open.values.map { $0 }
        }
        for exchange in open where exchange.isStreaming { exchange.cancel() }
        let deadline = DispatchTime.now() + .seconds(HTTPLimits.stopGraceSeconds)
        waitUntilIdle(deadline)
        for exchange in exchanges.withLock({ $0.open.values.map { $0 } }) { exchange.abandon() }
        waitUntilIdle(DispatchTime.now() + .seconds(HTTPLimits.stopGraceSeconds))
        MHD_stop_daemon(daemon)
        if isUnixSocket { unlink(address) }
        workers.stop()
    }

    private func waitUntilIdle(_ deadline: DispatchTime) {
        while exchanges.withLock({ !$0.open.isEmpty }), DispatchTime.now() < deadline { usleep(2_000) }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> HTTPServer {
        Unmanaged<HTTPServer>.fromOpaque(context!).takeUnretainedValue()
    }

    /// A request line came in; the exchange made is held until `closed`.
    private func opened(_ target: UnsafePointer<CChar>, _ connection: HTTPExchange.Connection)
        -> UnsafeMutableRawPointer
    {
        let bytes = Array(UnsafeRawBufferPointer(start: target, count: strlen(target)))
        let exchange = HTTPExchange(rawTarget: bytes, connection: connection)
        let (stopping, watches) = exchanges.withLock { exchanges in
            exchanges.open[ObjectIdentifier(exchange)] = exchange
            let watches = !exchanges.watching
            exchanges.watching = true
            return (exchanges.stopping, watches)
        }
        if stopping { exchange.abandon() }
        if watches { scheduleWatch() }
        return Unmanaged.passRetained(exchange).toOpaque()
    }

    private func closed(_ exchange: HTTPExchange) {
        if limits.transferTimeoutSeconds != limits.requestTimeoutSeconds {
            _ = kith_mhd_set_timeout(exchange.connection.pointer, UInt32(limits.requestTimeoutSeconds))
        }
        exchange.end()
        exchanges.withLock { _ = $0.open.removeValue(forKey: ObjectIdentifier(exchange)) }
    }

    /// libmicrohttpd does not look at suspended connections, so the server does, as long as there are any.
    private func scheduleWatch() {
        watch.asyncAfter(deadline: .now() + .milliseconds(HTTPLimits.hangupCheckMilliseconds)) { [weak self] in
            guard let self else { return }
            let open = exchanges.withLock { exchanges in
                exchanges.watching = !exchanges.open.isEmpty
                return exchanges.open.values.map { $0 }
            }
            for exchange in open where exchange.isHungUp(onUnixSocket: isUnixSocket) { exchange.abandon() }
            if !open.isEmpty { scheduleWatch() }
        }
    }
}
