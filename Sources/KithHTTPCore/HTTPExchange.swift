import CMicroHTTPD
import Glibc
import Synchronization

/// One request and its response, between the event loop of libmicrohttpd and the task that handles it.
///
/// The loop never waits: where it has nothing to do for the exchange it suspends the connection, and whoever makes
/// something to do (an answer, room in a buffer, a part of a stream) resumes it. The task never spins: it waits in a
/// continuation that the loop takes up. All state is behind one mutex. Suspending and resuming happen with it held, so
/// that no wake-up is lost between looking and suspending; neither calls back.
final class HTTPExchange: Sendable {
    /// A connection of libmicrohttpd.
    ///
    /// `@unchecked Sendable`: the library lets a suspended connection be resumed from any thread; all other uses are on
    /// its own loop.
    struct Connection: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    enum Phase {
        /// Nothing was said to the handler.
        case fresh
        /// The handler has the headers; the body is not wanted yet, so the client is not told to send it.
        case headers
        /// The body is being received.
        case receiving
        /// The request is complete.
        case complete
    }

    enum Outcome {
        case open
        case finished
        /// The response is cut off where it stands.
        case failed
    }

    struct State {
        var phase = Phase.fresh
        var suspended = false
        /// How often the connection was suspended, to tell one time from the next.
        var suspensions = 0
        /// The client left or the server stops; nothing is sent any more.
        var gone = false
        /// libmicrohttpd has forgotten the connection.
        var ended = false
        /// The descriptor of the connection's socket.
        var socket: Int32 = -1

        /// What came of the body and was not read.
        var received: [UInt8] = []
        var discardedBytes = 0
        var bodyWanted = false
        var reader: CheckedContinuation<Result<[UInt8]?, HTTPError>, Never>?

        var response: HTTPResponse?
        var answered = false
        var outgoing: [UInt8] = []
        /// The bytes of `outgoing` that were sent.
        var sent = 0
        var outcome = Outcome.open
        var writer: CheckedContinuation<Result<Void, HTTPError>, Never>?

        var task: Task<Void, Never>?

        var waiting: Int { outgoing.count - sent }

        /// Whether the handler will not read on in the request's body.
        var isDoneReading: Bool {
            switch response?.body {
            case nil: false
            case .bytes: true
            case .stream: outcome != .open || (waiting > 0 && !bodyWanted)
            }
        }
    }

    /// The target as it came in the request line.
    let rawTarget: [UInt8]
    let connection: Connection
    let state = Mutex(State())

    init(rawTarget: [UInt8], connection: Connection) {
        self.rawTarget = rawTarget
        self.connection = connection
    }

    // MARK: For the loop and the handler

    /// Suspends the connection. With the mutex held, and on the loop only.
    func suspend(_ state: inout State) {
        state.suspended = true
        state.suspensions += 1
        MHD_suspend_connection(connection.pointer)
    }

    /// Lets the loop look at the exchange again. With the mutex held.
    func resume(_ state: inout State) {
        guard state.suspended else { return }
        state.suspended = false
        MHD_resume_connection(connection.pointer)
    }

    /// Whether a streamed response has begun.
    var isStreaming: Bool {
        state.withLock { state in
            if case .stream = state.response?.body { true } else { false }
        }
    }

    /// The server stops soon: the handler's task is told, and may end its stream with a word.
    func cancel() { state.withLock { $0.task }?.cancel() }

    /// The client left or the server stops: ends the task and everything that waits.
    func abandon() {
        let (task, reader, writer) = state.withLock { state in
            state.gone = true
            resume(&state)
            return (state.task, state.reader.take(), state.writer.take())
        }
        reader?.resume(returning: .failure(.gone))
        writer?.resume(returning: .failure(.gone))
        task?.cancel()
    }

    // MARK: For the handler's task

    /// Starts the handler on the workers.
    func start(_ handler: @escaping HTTPServer.Handler, request: HTTPRequest, on workers: HTTPWorkers) {
        let task = Task(executorPreference: workers) {
            let response = await handler(request)
            self.answer(response)
            if case .stream(let produce) = response.body {
                do {
                    try await produce(HTTPBodyWriter { bytes throws(HTTPError) in try await self.write(bytes) })
                    self.finish(.finished)
                } catch {
                    self.finish(.failed)
                }
            }
        }
        let abandoned = state.withLock { state in
            state.task = task
            return state.gone
        }
        if abandoned { task.cancel() }
    }

    private func answer(_ response: HTTPResponse) {
        state.withLock { state in
            state.response = response
            resume(&state)
        }
    }

    /// The next part of the request's body.
    func read() async throws(HTTPError) -> [UInt8]? {
        let result = await withCheckedContinuation { continuation in
            let ready: Result<[UInt8]?, HTTPError>? = state.withLock { state in
                if state.gone { return .failure(.gone) }
                if !state.received.isEmpty {
                    let part = state.received
                    state.received = []
                    if state.phase == .receiving { resume(&state) }
                    return .success(part)
                }
                if state.phase == .complete { return .success(nil) }
                state.reader = continuation
                if !state.bodyWanted {
                    state.bodyWanted = true
                    resume(&state)
                }
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
        return try result.get()
    }

    private func write(_ bytes: [UInt8]) async throws(HTTPError) {
        let result = await withCheckedContinuation { continuation in
            let ready: Result<Void, HTTPError>? = state.withLock { state in
                if state.gone { return .failure(.gone) }
                state.outgoing += bytes
                if state.phase != .receiving { resume(&state) }
                if state.phase == .complete {
                    if state.waiting > HTTPLimits.bufferedResponseBytes {
                        state.writer = continuation
                        return nil
                    }
                }
                return .success(())
            }
            if let ready { continuation.resume(returning: ready) }
        }
        try result.get()
    }

    private func finish(_ outcome: Outcome) {
        state.withLock { state in
            state.outcome = outcome
            resume(&state)
        }
    }
}
