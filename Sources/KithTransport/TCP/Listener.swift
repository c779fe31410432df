import Dispatch
import Glibc
import KithDocument
import KithNetwork
import Synchronization

/// Takes connections, runs their handshakes within bounds, and hands over those whose peer is known. Strangers are counted
/// and closed; they get no application data.
///
/// Any thread may call it. The callbacks run on the queue of the connection that they are about.
package final class Listener: @unchecked Sendable {
    // Sendable: what is not constant or under the mutex is touched on `queue` only.

    /// What became of those who knocked.
    package struct Counters: Hashable, Sendable {
        /// Connections that were taken from the kernel.
        package var accepted: UInt64 = 0
        /// Those whose handshake failed: no certificate, one of another group, another protocol, silence.
        package var strangers: UInt64 = 0
        /// Those of them that showed a certificate which is not of this group.
        package var foreignGroups: UInt64 = 0
        /// Those closed unheard because too many handshakes were under way, and those that were closed in the middle to make
        /// room for another.
        package var turnedAway: UInt64 = 0
        /// How often the process had too few descriptors left to take a connection, or the kernel no memory.
        package var outOfResources: UInt64 = 0

        package init() {}
    }

    /// Called when the handshake of a connection is complete: who gets its events from now on, or nil to close it. The
    /// handler does not get `opened` again.
    package typealias Opened = @Sendable (Connection, AuthenticatedPeer) -> Connection.Handler?

    /// Called for each stranger, for the log: the address and what was wrong.
    package typealias Stranger = @Sendable (String, TransportError) -> Void

    private struct State {
        var counters = Counters()
        /// Handshakes under way, by the peer's address without its port.
        var pending: [NetworkAddress: Int] = [:]
        var pendingTotal = 0
        /// Those of them that may be closed for another, by number, so that the oldest is the first.
        var handshakes: [UInt64: Handshake] = [:]
        var lastNumber: UInt64 = 0
        var context: TLSContext

        /// Takes the oldest handshake out, of a host or of all, if it has had its time.
        mutating func removeOldest(of host: NetworkAddress?, graceMilliseconds: Int) -> Connection? {
            let now = DispatchTime.now().uptimeNanoseconds
            guard
                let (number, oldest) = handshakes.filter({ host == nil || $0.value.host == host })
                    .min(by: { $0.key < $1.key }),
                now - oldest.since >= UInt64(graceMilliseconds) * 1_000_000
            else { return nil }
            handshakes[number] = nil
            return oldest.connection
        }
    }

    private struct Handshake {
        let connection: Connection
        let host: NetworkAddress
        /// Nanoseconds.
        let since: UInt64
    }

    private let queue = DispatchQueue(label: "kith.listener")
    private let state: Mutex<State>
    private let timeouts: Connection.Timeouts
    private let pendingPerAddress: Int
    private let graceMilliseconds: Int
    private let opened: Opened
    private let stranger: Stranger
    private let source: any DispatchSourceRead
    private let descriptor: Int32
    /// The address and port that is listened on.
    package let address: NetworkAddress

    // On `queue` only.
    private var isPaused = false
    private var isStopped = false

    /// Listens. On an IPv6 wildcard, IPv4 is taken too; a system without IPv6 gets the IPv4 wildcard.
    ///
    /// - Parameter endpoint: a numeric address and a port; port 0 is any free one.
    /// - Parameter orNextPort: go on to the next free port when the wanted one is taken.
    /// - Throws: `.address`, `.system`; a port that is taken is `EADDRINUSE`.
    package init(
        _ endpoint: Endpoint, orNextPort: Bool, context: TLSContext, timeouts: Connection.Timeouts = .init(),
        pendingPerAddress: Int = TransportLimits.pendingHandshakesPerAddress,
        graceMilliseconds: Int = TransportLimits.handshakeGraceMilliseconds,
        stranger: @escaping Stranger = { _, _ in }, opened: @escaping Opened
    ) throws(TransportError) {
        descriptor = try Self.bind(endpoint, orNextPort: orNextPort)
        guard let address = Socket.localAddress(descriptor) else { throw .system("listening on \(endpoint)", errno) }
        self.address = address
        state = Mutex(State(context: context))
        self.timeouts = timeouts
        self.pendingPerAddress = pendingPerAddress
        self.graceMilliseconds = graceMilliseconds
        self.opened = opened
        self.stranger = stranger
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        let descriptor = descriptor
        source.setCancelHandler { close(descriptor) }
        source.setEventHandler { [weak self] in self?.acceptAll() }
        source.resume()
    }

    deinit {
        if isPaused { source.resume() }
        source.cancel()
    }

    package var port: UInt16 { address.port }

    package var counters: Counters { state.withLock { $0.counters } }

    /// Handshakes under way.
    package var pendingHandshakes: Int { state.withLock { $0.pendingTotal } }

    /// What is shown and accepted from the next connection on, for a new certificate.
    package func setContext(_ context: TLSContext) { state.withLock { $0.context = context } }

    /// Takes no more connections; those that are open stay. The port is free soon after.
    package func stop() {
        queue.async {
            guard !self.isStopped else { return }
            self.isStopped = true
            self.source.cancel()
            if self.isPaused { self.source.resume() }
            self.isPaused = false
        }
    }

    /// Looks whether a listener could be made there now; the port is free again when this returns.
    /// - Throws: as `init`.
    package static func probe(_ endpoint: Endpoint, orNextPort: Bool) throws(TransportError) {
        close(try bind(endpoint, orNextPort: orNextPort))
    }

    // MARK: Binding

    private static func bind(_ endpoint: Endpoint, orNextPort: Bool) throws(TransportError) -> Int32 {
        guard case .numeric(let address) = endpoint else {
            throw .address("`\(endpoint.host)` can't be listened on: a numeric address is wanted, [::] for all")
        }
        var port = address.port
        for attempt in 0...TransportLimits.portsTried {
            do throws(TransportError) { return try bind(address.with(port: port)) } catch {
                guard orNextPort, attempt < TransportLimits.portsTried, case .system(_, EADDRINUSE) = error,
                    port < 65_535
                else { throw error }
                port += 1
            }
        }
        preconditionFailure("the last attempt returns or throws")
    }

    private static func bind(_ address: NetworkAddress) throws(TransportError) -> Int32 {
        let isWildcard = address.isIPv6 && address.isUnspecified
        let descriptor: Int32
        do throws(TransportError) { descriptor = try Socket.make(family: address.family) } catch {
            guard isWildcard, case .system(_, EAFNOSUPPORT) = error else { throw error }
            return try bind(.anyIPv4(port: address.port))
        }
        // After a restart the port is taken again at once, although old connections linger in the kernel.
        Socket.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if address.family == AF_INET6 { Socket.set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, isWildcard ? 0 : 1) }
        guard address.withSystemAddress({ Glibc.bind(descriptor, $0, $1) }) == 0,
            listen(descriptor, TransportLimits.backlog) == 0
        else {
            let error = errno
            close(descriptor)
            if isWildcard, error == EADDRNOTAVAIL {
                return try bind(.anyIPv4(port: address.port))
            }
            if error == EADDRNOTAVAIL {
                throw .address(
                    "no interface of this machine has the address \(address.with(port: 0).host) now; it must be there before "
                        + "the node starts")
            }
            throw .system("listening on \(address)", error)
        }
        return descriptor
    }

    // MARK: Accepting

    private func acceptAll() {
        // A flood of connections must let `stop` through.
        for _ in 0..<Int(TransportLimits.backlog) {
            guard !isStopped, !isPaused else { return }
            let (socket, address) = NetworkAddress.read { accept(descriptor, $0, $1) }
            if socket >= 0 {
                Socket.setNonBlocking(socket)
                if Self.isAmongTheLast(socket) {
                    close(socket)
                    state.withLock { $0.counters.outOfResources += 1 }
                } else {
                    take(socket, from: address)
                }
                continue
            }
            switch errno {
            case EAGAIN: return
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return pause()
            // The peer was gone before it was accepted, or the network reported an error of it.
            default: continue
            }
        }
    }

    /// Without descriptors the socket stays readable; looking again at once would spin.
    private func pause() {
        state.withLock { $0.counters.outOfResources += 1 }
        isPaused = true
        source.suspend()
        queue.asyncAfter(deadline: .now() + .milliseconds(TransportLimits.acceptPauseMilliseconds)) { [weak self] in
            guard let self, self.isPaused else { return }
            self.isPaused = false
            self.source.resume()
        }
    }

    /// Whether a descriptor is one of those that are kept for the node itself. The kernel gives the lowest free one, so this
    /// tells how many are left without counting them.
    private static func isAmongTheLast(_ descriptor: Int32) -> Bool {
        guard let limit = DescriptorLimit.current else { return false }
        return Int(descriptor) >= limit - min(TransportLimits.reservedDescriptors, limit / 4)
    }

    private func take(_ socket: Int32, from address: NetworkAddress?) {
        guard let address, let (context, number) = admit(address.with(port: 0)) else {
            close(socket)
            return
        }
        do throws(TransportError) {
            let connection = try Connection.accepted(socket, from: address, context, timeouts: timeouts) {
                connection, event in
                self.handle(event, of: connection, number, from: address)
            }
            let handshake = Handshake(
                connection: connection, host: address.with(port: 0), since: DispatchTime.now().uptimeNanoseconds)
            state.withLock { $0.handshakes[number] = handshake }
            connection.start()
        } catch {
            close(socket)
            endPending(address)
            count(error)
        }
    }

    /// Finds a place for a handshake with a host, if need be that of an older one: who says nothing must not keep out who
    /// has something to say. While the old one ends, there is one more for a moment.
    private func admit(_ host: NetworkAddress) -> (TLSContext, UInt64)? {
        var victim: Connection?
        let admitted = state.withLock { state -> (TLSContext, UInt64)? in
            state.counters.accepted += 1
            let isHostFull = state.pending[host, default: 0] >= pendingPerAddress
            if isHostFull || state.pendingTotal >= TransportLimits.pendingHandshakes {
                state.counters.turnedAway += 1
                victim = state.removeOldest(of: isHostFull ? host : nil, graceMilliseconds: graceMilliseconds)
                if victim == nil { return nil }
            }
            state.pendingTotal += 1
            state.pending[host, default: 0] += 1
            state.lastNumber += 1
            return (state.context, state.lastNumber)
        }
        victim?.drop()
        return admitted
    }

    /// Events of a connection whose handshake is under way.
    private func handle(
        _ event: Connection.Event, of connection: Connection, _ number: UInt64, from address: NetworkAddress
    ) {
        switch event {
        case .opened(let peer):
            endPending(address)
            state.withLock { _ = $0.handshakes.removeValue(forKey: number) }
            guard let handler = opened(connection, peer) else {
                connection.setHandler { _, _ in }
                return connection.close()
            }
            connection.setHandler(handler)
        case .closed(let ending):
            // It counts as pending while it lingers, or a flood of bad handshakes would take all descriptors.
            connection.whenReleased {
                self.endPending(address)
                self.state.withLock { _ = $0.handshakes.removeValue(forKey: number) }
            }
            guard case .failed(let error) = ending else { return }
            count(error)
            stranger(address.description, error)
        case .received, .drained, .acknowledged, .finished: break
        }
    }

    private func endPending(_ address: NetworkAddress) {
        let host = address.with(port: 0)
        state.withLock { state in
            state.pendingTotal -= 1
            let left = state.pending[host, default: 1] - 1
            state.pending[host] = left > 0 ? left : nil
        }
    }

    private func count(_ failure: TransportError) {
        state.withLock { state in
            state.counters.strangers += 1
            if case .refused(.notInGroup) = failure { state.counters.foreignGroups += 1 }
        }
    }
}
