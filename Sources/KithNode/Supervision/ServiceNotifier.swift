import Glibc

/// Tells a service manager how this process is, as `sd_notify` does: datagrams of `NAME=VALUE` lines to the socket that
/// `NOTIFY_SOCKET` names. Where nothing names one, nothing is sent.
///
/// Any thread may call it.
package final class ServiceNotifier: Sendable {
    private struct Target: Sendable {
        let descriptor: Int32
        /// The socket's address as the kernel has it: a path, or a NUL and an abstract name.
        let name: [UInt8]
    }

    private let target: Target?

    /// How often the manager wants to hear of this process, in milliseconds; nil where it does not watch it.
    package let watchdogMilliseconds: UInt64?

    /// Where the manager listens, and whether it watches this process.
    /// - Parameter environment: `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` of it are used.
    package init(environment: NodeDirectory.Environment = NodeDirectory.processEnvironment) {
        target = environment("NOTIFY_SOCKET").flatMap(Self.target)
        let isWatched = environment("WATCHDOG_PID").map { $0 == String(getpid()) } ?? true
        let period = environment("WATCHDOG_USEC").flatMap { UInt64($0) } ?? 0
        watchdogMilliseconds = target != nil && isWatched && period >= 1_000 ? period / 1_000 : nil
    }

    deinit { if let target { close(target.descriptor) } }

    /// The notifier of this process. The variables go, so that no child speaks for it.
    /// - Note: To be called before there are other threads that read the environment.
    package static func ofThisProcess() -> ServiceNotifier {
        let notifier = ServiceNotifier()
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsetenv(name) }
        return notifier
    }

    /// Whether there is a manager to tell.
    package var isHeard: Bool { target != nil }

    /// Sends lines in one datagram. Waits for a moment at most where the manager is slow; a manager that does not take it is
    /// no matter of this process.
    package func send(_ lines: String...) {
        guard let target else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: target.name) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + target.name.count)
        let bytes = Array(lines.joined(separator: "\n").utf8)
        _ = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(target.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }

    /// A path or, after `@`, an abstract name; nil for what is neither or too long.
    private static func target(_ text: String) -> Target? {
        var name = Array(text.utf8)
        guard name.count > 1, name.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path),
            let first = name.first, [UInt8(ascii: "/"), UInt8(ascii: "@")].contains(first)
        else { return nil }
        if first == UInt8(ascii: "@") { name[0] = 0 }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var wait = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        return Target(descriptor: descriptor, name: name)
    }
}
