import Dispatch
import Glibc
import KithNetwork

/// Tells when this machine gains an address that others may reach it by: a cable is back, a network was joined. Then is
/// the moment to dial everybody, whatever failed before.
///
/// The kernel says when an interface or address changes (a netlink socket); what changed is seen by looking at all of them
/// anew, some time after the first word, since such changes come in crowds. Where there is no such socket nothing is told.
///
/// Sendable unchecked: everything varying is used on the one queue alone.
package final class NetworkWatch: @unchecked Sendable {
    private let queue: DispatchQueue
    private let onGain: @Sendable () -> Void
    private var source: (any DispatchSourceRead)?
    private var known: Set<Presence>
    private var isLookPending = false

    /// An address on an interface with a carrier.
    struct Presence: Hashable {
        let interface: UInt32
        let ip: [UInt8]
    }

    /// Begins to watch.
    /// - Parameter queue: where it works and calls back.
    package init(on queue: DispatchQueue, onGain: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.onGain = onGain
        known = Self.look()
        guard let descriptor = Self.openSocket() else { return }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [weak self] in
            Self.drain(descriptor)
            self?.lookSoon()
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
        self.source = source
    }

    deinit { source?.cancel() }

    private func lookSoon() {
        guard !isLookPending else { return }
        isLookPending = true
        queue.asyncAfter(deadline: .now() + .milliseconds(Limits.debounceMilliseconds)) { [weak self] in
            guard let self else { return }
            isLookPending = false
            let now = Self.look()
            let hasGained = !now.isSubset(of: known)
            known = now
            if hasGained { onGain() }
        }
    }

    /// The addresses by which others may reach this machine now.
    static func look() -> Set<Presence> {
        Set(Interface.all().filter { $0.isRunning && !$0.isLoopback }.map { Presence(interface: $0.index, ip: $0.ip) })
    }

    /// What the messages say is not read: that something came is enough, and so is that some were lost.
    private static func drain(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 8_192)
        while recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 || errno == ENOBUFS {
            errno = 0
        }
    }

    /// A socket for the kernel's news of links (group 1), IPv4 addresses (0x10) and IPv6 addresses (0x100); nil where there
    /// is no such thing. The address is `sockaddr_nl`: family, padding, port, groups.
    private static func openSocket() -> Int32? {
        #if os(Linux)
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_NETLINK, kind, 0)
        guard descriptor >= 0 else { return nil }
        var address: (family: UInt16, padding: UInt16, port: UInt32, groups: UInt32) = (UInt16(AF_NETLINK), 0, 0, 0x111)
        let size = socklen_t(MemoryLayout.size(ofValue: address))
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        guard bound == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
        #else
        return nil
        #endif
    }
}
