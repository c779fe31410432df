import CMicroHTTPD
import Dispatch
import Glibc

/// Takes connections from a listening socket and gives them to libmicrohttpd.
///
/// Its own thread would ask for a connection again and again without a pause while the process has no descriptor for it.
///
/// `@unchecked Sendable`: what varies is touched on `queue` only.
final class HTTPAcceptor: @unchecked Sendable {
    private let descriptor: Int32
    private let daemon: OpaquePointer
    private let connections: Int
    private let queue = DispatchQueue(label: "kith.http.accept")
    private let source: any DispatchSourceRead
    private var isPaused = false
    private var isStopped = false

    /// Begins at once. Has to be stopped, which closes the descriptor.
    /// - Parameter daemon: outlives `stop`.
    /// - Parameter connections: so many at a time; more wait in the socket's queue.
    init(_ descriptor: Int32, into daemon: OpaquePointer, connections: Int) {
        self.descriptor = descriptor
        self.daemon = daemon
        self.connections = connections
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setCancelHandler { close(descriptor) }
        source.setEventHandler { [weak self] in self?.acceptSome() }
        source.resume()
    }

    /// Takes no more; when this returns none is being taken.
    func stop() {
        queue.sync {
            guard !isStopped else { return }
            isStopped = true
            source.cancel()
            if isPaused { source.resume() }
            isPaused = false
        }
    }

    private func acceptSome() {
        for _ in 0..<HTTPLimits.acceptedAtOnce {
            guard !isStopped, !isPaused else { return }
            guard Int(kith_mhd_connections(daemon)) < connections else { return pause() }
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let isTaken = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    let socket = accept(descriptor, pointer, &length)
                    guard socket >= 0 else { return false }
                    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
                    // Closed by it, also where it does not take it.
                    _ = MHD_add_connection(daemon, socket, pointer, length)
                    return true
                }
            }
            if isTaken { continue }
            switch errno {
            case EAGAIN: return
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return pause()
            // The client was gone before it was accepted.
            default: continue
            }
        }
    }

    /// The socket stays readable meanwhile; looking again at once would spin.
    private func pause() {
        isPaused = true
        source.suspend()
        queue.asyncAfter(deadline: .now() + .milliseconds(HTTPLimits.acceptPauseMilliseconds)) { [weak self] in
            guard let self, isPaused else { return }
            isPaused = false
            source.resume()
        }
    }
}
