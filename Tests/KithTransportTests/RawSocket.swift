import Glibc
import KithNetwork

@testable import KithTransport

/// A plain blocking TCP socket, for peers that behave badly.
final class RawSocket {
    private var descriptor: Int32

    init(to address: NetworkAddress) throws {
        descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue), 0)
        guard address.withSystemAddress({ connect(descriptor, $0, $1) }) == 0 else {
            throw TransportError.system("connecting", errno)
        }
        // No test waits longer than this for bytes.
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close() }

    func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// Up to 64 KiB; empty at the end of the stream; nil when nothing came in time.
    func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 { return errno == ECONNRESET ? [] : nil }
        return Array(buffer[..<count])
    }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }
}

/// A client of TLS over a raw socket: it does what a test says and no more.
final class RawClient {
    let engine: TLSEngine
    let socket: RawSocket

    init(_ context: TLSContext, to port: UInt16) throws {
        engine = try TLSEngine(context, .client)
        socket = try RawSocket(to: NetworkAddress(host: "127.0.0.1", port: port)!)
    }

    func flush() {
        engine.takeOutput { (output: UnsafeRawBufferPointer) in
            socket.send(Array(output))
            return output.count
        }
    }

    /// False when the server closed.
    func feed() -> Bool {
        guard let bytes = socket.receive(), !bytes.isEmpty else { return false }
        bytes.withUnsafeBytes { engine.feed($0) }
        return true
    }

    func handshake() throws {
        while try !engine.handshake() {
            flush()
            guard feed() else { throw TransportError.closedInHandshake }
        }
        flush()
    }

    func write(_ bytes: [UInt8]) throws {
        _ = try bytes.withUnsafeBytes { bytes in try Result { try engine.write(bytes) }.get() }
        flush()
    }
}
