import Glibc
import Synchronization

/// A socket at which a test hears what a node tells its service manager.
package final class NotifySocket: Sendable {
    /// As it stands in `NOTIFY_SOCKET`.
    package let name: String
    private let descriptor: Int32
    private let heard = Mutex<[String]>([])

    /// Traps when it can't be made: no test could go on.
    /// - Parameter name: a path, or `@` and an abstract name.
    package init(_ name: String) {
        self.name = name
        var bytes = Array(name.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + bytes.count)
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        precondition(result == 0, "cannot bind \(name): \(String(cString: strerror(errno)))")
    }

    deinit {
        close(descriptor)
        if !name.hasPrefix("@") { unlink(name) }
    }

    /// Every datagram so far.
    package var messages: [String] {
        heard.withLock { heard in
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
                heard.append(String(decoding: buffer[..<count], as: UTF8.self))
            }
            return heard
        }
    }

    /// The datagrams that have a line.
    package func count(of line: String) -> Int {
        messages.count { $0.split(separator: "\n").contains(Substring(line)) }
    }

    /// Waits until a datagram with such a line has come.
    package func hears(_ line: String, times: Int = 1, within seconds: Double = 30) async -> Bool {
        await eventually(within: seconds) { count(of: line) >= times }
    }
}
