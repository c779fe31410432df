import KithCrypto
import KithDocument
import KithSystem
import KithTransport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One side of a connection as a process has it: sealed as by TLS, so that nobody else reads or changes what is sent, and
/// each side knows who the other is. The flights of the handshake take their time; the certificates and who is let in are
/// judged by the product's own code.
final class SimulatedChannel: Channel, @unchecked Sendable {
    // Sendable: a run has one thread.

    private enum State { case connecting, handshake, open, closed }

    let process: SimulatedProcess
    let queue: SimulatedQueue
    let direction: Connection.Direction
    let remote: String
    let segmentBytes: Int?
    private let configuration: TLSConfiguration
    private let asks: LinkProtocol?
    private var state = State.connecting
    private var handler: ChannelHandler?
    weak var connection: SimulatedConnection?
    /// 0 where this side dialled.
    private var end: Int { direction == .dialled ? 0 : 1 }
    private var peer: AuthenticatedPeer?
    /// Where its process plays another version of the protocol.
    private let rewriter: FrameRewriter?
    private var isReading = true
    /// What came while nobody read.
    private var kept: [SimulatedConnection.Segment] = []
    private var early: [[UInt8]] = []
    private var earlyBytes = 0
    private var owesDrained = false
    private var isFinishing = false
    private var hasFinished = false
    private var toldAt: UInt64 = 0
    /// For one that was accepted: called when the peer is known or refused.
    private let listener: SimulatedListener?

    init(
        _ process: SimulatedProcess, _ direction: Connection.Direction, remote: String,
        _ configuration: TLSConfiguration, segmentBytes: Int? = nil, listener: SimulatedListener? = nil,
        handler: ChannelHandler?
    ) {
        self.process = process
        queue = process.makeQueue("channel")
        self.direction = direction
        self.remote = remote
        self.configuration = configuration
        asks = direction == .dialled ? configuration.asksFor : nil
        self.segmentBytes = segmentBytes
        self.listener = listener
        self.handler = handler
        rewriter = process.skew.map { FrameRewriter($0.skew, of: $0.node, process.world) }
        if direction == .accepted { state = .handshake }
    }

    // MARK: For its owner

    var workQueue: any WorkQueue { queue }

    var sentBytes: UInt64 { connection.map { $0.ends[end].sent } ?? 0 }

    var receivedBytes: UInt64 { connection.map { $0.ends[end].received } ?? 0 }

