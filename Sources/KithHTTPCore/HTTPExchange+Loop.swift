import CMicroHTTPD
import Glibc
import Synchronization

// What the event loop of libmicrohttpd does with an exchange. Nothing here waits.
extension HTTPExchange {
    /// What the loop finds when it looks at an exchange.
    private enum Step {
        case go
        case close
        case answer(HTTPResponse)
    }

    /// Called again and again while the request comes in and until its response is queued.
    func access(_ server: HTTPServer, method: String, data: UnsafePointer<CChar>?, size: UnsafeMutablePointer<Int>)
        -> MHD_Result
    {
        if state.withLock({ $0.phase == .fresh }) { return begin(server, method: method) }
        var reader: CheckedContinuation<Result<[UInt8]?, HTTPError>, Never>?
        var part: [UInt8]?
        let step: Step = state.withLock { state in
            if state.gone { return .close }
            switch state.phase {
            case .fresh: preconditionFailure("a request is looked at before it began")
            case .headers:
                if let response = state.response, state.isDoneReading { return .answer(response) }
                if state.bodyWanted { state.phase = .receiving } else { suspend(&state) }
                return .go
            case .receiving where size.pointee > 0:
                return receive(data, size, &state, &reader, &part)
            case .receiving:
                state.phase = .complete
                reader = state.reader.take()
                return answerOrWait(&state)
            case .complete:
                return answerOrWait(&state)
            }
        }
        reader?.resume(returning: .success(part))
        switch step {
        case .go: return .YES
        case .close: return .NO
        case .answer(let response): return queue(response, server)
        }
    }

    private func answerOrWait(_ state: inout State) -> Step {
        if let response = state.response { return .answer(response) }
        suspend(&state)
        return .go
    }

    /// Takes a part of the body in, or leaves it with libmicrohttpd where the handler is behind.
    private func receive(
        _ data: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>, _ state: inout State,
        _ reader: inout CheckedContinuation<Result<[UInt8]?, HTTPError>, Never>?, _ part: inout [UInt8]?
    ) -> Step {
        if state.isDoneReading {
            // The handler has answered without reading on. The answer can only go out after the body.
            state.discardedBytes += size.pointee
            size.pointee = 0
            return state.discardedBytes > HTTPLimits.discardedRequestBytes ? .close : .go
        }
        if state.received.count >= HTTPLimits.bufferedRequestBytes {
            suspend(&state)
            return .go
        }
        let bytes = UnsafeRawBufferPointer(start: data, count: size.pointee)
        size.pointee = 0
        if let waiting = state.reader.take() {
            reader = waiting
            part = Array(bytes)
        } else {
            state.received += bytes
        }
        return .go
    }

    /// The headers are in: starts the handler.
    private func begin(_ server: HTTPServer, method: String) -> MHD_Result {
        if server.limits.transferTimeoutSeconds != server.limits.requestTimeoutSeconds {
            _ = kith_mhd_set_timeout(connection.pointer, UInt32(server.limits.transferTimeoutSeconds))
        }
        let headers = collectHeaders()
        let length = headers["content-length"]
        let hasBody = headers["transfer-encoding"] != nil || (length != nil && length != "0")
        do throws(HTTPError) {
            let request = HTTPRequest(
                method: method, target: try HTTPTarget(bytes: rawTarget), headers: headers,
                body: HTTPBodyReader { [self] () async throws(HTTPError) -> [UInt8]? in try await read() })
            let gone = state.withLock { state in
                state.phase = hasBody ? .headers : .complete
                state.socket = kith_mhd_socket(connection.pointer)
                if !state.gone { suspend(&state) }
                return state.gone
            }
            if gone { return .NO }
            start(server.handler, request: request, on: server.workers)
            return .YES
        } catch {
            state.withLock { $0.phase = .complete }
            return queue(server.malformedRequest, server)
        }
    }

