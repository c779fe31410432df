import Dispatch

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A TCP connection on the loopback interface whose other end sends everything back.
final class SocketRoundTrip {
    private let descriptor: Int32

    init() throws(BenchError) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let isConnected = withUnsafeMutablePointer(to: &address) { [descriptor] address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &size) == 0
                    && connect(descriptor, $0, size) == 0
            }
        }
        let other = isConnected ? accept(listener, nil, nil) : -1
        close(listener)
        guard other >= 0 else { throw BenchError("can't connect to this machine itself over TCP") }
        for end in [descriptor, other] {
            var on: Int32 = 1
            setsockopt(end, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        // The thread ends with the connection.
        DispatchQueue(label: "echo").async {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(other, &buffer, buffer.count)
                guard count > 0, write(other, buffer, count) == count else { break }
            }
            close(other)
        }
    }

    deinit { close(descriptor) }

    /// Sends so many bytes and waits until they are back.
    func milliseconds(bytes count: Int) throws(BenchError) -> Double {
        var buffer = [UInt8](repeating: 1, count: count)
        let start = Stopwatch.seconds()
        guard write(descriptor, buffer, count) == count else { throw BenchError("a socket failed") }
        var left = count
        while left > 0 {
            let got = read(descriptor, &buffer, left)
            guard got > 0 else { throw BenchError("a socket failed") }
            left -= got
        }
        return (Stopwatch.seconds() - start) * 1000
    }
}
