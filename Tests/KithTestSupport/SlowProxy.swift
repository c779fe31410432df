import Glibc
import Synchronization

/// A slow way to a port of this machine: what connects here is connected on, and each direction of each connection carries
/// so many bytes in a second, in small portions. Buffers are small, so that what is on its way waits at the sender, as before
/// a slow line.
package final class SlowProxy: Sendable {
    private struct State {
        var isOver = false
        var connections = 0
    }

    /// Where to connect to, on 127.0.0.1.
    package let port: UInt16
    private let listening: Int32
    private let target: UInt16
    private let bytesPerSecond: Int
    private let state = Mutex(State())

    /// Portions in a second.
    private static let portions = 20
    private static let bufferBytes: Int32 = 16 << 10

    /// Begins to take connections, until it is stopped.
    package init(to target: UInt16, bytesPerSecond: Int) throws {
        self.target = target
        self.bytesPerSecond = bytesPerSecond
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listening = listening
        Self.keepSmall(listening)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var address = Self.loopback(0)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listening, pointer, length) == 0 && listen(listening, 16) == 0
                    && getsockname(listening, pointer, &length) == 0
            }
        }
        guard isListening else { throw Failure("the slow proxy can't listen: \(errno)") }
        port = UInt16(bigEndian: address.sin_port)
        Job.start { self.acceptAll() }
    }

    /// Connections that were made.
    package var connections: Int { state.withLock { $0.connections } }

    /// Ends all connections soon.
    package func stop() {
        state.withLock { $0.isOver = true }
        shutdown(listening, Int32(SHUT_RDWR))
    }

    private var isOver: Bool { state.withLock { $0.isOver } }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private static func keepSmall(_ descriptor: Int32) {
        var bytes = bufferBytes
        for option in [SO_RCVBUF, SO_SNDBUF] {
            setsockopt(descriptor, SOL_SOCKET, option, &bytes, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    private func acceptAll() {
        while !isOver {
            let near = accept(listening, nil, nil)
            guard near >= 0 else { break }
            let far = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            Self.keepSmall(far)
            var address = Self.loopback(target)
            let isConnected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(far, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected else {
                close(near)
                close(far)
                continue
            }
            state.withLock { $0.connections += 1 }
            let pair = Pair(near, far)
            Job.start { self.carry(from: near, to: far, pair) }
            Job.start { self.carry(from: far, to: near, pair) }
        }
        close(listening)
    }

    /// Both sockets of one connection, closed with the last who uses them.
    private final class Pair: Sendable {
        let near: Int32
        let far: Int32

        init(_ near: Int32, _ far: Int32) {
            self.near = near
            self.far = far
        }

        deinit {
            close(near)
            close(far)
        }
    }

    private func carry(from source: Int32, to target: Int32, _ pair: Pair) {
        var portion = [UInt8](repeating: 0, count: max(1, bytesPerSecond / Self.portions))
        while !isOver {
            let count = recv(source, &portion, portion.count, 0)
            guard count > 0 else { break }
            var sent = 0
            while sent < count {
                let part = portion.withUnsafeBytes {
                    send(target, $0.baseAddress! + sent, count - sent, Int32(MSG_NOSIGNAL))
                }
                guard part > 0 else { break }
                sent += part
            }
            guard sent == count else { break }
            // The pace is what this is for.
            usleep(UInt32(1_000_000 * count / bytesPerSecond))
        }
        shutdown(target, Int32(SHUT_WR))
        if isOver { shutdown(source, Int32(SHUT_RDWR)) }
        withExtendedLifetime(pair) {}
    }
}
