import KithDocument
import KithNetwork
import KithTransport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// How a simulated process reaches others and is reached.
final class SimulatedTransport: Transport, @unchecked Sendable {
    // Sendable: a run has one thread.

    private let process: SimulatedProcess
    private let network: SimulatedNetwork
    private let configuration: TLSConfiguration

    init(_ process: SimulatedProcess, _ network: SimulatedNetwork, _ configuration: TLSConfiguration) {
        self.process = process
        self.network = network
        self.configuration = configuration
    }

    func listen(
        _ endpoint: Endpoint, orNextPort: Bool, stranger: @escaping Listener.Stranger,
        opened: @escaping @Sendable (any Channel, AuthenticatedPeer) -> ChannelHandler?
    ) throws(TransportError) -> any ChannelListener {
        var port = endpoint.port == 0 ? 5_484 : endpoint.port
        while process.machine.listener(atPort: port) != nil {
            guard orNextPort else { throw .system("listening on \(endpoint)", EADDRINUSE) }
            port += 1
        }
        let listener = SimulatedListener(process, configuration, port: port, stranger: stranger, opened: opened)
        process.machine.listeners[port] = listener
        return listener
    }

    func dial(
        _ endpoint: Endpoint, connectMilliseconds: Int, segmentBytes: Int?, handler: @escaping ChannelHandler
    ) throws(TransportError) -> any Channel {
        let channel = SimulatedChannel(
            process, .dialled, remote: endpoint.description, configuration, segmentBytes: segmentBytes,
            handler: handler)
        guard case .numeric(let address) = endpoint else {
            channel.queue.async(afterMilliseconds: connectMilliseconds) {
                channel.timeIsUp("looking up \(endpoint.host)")
            }
            return channel
        }
        network.connect(channel, from: process.machine, to: address)
        channel.queue.async(afterMilliseconds: connectMilliseconds) { channel.timeIsUp("connecting to \(endpoint)") }
        return channel
    }
}

/// Takes connections of a machine for a process.
final class SimulatedListener: ChannelListener, @unchecked Sendable {
    // Sendable: a run has one thread.

    private let process: SimulatedProcess
    private let configuration: TLSConfiguration
    private let stranger: Listener.Stranger
    private let take: @Sendable (any Channel, AuthenticatedPeer) -> ChannelHandler?
    private let port: UInt16
    private(set) var counters = Listener.Counters()

    init(
        _ process: SimulatedProcess, _ configuration: TLSConfiguration, port: UInt16,
        stranger: @escaping Listener.Stranger,
        opened: @escaping @Sendable (any Channel, AuthenticatedPeer) -> ChannelHandler?
    ) {
        self.process = process
        self.configuration = configuration
        self.port = port
        self.stranger = stranger
        take = opened
    }

    var isListening: Bool { process.isAlive && process.machine.listeners[port] === self }

    var address: NetworkAddress { process.machine.address.withPort(port) }

    func stop() { if isListening { process.machine.listeners[port] = nil } }

    /// A connection has come.
    func accept(_ connection: SimulatedConnection) -> SimulatedChannel {
        counters.accepted += 1
        let remote = connection.ends[0].address.withPort(UInt16(30_000 + connection.number % 30_000))
        let channel = SimulatedChannel(
            process, .accepted, remote: remote.description, configuration, listener: self, handler: nil)
        channel.connection = connection
        channel.queue.async(afterMilliseconds: TransportLimits.handshakeMilliseconds) {
            channel.timeIsUp("the handshake with \(channel.remote)")
        }
        return channel
    }

    func opened(_ channel: SimulatedChannel, _ peer: AuthenticatedPeer) -> ChannelHandler? { take(channel, peer) }

    /// The handshake with whoever connected came to nothing, as far as this side can see.
    func refused(_ channel: SimulatedChannel, _ error: TransportError) {
        counters.strangers += 1
        if case .refused(.notInGroup) = error { counters.foreignGroups += 1 }
        stranger(channel.remote, error)
    }
}

extension NetworkAddress {
    /// The address with another port.
    func withPort(_ port: UInt16) -> NetworkAddress {
        NetworkAddress(ip: ip, interface: scope, port: port) ?? self
    }
}
