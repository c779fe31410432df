import Glibc

/// Says which piece is missing when the DNS-SD library, whose every failure is the one number -65537, fails.
package struct AvahiProbe: Sendable {
    package enum Finding: Hashable, Sendable {
        case answering
        case noBus(path: String)
        case noAvahi
        case notOnBus

        /// What is missing and what to do, in plain words.
        package var message: String {
            switch self {
            case .answering: "Avahi runs, and did not answer"
            case .noBus(let path):
                "no system bus at \(path): start dbus, or in a container mount the host's /run/dbus"
            case .noAvahi: "avahi-daemon does not run: install and start it (apt install avahi-daemon)"
            case .notOnBus: "avahi-daemon is not on the system bus: set enable-dbus=yes in avahi-daemon.conf"
            }
        }
    }

    /// Where the bus listens: a path, or nil for a kind of address this probe does not read.
    let busPath: String?
    let avahiPath: String

    /// The places that the DNS-SD library of this process uses.
    package init() { self.init(busAddress: getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }) }

    /// The places for a bus address as libdbus reads it; nil for the usual one.
    package init(busAddress: String?, avahiPath: String = "/run/avahi-daemon/socket") {
        self.avahiPath = avahiPath
        guard let busAddress else {
            busPath = "/run/dbus/system_bus_socket"
            return
        }
        let parts = busAddress.split(separator: ";").first?.split(separator: ":", maxSplits: 1) ?? []
        let path =
            parts.first == "unix" && parts.count == 2
            ? parts[1].split(separator: ",").first { $0.hasPrefix("path=") }?.dropFirst(5) : nil
        busPath = path.map(String.init)
    }

    /// Looks at the sockets and asks the bus. Takes milliseconds, and at most a second where the bus hangs.
    package func find() -> Finding {
        if let busPath {
            guard let bus = BusConnection(path: busPath, timeoutMilliseconds: 500) else { return .noBus(path: busPath) }
            if bus.hasOwner("org.freedesktop.Avahi") { return .answering }
        }
        return UnixSocket.accepts(avahiPath) ? .notOnBus : .noAvahi
    }
}
