import Glibc
import KithTestSupport
import Testing

/// A way to a node that a test can cut: it takes connections on a port of its own and passes on what comes.
final class Forwarder: Sendable {
    private struct State {
        var isCut = false
        var isOver = false
    }

    /// Where the node is reached by this way.
    let address: String
    private let state = Shared(State())

    /// - Parameter target: the node's own address.
    init(to target: String) throws {
        let listener = try #require(Loopback.listen(), "no port is free")
        address = listener.address
        let state = state
        Task.detached { await onThread { Self.run(listener.descriptor, target, state) } }
    }

    deinit { state.change { $0.isOver = true } }

    /// Ends all connections, and each that is made from now on.
    func cut() { state.change { $0.isCut = true } }

    func mend() { state.change { $0.isCut = false } }

    /// Looks at least so often whether something is to be done.
    private static let pauseMilliseconds: Int32 = 20

    private static func run(_ listener: Int32, _ target: String, _ state: Shared<State>) {
        var ways: [[Int32]] = []
        while !state.value.isOver {
            if state.value.isCut {
                for descriptor in ways.joined() { close(descriptor) }
                ways = []
            }
            var watched = ([listener] + ways.joined()).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&watched, nfds_t(watched.count), pauseMilliseconds) > 0 else { continue }
            let ready = Set(watched.filter { $0.revents != 0 }.map(\.fd))
            let ended = ways.filter { way in
                zip(way, way.reversed()).contains { ready.contains($0) && !pass(from: $0, to: $1) }
            }
            for descriptor in ended.joined() { close(descriptor) }
            ways.removeAll { ended.contains($0) }
            guard ready.contains(listener) else { continue }
            let taken = accept(listener, nil, nil)
            if !state.value.isCut, let onward = Loopback.connect(to: target) {
                ways.append([taken, onward])
            } else {
                close(taken)
            }
        }
        for descriptor in [listener] + ways.joined() { close(descriptor) }
    }

    /// - Returns: false when one of the two is over.
    private static func pass(from source: Int32, to destination: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(source, &bytes, bytes.count, 0)
        var sent = 0
        while sent < count {
            let more = bytes[sent..<count].withUnsafeBytes {
                send(destination, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if more <= 0 { return false }
            sent += more
        }
        return count > 0
    }
}
