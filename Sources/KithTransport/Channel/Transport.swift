import KithDocument
import KithNetwork
import KithSystem

/// How a node reaches others and is reached, as one side that is known by a `TLSConfiguration`.
package protocol Transport: Sendable {
    /// Takes connections. The callbacks run on the queue of the channel that they are about.
    ///
    /// - Parameters:
    ///   - endpoint: a numeric address and a port; port 0 is any free one.
    ///   - orNextPort: go on to the next free port when the wanted one is taken.
    ///   - stranger: called for each that was not let in: its address and what was wrong.
    ///   - opened: called when a peer is known: who gets the channel's events from now on, or nil to close it. The handler
    ///     does not get `opened` again.
    /// - Throws: `.address`, `.system`; a port that is taken is `EADDRINUSE`.
    func listen(
        _ endpoint: Endpoint, orNextPort: Bool, stranger: @escaping Listener.Stranger,
        opened: @escaping @Sendable (any Channel, AuthenticatedPeer) -> ChannelHandler?
    ) throws(TransportError) -> any ChannelListener

    /// Connects.
    ///
    /// - Parameters:
    ///   - segmentBytes: the largest segment that either side sends, for a path that loses larger packets.
    ///   - handler: gets all events, on the channel's queue, `closed` also when no connection is made.
    /// - Throws: `.tls` when it can't begin. Everything else comes as an event.
    func dial(
        _ endpoint: Endpoint, connectMilliseconds: Int, segmentBytes: Int?, handler: @escaping ChannelHandler
    ) throws(TransportError) -> any Channel
}

/// Takes connections until it is stopped or let go.
package protocol ChannelListener: AnyObject, Sendable {
    /// The address and port that is listened on.
    var address: NetworkAddress { get }

    /// What became of those who knocked.
    var counters: Listener.Counters { get }

    /// Takes no more connections; those that are open stay.
    func stop()
}

extension ChannelListener {
    package var port: UInt16 { address.port }
}

extension Listener: ChannelListener {}

/// TLS 1.3 over TCP: what nodes speak.
package struct TLSTransport: Transport {
    private let context: TLSContext

    /// - Throws: `.tls` when OpenSSL turns the certificate or the key down.
    package init(_ configuration: TLSConfiguration) throws(TransportError) {
        context = try TLSContext(configuration)
    }

    package func listen(
        _ endpoint: Endpoint, orNextPort: Bool, stranger: @escaping Listener.Stranger,
        opened: @escaping @Sendable (any Channel, AuthenticatedPeer) -> ChannelHandler?
    ) throws(TransportError) -> any ChannelListener {
        let taken: Listener.Opened = { connection, peer in
            guard let handler = opened(connection, peer) else { return nil }
            return { connection, event in handler(connection, event) }
        }
        return try Listener(
            endpoint, orNextPort: orNextPort, context: context, stranger: stranger, opened: taken)
    }

    package func dial(
        _ endpoint: Endpoint, connectMilliseconds: Int, segmentBytes: Int?, handler: @escaping ChannelHandler
    ) throws(TransportError) -> any Channel {
        var timeouts = Connection.Timeouts()
        timeouts.connectMilliseconds = connectMilliseconds
        return try Connection.dial(
            endpoint, context, timeouts: timeouts, segmentBytes: segmentBytes, handler: { handler($0, $1) })
    }
}
