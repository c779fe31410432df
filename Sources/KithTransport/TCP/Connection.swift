import Dispatch
import Glibc
import KithDocument
import KithNetwork
import KithSystem
import Synchronization

/// One TCP connection with TLS over it, driven by Dispatch.
///
/// It is made by `Connection.dial` or by a `Listener`, ends once, and is never used again. Everything happens on its own
/// serial queue: events are delivered there, one at a time, and may call any method. `send`, `finish`, `close` and the
/// counters may be used from any thread.
///
/// A connection that is open keeps itself alive; dropping the last reference does not end it.
package final class Connection: @unchecked Sendable {
    // Sendable: what is not constant, atomic or under the mutex is touched on `queue` only, which every entry asserts.

    /// What happens to a connection, in this order: `opened` at most once, then any of the middle ones, `closed` once.
    package enum Event {
        /// The handshake is complete and the peer is known. On the side that dialled, the peer may still refuse this node.
        case opened(AuthenticatedPeer)
        /// Plaintext, valid during the call only.
        case received(UnsafeRawBufferPointer)
        /// What waits to be sent has fallen to `TransportLimits.drainedBytes` or less after it was more.
        case drained
        /// Of all bytes given to the network the peer's machine has so many: told now and then while many are under way, when
        /// the count has grown.
        case acknowledged(total: UInt64)
        /// The peer sends no more. It may still receive: answer what is left, then call `finish`.
        case finished
        /// The end. Nothing follows.
        case closed(Ending)
    }

    /// How a connection ended.
    package enum Ending: Hashable, Sendable {
        /// Both sides had said that they send no more.
        case complete
        /// `close` was called here.
        case closedHere
        case failed(TransportError)
    }

    package typealias Handler = @Sendable (Connection, Event) -> Void

    /// Who opened it.
    package enum Direction: Hashable, Sendable { case dialled, accepted }

    /// Times that tests shorten.
    package struct Timeouts: Sendable {
        /// Until there is a TCP connection, with the look-up of the name.
        package var connectMilliseconds = TransportLimits.connectMilliseconds
        /// From then until the handshake is complete.
        package var handshakeMilliseconds = TransportLimits.handshakeMilliseconds

        package init() {}
    }

    enum State: Equatable {
        case connecting
        case handshake
        case open
        /// Closed for the owner; what the peer still sends is thrown away for a moment, so that our last words reach it.
        case lingering
        case closed
    }

    /// What other threads put in.
    struct Outbox {
        var chunks: [[UInt8]] = []
        /// Bytes that were given to `send` and not yet to the kernel.
        var buffered = 0
        /// A flush is under way, waits for the socket, or is queued.
        var scheduled = false
        var finishing = false
        var accepting = true
        /// More than `drainedBytes` waited, and `drained` was not delivered since.
        var owesDrained = false
    }

    let serial = SerialQueue("kith.connection")
    package var queue: DispatchQueue { serial.dispatch }
    package let direction: Direction
    let engine: TLSEngine
    let timeouts: Timeouts
    let outbox = Mutex(Outbox())
    let sent = Atomic<UInt64>(0)
    let received = Atomic<UInt64>(0)
    private let remoteText: Mutex<String>

    // On `queue` only.
    var state: State
    var handler: Handler?
    var descriptor: Int32 = -1
    var readSource: (any DispatchSourceRead)?
    var writeSource: (any DispatchSourceWrite)?
    var timer: (any DispatchSourceTimer)?
    var addresses: [NetworkAddress] = []
    var lastConnectError: TransportError?
    var attemptMilliseconds = 0
    var isReading = true
    var readIsSuspended = false
    var writeIsSuspended = true
    var flush = FlushState()
    /// TLS's closing message was made.
    var sentFinish = false
    /// It is with the kernel, and so is the end of TCP's stream.
    var closedSending = false
    var receivedFinish = false
    var lingered = 0
    /// Whether the path is looked at from time to time.
    var isPathWatched = false
    /// What was last told with `acknowledged`.
    var toldAcknowledged: UInt64 = 0
    private var isDropped = false
    /// The largest segment to be agreed on, in bytes; nil for what the interface gives.
    package let segmentBytes: Int?
    /// Called once when the socket is given back, which is after `closed` where the connection lingers.
    private var released: (@Sendable () -> Void)?
    let buffers = Buffers()

    init(
        direction: Direction, remote: String, engine: TLSEngine, timeouts: Timeouts, state: State,
        segmentBytes: Int? = nil, handler: @escaping Handler
    ) {
        self.direction = direction
        remoteText = Mutex(remote)
        self.engine = engine
        self.timeouts = timeouts
        self.state = state
        self.segmentBytes = segmentBytes
        self.handler = handler
    }

    // MARK: For any thread

    /// The peer's address and port as text, `[fe80::1%eth0]:5484`; the endpoint as given until a connection is made.
    package var remote: String { remoteText.withLock { $0 } }

    /// Bytes given to the network, with TLS's own.
    package var sentBytes: UInt64 { sent.load(ordering: .relaxed) }

    /// Bytes taken from the network, with TLS's own.
    package var receivedBytes: UInt64 { received.load(ordering: .relaxed) }

    /// Bytes that wait to be sent.
    package var bufferedBytes: Int { outbox.withLock { $0.buffered } }

    /// Sends the bytes after all that was given before, and returns at once. Bytes sent before `opened` wait for it; on a
    /// connection that ended they are thrown away.
    /// - Returns: how many bytes wait now. A caller that stops above some count and goes on at `drained` bounds the memory.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Int {
        let (waiting, starts) = outbox.withLock { outbox -> (Int, Bool) in
            guard outbox.accepting, !outbox.finishing, !bytes.isEmpty else { return (outbox.buffered, false) }
            outbox.chunks.append(bytes)
            outbox.buffered += bytes.count
            if outbox.buffered > TransportLimits.drainedBytes { outbox.owesDrained = true }
            defer { outbox.scheduled = true }
            return (outbox.buffered, !outbox.scheduled)
        }
        if starts { queue.async { self.continueFlush() } }
        return waiting
    }

    /// Sends what waits, then says that no more comes. Receiving goes on; when the peer has finished too, the connection
    /// ends as `complete`.
    package func finish() {
        let starts = outbox.withLock { outbox -> Bool in
            guard outbox.accepting, !outbox.finishing else { return false }
            outbox.finishing = true
            defer { outbox.scheduled = true }
            return !outbox.scheduled
        }
        if starts { queue.async { self.continueFlush() } }
    }

    /// Ends the connection now; what waits to be sent is thrown away.
    package func close() { queue.async { self.end(.closedHere) } }

    // MARK: On the queue

    /// Stops or goes on taking bytes from the network, for an owner who can't keep up. On the queue only.
    package func setReading(_ reading: Bool) {
        dispatchPrecondition(condition: .onQueue(queue))
        isReading = reading
        updateReadSource()
    }

    /// Replaces who gets the events. On the queue only.
    package func setHandler(_ handler: @escaping Handler) {
        dispatchPrecondition(condition: .onQueue(queue))
        if state != .closed, state != .lingering { self.handler = handler }
    }

    /// 32 bytes that only both ends of this connection know (RFC 8446, 7.5). On the queue, after `opened`.
    package func exportKey(label: String) throws(TransportError) -> [UInt8] {
        dispatchPrecondition(condition: .onQueue(queue))
        return try engine.exportKey(label: label)
    }

    /// The cipher suite, for people. On the queue, after `opened`.
    package var cipherSuite: String {
        dispatchPrecondition(condition: .onQueue(queue))
        return engine.cipherSuite
    }

    func setRemote(_ text: String) { remoteText.withLock { $0 = text } }

    func deliver(_ event: Event) { handler?(self, event) }

    /// Runs `end` when the time is up, unless another timer is set or `clearTimer` called before.
    func setTimer(milliseconds: Int, _ action: @escaping @Sendable (Connection) -> Void) {
        clearTimer()
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(milliseconds))
        timer.setEventHandler { [weak self] in if let self { action(self) } }
        timer.resume()
        self.timer = timer
    }

    func clearTimer() {
        timer?.cancel()
        timer = nil
    }

    func fail(_ error: TransportError) { end(.failed(explained(error))) }

    /// Ends the connection at once, without last words: for a stranger whose place is wanted.
    func drop() {
        queue.async {
            guard self.state != .closed else { return }
            self.isDropped = true
            if self.state == .lingering { self.release() } else { self.end(.closedHere) }
        }
    }

    /// The one place where a connection ends.
    func end(_ ending: Ending) {
        dispatchPrecondition(condition: .onQueue(queue))
        guard state != .closed, state != .lingering else { return }
        clearTimer()
        let wasConnected = state != .connecting
        if wasConnected, ending != .complete, !isDropped { sendLastWords() }
        outbox.withLock { outbox in
            outbox.accepting = false
            outbox.chunks = []
            outbox.buffered = 0
        }
        flush = FlushState()
        let handler = handler
        self.handler = nil
        if wasConnected, ending != .complete, !receivedEnd(ending), !isDropped { linger() } else { release() }
        handler?(self, .closed(ending))
    }

    /// Whether the peer is gone, so that nobody is left to read our last words.
    private func receivedEnd(_ ending: Ending) -> Bool {
        switch ending {
        case .failed(.truncated), .failed(.closedInHandshake), .failed(.system): true
        default: false
        }
    }

    /// An alert, or TLS's closing message, as far as the socket takes it at once.
    private func sendLastWords() {
        if state == .open, !sentFinish { engine.finish() }
        _ = try? engine.takeOutput { output throws(TransportError) in
            guard case .bytes(let count) = try Socket.send(descriptor, output) else { return 0 }
            sent.add(UInt64(count), ordering: .relaxed)
            return count
        }
    }

    private func linger() {
        state = .lingering
        shutdown(descriptor, Int32(SHUT_WR))
        updateReadSource()
        setTimer(milliseconds: TransportLimits.lingerMilliseconds) { $0.release() }
    }

    /// Gives the socket back.
    func release() {
        guard state != .closed else { return }
        state = .closed
        clearTimer()
        releaseSocket()
        released?()
        released = nil
    }

    /// Calls back when the socket is given back, at once where it was.
    func whenReleased(_ body: @escaping @Sendable () -> Void) {
        dispatchPrecondition(condition: .onQueue(queue))
        if state == .closed { body() } else { released = body }
    }
}