    var bufferedBytes: Int { earlyBytes + (connection.map { $0.ends[end].waiting } ?? 0) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Int {
        guard state != .closed, !isFinishing, !bytes.isEmpty else { return 0 }
        let bytes = rewriter?.outgoing(bytes) ?? bytes
        let number = connection?.number ?? 0
        process.world.noteSent(bytes, by: process.machine.index, on: number)
        if let told = process.world.told { told(process.machine.index, "send", "c\(number) \(FrameWords.of(bytes))") }
        if state == .open {
            connection?.send(bytes, from: end)
        } else {
            early.append(bytes)
            earlyBytes += bytes.count
        }
        let waiting = bufferedBytes
        if waiting > TransportLimits.drainedBytes { owesDrained = true }
        return waiting
    }

    func finish() {
        guard state != .closed, !isFinishing else { return }
        isFinishing = true
        if state == .open { connection?.finish(end) }
    }

    func close() { queue.async { self.end(.closedHere) } }

    func setReading(_ reading: Bool) {
        isReading = reading
        guard reading, !kept.isEmpty else { return }
        queue.async {
            while self.isReading, !self.kept.isEmpty { self.handle(self.kept.removeFirst()) }
        }
    }

    func setHandler(_ handler: @escaping ChannelHandler) { if state != .closed { self.handler = handler } }

    func exportKey(label: String) throws(TransportError) -> [UInt8] {
        guard let connection else { throw .tls("no connection") }
        var hash = connection.secret
        for byte in label.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return (0..<32).map { UInt8(truncatingIfNeeded: hash >> (UInt64($0 % 8) * 8)) ^ UInt8($0 / 8) }
    }

    /// The member at the other end, once the connection is open.
    var member: NodeID? {
        guard state == .open, case .member(let identity)? = peer else { return nil }
        return identity.nodeID
    }

    // MARK: From the network

    /// Whether bytes may be under way though this end was not told that the connection is there.
    var mayStream: Bool { direction == .accepted }

    /// The connection is there: the handshake begins.
    func connected() {
        queue.perform {
            guard self.state == .connecting else { return }
            self.state = .handshake
            self.connection?.send(.flight([], self.asks), from: 0)
        }
    }

    func refused() {
        queue.perform { self.end(.failed(.system("connecting", ECONNREFUSED))) }
    }

    /// The connection was reset.
    func lost() {
        queue.perform {
            self.connection = nil
            self.end(.failed(.system("receiving", ECONNRESET)))
        }
    }

    /// The network has taken what waited.
    func drained(to waiting: Int) {
        guard owesDrained, waiting + earlyBytes <= TransportLimits.drainedBytes else { return }
        owesDrained = false
        queue.async { if self.state == .open { self.deliver(.drained) } }
    }

    func take(_ segment: SimulatedConnection.Segment) { queue.perform { self.handle(segment) } }

    private func handle(_ segment: SimulatedConnection.Segment) {
        guard state != .closed else { return }
        switch segment {
        case .flight(let shown, let spoken): continueHandshake(shown, spoken)
        case .alert(let number): end(.failed(.refusedByPeer(alert: number)))
        case .bytes(let bytes, let isCorrupt):
            guard state == .open, isReading || isCorrupt else { return kept.append(segment) }
            if isCorrupt { return end(.failed(.tls("a record that was changed on the way"))) }
            tellOfArrival(bytes.count)
            if let heard = rewriter?.incoming(Array(bytes)) { return heard.withUnsafeBytes { deliver(.received($0)) } }
            bytes.withUnsafeBytes { deliver(.received($0)) }
        case .end(let isClean):
            guard isReading || !isClean || state != .open else { return kept.append(segment) }
            if state == .handshake { return end(.failed(.closedInHandshake)) }
            guard isClean else { return end(.failed(.truncated)) }
            hasFinished = true
            if isFinishing, bufferedBytes == 0 { return end(.complete) }
            deliver(.finished)
        }
    }

    /// The sender learns now and then how much has arrived.
    private func tellOfArrival(_ bytes: Int) {
        guard let connection else { return }
        connection.took(bytes, at: end)
        let (world, network) = (process.world, process.machine.network)
        guard let other = connection.ends[1 - end].channel, world.now >= other.toldAt + 250_000 else { return }
        other.toldAt = world.now
        let total = connection.ends[1 - end].confirmed
        let (from, to) = (connection.ends[end].machine?.index ?? 0, connection.ends[1 - end].machine?.index ?? 0)
        guard !connection.isForgotten, !network.isCut(from: from, to: to) else { return }
        world.after(network.delay(from: from, to: to)) {
            other.queue.perform { if other.state == .open { other.deliver(.acknowledged(total: total)) } }
        }
    }

    // MARK: The handshake: the client's word, the server's certificates, the client's certificates

    private func continueHandshake(_ shown: [Certificate], _ spoken: LinkProtocol?) {
        guard state == .handshake else { return }
        if direction == .accepted, shown.isEmpty {
            guard let spoken, configuration.accepts(spoken) else {
                connection?.send(.alert(120), from: 1)
                return end(.failed(.refused(spoken == .join ? .noInviteOpen : .wrongProtocol)))
            }
            self.spoken = spoken
            connection?.send(.flight(configuration.chain, spoken), from: 1)
            return
        }
        switch configuration.judge(shown, spoken ?? .link) {
        case .failure(let refusal):
            connection?.send(.alert(Self.alert(for: refusal)), from: end)
            end(.failed(.refused(refusal)))
        case .success(let peer):
            self.peer = peer
            if direction == .dialled { connection?.send(.flight(configuration.chain, spoken), from: 0) }
            open(peer)
        }
    }

    private var spoken: LinkProtocol?

    /// As libssl has it for the errors that `TLSContext` gives it.
    private static func alert(for refusal: Refusal) -> Int {
        switch refusal {
        case .revoked: TransportError.revokedAlert
        case .notInGroup, .noCertificate, .wrongGroup: 48
        default: 42
        }
    }

    private func open(_ peer: AuthenticatedPeer) {
        state = .open
        if let listener {
            guard let handler = listener.opened(self, peer) else { return end(.closedHere) }
            self.handler = handler
        } else {
            deliver(.opened(peer))
        }
        guard state == .open else { return }
        for bytes in early { connection?.send(bytes, from: end) }
        early = []
        earlyBytes = 0
        if isFinishing { connection?.finish(end) }
        // What came before this side knew who speaks.
        let waiting = kept
        kept = []
        for segment in waiting { handle(segment) }
    }

    private func deliver(_ event: Connection.Event) { handler?(self, event) }

    private func end(_ ending: Connection.Ending) {
        guard state != .closed else { return }
        if state == .handshake, case .failed(let error) = ending { listener?.refused(self, error) }
        state = .closed
        let handler = handler
        self.handler = nil
        kept = []
        early = []
        connection?.close(end)
        connection = nil
        handler?(self, .closed(ending))
    }

    /// The time for connecting or for the handshake is up.
    func timeIsUp(_ what: String) {
        queue.perform {
            guard self.state == .connecting || self.state == .handshake else { return }
            self.end(.failed(.timedOut(self.state == .connecting ? what : "the handshake with \(self.remote)")))
        }
    }
}
