import Glibc

/// Says which piece is missing when the DNS-SD library, whose every failure is the one number -65537, fails.
package struct AvahiProbe: Sendable {
    package enum Finding: Hashable, Sendable {
        case answering
        case noBus(path: String)
        /// Somebody listens where the bus should, and gives no answer.
        case busSilent(path: String)
        case noAvahi
        case notOnBus
        /// Avahi is on the bus and gives no answer.
        case avahiSilent

        /// What is missing, in plain words.
        package var piece: String {
            switch self {
            case .answering: "Avahi runs, and did not answer"
            case .noBus(let path): "no system bus at \(path)"
            case .busSilent(let path): "the system bus at \(path) does not answer"
            case .noAvahi: "avahi-daemon does not run"
            case .notOnBus: "avahi-daemon is not on the system bus"
            case .avahiSilent: "avahi-daemon is on the system bus and does not answer"
            }
        }

        /// What to do.
        package var action: String {
            switch self {
            case .answering: "restart avahi-daemon"
            case .noBus: "start dbus, or in a container mount the host's /run/dbus"
            case .busSilent: "look at it with: systemctl status dbus"
            case .noAvahi: "install and start it (apt install avahi-daemon)"
            case .notOnBus: "set enable-dbus=yes in avahi-daemon.conf, and restart avahi-daemon"
            case .avahiSilent: "restart avahi-daemon"
            }
        }

        package var message: String { self == .answering ? piece : "\(piece): \(action)" }
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
    package func find() -> Finding { examine().finding }

    /// What Avahi says of itself, beyond that it answers.
    package struct Examination: Hashable, Sendable {
        package var finding: Finding
        /// `avahi 0.8`.
        package var version: String?
        /// `den.local`.
        package var hostName: String?
        /// Avahi's own number: 1 registering its host name, 2 running, 3 its host name collided, 4 failed.
        package var state: Int32?
        /// Whether firewalld is on the bus.
        package var hasFirewallDaemon = false

        package init(
            finding: Finding, version: String? = nil, hostName: String? = nil, state: Int32? = nil,
            hasFirewallDaemon: Bool = false
        ) {
            self.finding = finding
            self.version = version
            self.hostName = hostName
            self.state = state
            self.hasFirewallDaemon = hasFirewallDaemon
        }
    }

    /// The same with what the bus and Avahi say besides.
    package func examine() -> Examination {
        if let busPath {
            do throws(BusConnection.Failure) {
                let bus = try BusConnection(path: busPath, timeoutMilliseconds: Limits.probeMilliseconds)
                let hasFirewallDaemon = bus.hasOwner("org.fedoraproject.FirewallD1")
                if bus.hasOwner("org.freedesktop.Avahi") {
                    let state = bus.avahiState()
                    return Examination(
                        finding: state == nil ? .avahiSilent : .answering,
                        version: state == nil ? nil : bus.avahiText("GetVersionString"),
                        hostName: state == nil ? nil : bus.avahiText("GetHostNameFqdn"), state: state,
                        hasFirewallDaemon: hasFirewallDaemon)
                }
                return Examination(
                    finding: UnixSocket.accepts(avahiPath) ? .notOnBus : .noAvahi, hasFirewallDaemon: hasFirewallDaemon)
            } catch {
                return Examination(finding: error == .noListener ? .noBus(path: busPath) : .busSilent(path: busPath))
            }
        }
        return Examination(finding: UnixSocket.accepts(avahiPath) ? .notOnBus : .noAvahi)
    }
}
