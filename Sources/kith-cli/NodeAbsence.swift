import Glibc
import KithNode
import KithTransport

/// Why nobody answers on a node's control socket, and what to do about it.
struct NodeAbsence {
    let directory: NodeDirectory
    let socket: String
    /// What the system said.
    let reason: String

    var error: CommandError { CommandError("\(what); \(advice)", status: ExitStatus.noNode) }

    private var isForbidden: Bool { reason.hasPrefix("Permission") }

    private var what: String {
        let place = "socket \(Shown.path(socket)): \(reason)"
        return isForbidden ? "cannot talk to kith (\(place))" : "kith is not running (\(place))"
    }

    private var advice: String {
        if isForbidden {
            guard let owner else { return "be the user who started it" }
            return "it belongs to \(owner): run the command as that user, with sudo -u \(owner)"
        }
        if directory.path == Self.systemDirectory, access("/run/systemd/system", F_OK) == 0 {
            return "start it with: systemctl start kith"
        }
        switch IdentityStore(directory: directory.path).state() {
        case .present, .incomplete: return "start it with: kith start"
        case .absent: return "no node is there: kith init or kith join makes one, --data DIR names another"
        case .left: return "this node has left its group: kith join CODE puts it into one"
        }
    }

    /// Where the package's service keeps its node.
    private static let systemDirectory = "/var/lib/kith"

    /// The name of the user to whom the socket belongs, or what holds it.
    private var owner: String? {
        var path = socket
        while !path.isEmpty, path != "/" {
            var status = stat()
            if stat(path, &status) == 0 {
                guard status.st_uid != geteuid() else { return nil }
                return Self.name(ofUser: status.st_uid)
            }
            path = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        }
        return nil
    }

    private static func name(ofUser id: uid_t) -> String {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 4_096)
        let result = getpwuid_r(id, &entry, &buffer, buffer.count, &found)
        guard result == 0, let name = found?.pointee.pw_name else { return "#\(id)" }
        return String(cString: name)
    }
}