    private func collectHeaders() -> HTTPHeaders {
        var headers = HTTPHeaders()
        withUnsafeMutablePointer(to: &headers) { pointer in
            _ = MHD_get_connection_values(
                connection.pointer, .HEADER_KIND,
                { context, _, name, value in
                    let headers = context!.assumingMemoryBound(to: HTTPHeaders.self)
                    headers.pointee.add(String(cString: name!), value.map { String(cString: $0) } ?? "")
                    return .YES
                }, pointer)
        }
        return headers
    }

    /// Hands a response to libmicrohttpd.
    private func queue(_ response: HTTPResponse, _ server: HTTPServer) -> MHD_Result {
        let made: OpaquePointer?
        switch response.body {
        case .bytes(let bytes):
            made = bytes.withUnsafeBytes { buffer in
                MHD_create_response_from_buffer(
                    buffer.count, UnsafeMutableRawPointer(mutating: buffer.baseAddress), .RESPMEM_MUST_COPY)
            }
        case .stream:
            // Released by the response when libmicrohttpd destroys it.
            made = MHD_create_response_from_callback(
                UInt64.max, HTTPLimits.responseBlockBytes,
                { context, _, buffer, capacity in
                    Unmanaged<HTTPExchange>.fromOpaque(context!).takeUnretainedValue().supply(buffer!, capacity)
                },
                Unmanaged.passRetained(self).toOpaque(),
                { Unmanaged<HTTPExchange>.fromOpaque($0!).release() })
        }
        guard let made else { return .NO }
        defer { MHD_destroy_response(made) }
        for field in response.headers.fields {
            guard MHD_add_response_header(made, field.name, field.value) == .YES else { return .NO }
        }
        state.withLock { $0.answered = true }
        return MHD_queue_response(connection.pointer, UInt32(response.status), made)
    }

    /// Copies out what is to be sent of a streamed response; suspends the connection where there is nothing yet.
    private func supply(_ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Int {
        var writer: CheckedContinuation<Result<Void, HTTPError>, Never>?
        let supplied: Int = state.withLock { state in
            if state.gone { return endWithError }
            let count = min(capacity, state.waiting)
            guard count > 0 else {
                switch state.outcome {
                case .finished: return endOfStream
                case .failed: return endWithError
                case .open:
                    suspend(&state)
                    return 0
                }
            }
            state.outgoing.withUnsafeBytes { bytes in
                UnsafeMutableRawPointer(buffer).copyMemory(from: bytes.baseAddress! + state.sent, byteCount: count)
            }
            state.sent += count
            if state.waiting == 0 {
                state.outgoing.removeAll(keepingCapacity: true)
                state.sent = 0
            }
            if state.waiting <= HTTPLimits.bufferedResponseBytes / 2 { writer = state.writer.take() }
            return count
        }
        writer?.resume(returning: .success(()))
        return supplied
    }

    /// The request is over, however it ended, and the connection is not to be touched any more.
    func end() {
        state.withLock { state in
            state.ended = true
            state.suspended = false
        }
        abandon()
    }

    /// Whether the client of a suspended exchange has closed its connection.
    func isHungUp(onUnixSocket: Bool) -> Bool {
        let (suspended, suspensions, socket) = state.withLock { ($0.suspended, $0.suspensions, $0.socket) }
        guard suspended else { return false }
        // A client may close its sending half after the request. A Unix socket tells that from a full close; TCP does not.
        let events = onUnixSocket ? 0 : sendingHalfClosed
        var look = pollfd(fd: socket, events: events, revents: 0)
        guard poll(&look, 1, 0) == 1 else { return false }
        // The descriptor was this connection's own all the time only if the connection stayed suspended.
        return state.withLock { $0.suspended && $0.suspensions == suspensions }
    }
}

/// `MHD_CONTENT_READER_END_OF_STREAM` and `MHD_CONTENT_READER_END_WITH_ERROR`, casts that Swift does not import.
private let endOfStream = -1
private let endWithError = -2

/// Linux's `POLLRDHUP`, which Swift does not import.
private let sendingHalfClosed: Int16 = 0x2000
