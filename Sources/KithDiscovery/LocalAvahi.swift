import Glibc
import Synchronization

/// A system bus and an avahi-daemon for a while, where no service manager runs them: for `kith demo` in a container.
///
/// The bus is private: it listens in the given directory, and who is to use it gets its address by the environment. The
/// avahi-daemon keeps to the loopback interface, so nothing is announced to the LAN. Where Avahi runs already nothing is
/// started. What was started ends with `stop`, and nothing else does.
package final class LocalAvahi: Sendable {
    private let children: Mutex<[ChildProcess]>

    /// `NAME=VALUE` for the processes that are to use this bus; set it before their first call of discovery. Empty where
    /// the bus of the system is used.
    package let environment: [String]
    /// What was done, for people.
    package let summary: String

    private init(children: [ChildProcess], environment: [String], summary: String) {
        self.children = Mutex(children)
        self.environment = environment
        self.summary = summary
    }

    deinit { stop() }

    /// Makes sure that Avahi answers: starts what is missing, with its files in the directory (which must be there), and
    /// waits until it is on the bus. Blocks, for at most twice 5 s and some milliseconds.
    ///
    /// Throws `daemon` with the reason and, where one helps, the package to install. Nothing is left running then.
    package static func start(in directory: String) throws(DiscoveryError) -> LocalAvahi {
        let probe = AvahiProbe()
        let finding = probe.find()
        if finding == .answering { return LocalAvahi(children: [], environment: [], summary: "Avahi runs already") }
        guard geteuid() == 0 else { throw .daemon("\(finding.message); starting one for a while needs root") }
        if finding == .notOnBus || UnixSocket.accepts(probe.avahiPath) {
            throw .daemon("an avahi-daemon runs here on a bus that can't be reached; two can't run on one machine")
        }
        guard let avahi = ChildProcess.find("avahi-daemon") else {
            throw .daemon("avahi-daemon is missing (apt install avahi-daemon)")
        }
        var children: [ChildProcess] = []
        do throws(DiscoveryError) {
            var address: String?
            switch finding {
            case .noBus, .busSilent: address = try startBus(in: directory, &children)
            default: break
            }
            try startAvahi(avahi, busAddress: address, in: directory, &children)
            return LocalAvahi(
                children: children, environment: address.map { ["DBUS_SYSTEM_BUS_ADDRESS=\($0)"] } ?? [],
                summary: address == nil ? "started avahi-daemon" : "started dbus-daemon and avahi-daemon")
        } catch {
            end(children)
            throw error
        }
    }

    /// Ends what `start` started. Blocks until it is gone, at most 3 s each. May be called again.
    package func stop() {
        Self.end(
            children.withLock { children in
                defer { children = [] }
                return children
            })
    }

    private static func end(_ children: [ChildProcess]) {
        for child in children.reversed() { child.end(timeoutMilliseconds: UInt64(Limits.daemonStopMilliseconds)) }
    }

    private static func startBus(in directory: String, _ children: inout [ChildProcess]) throws(DiscoveryError)
        -> String
    {
        guard let program = ChildProcess.find("dbus-daemon") else {
            throw .daemon("dbus-daemon is missing (apt install dbus)")
        }
        let socket = "\(directory)/bus"
        guard socket.utf8.count < 100, socket.utf8.allSatisfy(isPlain) else {
            throw .daemon("\(directory): too long a path, or a character that the address of a bus can't hold")
        }
        // The same rules as the system bus has for Avahi: who may connect may use it. Only this user may connect, for
        // the directory is this user's.
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>system</type>
              <auth>EXTERNAL</auth>
              <listen>unix:path=\(socket)</listen>
              <policy context="default">
                <allow user="root"/>
                <allow own="*"/>
                <allow send_destination="*" eavesdrop="false"/>
                <allow receive_sender="*"/>
              </policy>
            </busconfig>

            """
        try write(configuration, to: "\(directory)/bus.conf")
        let log = "\(directory)/bus.log"
        let bus = try ChildProcess(
            program, arguments: ["--config-file=\(directory)/bus.conf", "--nofork", "--nopidfile", "--nosyslog"],
            environment: [], output: log)
        children.append(bus)
        try wait(for: bus, "dbus-daemon", log: log) {
            (try? BusConnection(path: socket, timeoutMilliseconds: 500)) != nil
        }
        return "unix:path=\(socket)"
    }

    private static func startAvahi(
        _ program: String, busAddress: String?, in directory: String, _ children: inout [ChildProcess]
    ) throws(DiscoveryError) {
        let configuration = """
            [server]
            use-ipv4=yes
            use-ipv6=yes
            allow-interfaces=lo
            enable-dbus=yes
            [publish]
            publish-workstation=no
            [rlimits]

            """
        try write(configuration, to: "\(directory)/avahi.conf")
        let log = "\(directory)/avahi.log"
        let avahi = try ChildProcess(
            program,
            arguments: ["--no-drop-root", "--no-chroot", "--no-rlimits", "-f", "\(directory)/avahi.conf"],
            environment: busAddress.map { ["DBUS_SYSTEM_BUS_ADDRESS=\($0)"] } ?? [], output: log)
        children.append(avahi)
        let probe = AvahiProbe(busAddress: busAddress)
        try wait(for: avahi, "avahi-daemon", log: log) { probe.find() == .answering }
    }

    private static func wait(
        for child: ChildProcess, _ name: String, log: String, until condition: () -> Bool
    ) throws(DiscoveryError) {
        var hasEnded = false
        let isUp = ChildProcess.wait(UInt64(Limits.daemonStartMilliseconds)) {
            if condition() { return true }
            hasEnded = !child.isRunning()
            return hasEnded
        }
        guard !isUp || hasEnded else { return }
        let reason = lastLine(of: log)
        throw .daemon("\(name) \(hasEnded ? "ended at once" : "does not answer")\(reason.isEmpty ? "" : ": \(reason)")")
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (byte >= 48 && byte <= 57) || (byte | 0x20 >= 97 && byte | 0x20 <= 122) || Array("-_/.".utf8).contains(byte)
    }

    private static func write(_ text: String, to path: String) throws(DiscoveryError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .daemon("\(path): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw .daemon("\(path): \(String(cString: strerror(errno)))")
        }
    }

    /// The last line of a daemon's output, at most 200 bytes of it.
    private static func lastLine(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 8_192)
        let size = lseek(descriptor, 0, SEEK_END)
        let count = pread(descriptor, &bytes, bytes.count, max(0, size - bytes.count))
        let lines = bytes.prefix(max(0, count)).split(separator: UInt8(ascii: "\n"))
        return String(decoding: lines.last?.prefix(Limits.reasonBytes) ?? [], as: UTF8.self)
    }
}
