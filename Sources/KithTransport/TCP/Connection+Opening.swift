import Dispatch
import Glibc
import KithDocument
import KithNetwork

extension Connection {
    /// Connects to the endpoint. Names are looked up on another queue; their addresses are tried one after the other.
    ///
    /// - Parameter expecting: the node that is wanted there; any member will do when nil.
    /// - Parameter segmentBytes: the largest segment that either side sends, for a path that loses larger packets.
    /// - Parameter handler: gets all events, on the connection's queue, `closed` also when no connection is made.
    /// - Throws: `.tls` when OpenSSL can't begin. Everything else comes as an event.
    package static func dial(
        _ endpoint: Endpoint, _ context: TLSContext, expecting: NodeID? = nil, timeouts: Timeouts = Timeouts(),
        segmentBytes: Int? = nil, handler: @escaping Handler
    ) throws(TransportError) -> Connection {
        let connection = Connection(
            direction: .dialled, remote: endpoint.description,
            engine: try TLSEngine(context, .client, expecting: expecting), timeouts: timeouts, state: .connecting,
            segmentBytes: segmentBytes, handler: handler)
        connection.queue.async { connection.begin(endpoint) }
        return connection
    }

    /// Takes over a socket that a listener accepted. It begins with `start`.
    static func accepted(
        _ descriptor: Int32, from address: NetworkAddress, _ context: TLSContext, timeouts: Timeouts,
        handler: @escaping Handler
    ) throws(TransportError) -> Connection {
        let connection = Connection(
            direction: .accepted, remote: address.description, engine: try TLSEngine(context, .server),
            timeouts: timeouts, state: .handshake, handler: handler)
        connection.descriptor = descriptor
        return connection
    }

    /// Begins the handshake of an accepted connection.
    func start() {
        queue.async {
            self.makeSources()
            self.beginHandshake()
        }
    }

    private func begin(_ endpoint: Endpoint) {
        setTimer(milliseconds: timeouts.connectMilliseconds) { connection in
            connection.fail(.timedOut("looking up \(endpoint.host)"))
        }
        if case .numeric(let address) = endpoint { return connect([address]) }
        // A name service may take its time; it must not hold up this connection's time-out, nor a thread of the pool.
        DispatchQueue(label: "kith.resolve").async {
            let result = Result { () throws(TransportError) in try Socket.resolve(endpoint) }
            self.queue.async {
                guard self.state == .connecting else { return }
                switch result {
                case .success(let addresses): self.connect(addresses)
                case .failure(let error): self.fail(error)
                }
            }
        }
    }

    private func connect(_ addresses: [NetworkAddress]) {
        self.addresses = addresses
        // Each address gets its share of the time, or one that swallows packets would take all of it.
        let share = max(1, timeouts.connectMilliseconds / max(1, addresses.count))
        connectToNext(milliseconds: share)
    }

    private func connectToNext(milliseconds: Int) {
        attemptMilliseconds = milliseconds
        while !addresses.isEmpty {
            let address = addresses.removeFirst()
            do throws(TransportError) {
                let socket = try Socket.make(family: address.family)
                if let segmentBytes {
                    Socket.set(socket, Int32(IPPROTO_TCP), TCP_MAXSEG, Int32(segmentBytes))
                }
                do throws(TransportError) { try Socket.connect(socket, to: address) } catch {
                    Glibc.close(socket)
                    throw error
                }
                descriptor = socket
                setRemote(address.description)
                makeSources()
                updateWriteSource(wanted: true)
                return setTimer(milliseconds: milliseconds) { connection in
                    connection.attemptFailed(.timedOut("connecting to \(connection.remote)"))
                }
            } catch { lastConnectError = error }
        }
        fail(lastConnectError ?? .address("there is no address to connect to"))
    }

    /// The socket became writable while connecting.
    func connectionDecided() {
        let error = Socket.pendingError(descriptor)
        guard error == 0 else { return attemptFailed(.system("connecting to \(remote)", error)) }
        addresses = []
        lastConnectError = nil
        state = .handshake
        beginHandshake()
    }

    private func attemptFailed(_ error: TransportError) {
        guard state == .connecting else { return }
        lastConnectError = error
        releaseSocket()
        connectToNext(milliseconds: attemptMilliseconds)
    }

    private func beginHandshake() {
        guard state == .handshake else { return }
        Socket.setForLink(descriptor)
        setTimer(milliseconds: timeouts.handshakeMilliseconds) { $0.fail(.timedOut("the handshake with \($0.remote)")) }
        updateWriteSource(wanted: false)
        updateReadSource()
        watchPath()
        continueHandshake()
    }

    // MARK: Sources

    /// Both sources of a new socket. The socket is closed when both have ended, as Dispatch asks.
    private func makeSources() {
        let socket = descriptor
        let read = DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue)
        let write = DispatchSource.makeWriteSource(fileDescriptor: socket, queue: queue)
        let open = OpenSources(socket)
        read.setEventHandler { self.becameReadable() }
        write.setEventHandler { self.becameWritable() }
        read.setCancelHandler { open.ended() }
        write.setCancelHandler { open.ended() }
        readSource = read
        writeSource = write
        readIsSuspended = true
        writeIsSuspended = true
    }

    /// Closes the socket when its two sources have ended. Used on the connection's queue only.
    private final class OpenSources: @unchecked Sendable {
        // Sendable: both cancel handlers run on the connection's serial queue.
        private let descriptor: Int32
        private var count = 2

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        func ended() {
            count -= 1
            if count == 0 { Glibc.close(descriptor) }
        }
    }

    /// Whether bytes are taken from the network now.
    var wantsToRead: Bool {
        switch state {
        case .connecting, .closed: false
        case .handshake, .lingering: true
        case .open: isReading && !receivedFinish
        }
    }

    /// Suspends or resumes the read source as the state wants it.
    func updateReadSource() {
        let suspended = !wantsToRead
        guard let readSource, suspended != readIsSuspended else { return }
        readIsSuspended = suspended
        if suspended { return readSource.suspend() }
        readSource.resume()
        // What came meanwhile may have been told of already.
        queue.async { self.becameReadable() }
    }

    func updateWriteSource(wanted: Bool) {
        guard let writeSource, wanted == writeIsSuspended else { return }
        writeIsSuspended = !wanted
        if wanted { writeSource.resume() } else { writeSource.suspend() }
    }

    /// Ends the sources, which closes the socket. A suspended source must run to end.
    func releaseSocket() {
        readSource?.cancel()
        writeSource?.cancel()
        if readIsSuspended { readSource?.resume() }
        if writeIsSuspended { writeSource?.resume() }
        readIsSuspended = false
        writeIsSuspended = false
        readSource = nil
        writeSource = nil
        descriptor = -1
    }
}
