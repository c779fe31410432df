import Glibc
import KithCrypto
import KithDocument

/// Where a node keeps its things, and where its control socket is: one rule for the node and for the commands that
/// talk to it.
package struct NodeDirectory: Hashable, Sendable {
    /// Absolute; without symbolic links where it exists.
    package let path: String

    /// How the environment is asked, so that tests need not change it.
    package typealias Environment = @Sendable (String) -> String?

    /// The process's own environment.
    package static let processEnvironment: Environment = { name in getenv(name).map { String(cString: $0) } }

    /// The directory that the option, or else the environment or the configuration, names: `--data`, `$KITH_DATA`, what is
    /// configured, `$XDG_DATA_HOME/kith`, `~/.local/share/kith`. A relative `$XDG_DATA_HOME` is ignored, as the XDG
    /// specification wants it. Nothing is made.
    /// - Parameter configured: `data` of a configuration file.
    /// - Throws: `ControlError` with code `usage` where nothing names one.
    package init(
        option: String?, configured: String? = nil, environment: Environment = processEnvironment
    ) throws(ControlError) {
        func value(_ name: String) -> String? {
            guard let value = environment(name), !value.isEmpty else { return nil }
            return value
        }
        if let option {
            guard !option.isEmpty else { throw ControlError(.usage, "--data needs the name of a directory") }
            path = Self.resolved(option)
        } else if let data = value("KITH_DATA") {
            path = Self.resolved(data)
        } else if let configured {
            path = Self.resolved(configured)
        } else if let base = value("XDG_DATA_HOME"), base.utf8.first == UInt8(ascii: "/") {
            path = Self.resolved(base + "/kith")
        } else if let home = value("HOME") {
            path = Self.resolved(home + "/.local/share/kith")
        } else {
            throw ControlError(.usage, "no directory for the node: set HOME or KITH_DATA, or give --data DIR")
        }
    }

    /// The control socket's path: `kith.sock` in the directory, or, where that path is too long for a socket, a name
    /// made from the directory's in the user's folder for such files.
    package func socketPath(environment: Environment = processEnvironment) -> String {
        let plain = path + "/kith.sock"
        if plain.utf8.count < ControlLimits.socketPathBytes { return plain }
        return "\(Self.runtimeFolder(environment))/\(Hex.encode(SHA256.hash(Array(path.utf8)).bytes.prefix(8))).sock"
    }

    /// Makes the folder of a socket that is not in the node's own directory, for this user alone.
    /// - Throws: `ControlError` with code `failed` where it cannot be made or belongs to someone else.
    package func prepareSocketFolder(environment: Environment = processEnvironment) throws(ControlError) {
        let socket = socketPath(environment: environment)
        guard !socket.hasPrefix(path + "/") else { return }
        let folder = String(socket[..<socket.lastIndex(of: "/")!])
        if mkdir(folder, S_IRWXU) != 0, errno != EEXIST {
            throw ControlError(
                .failed, "cannot make the folder \(Shown.path(folder)): \(String(cString: strerror(errno)))")
        }
        try Self.requireOwn(folder)
    }

    /// Looks whether `prepareSocketFolder` would find the folder as it must be, where it is there already.
    /// - Throws: as that.
    package func requireSocketFolder(environment: Environment = processEnvironment) throws(ControlError) {
        let socket = socketPath(environment: environment)
        let folder = String(socket[..<socket.lastIndex(of: "/")!])
        if folder != path, access(folder, F_OK) == 0 { try Self.requireOwn(folder) }
    }

    private static func requireOwn(_ folder: String) throws(ControlError) {
        var status = stat()
        guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0
        else {
            throw ControlError(.failed, "the folder \(Shown.path(folder)) must belong to this user alone (mode 0700)")
        }
    }

    /// `$XDG_RUNTIME_DIR/kith`; where that is not set, the place it has on Linux, and else one in `/tmp`.
    private static func runtimeFolder(_ environment: Environment) -> String {
        if let base = environment("XDG_RUNTIME_DIR"), base.utf8.first == UInt8(ascii: "/") { return base + "/kith" }
        let user = geteuid()
        var status = stat()
        if stat("/run/user/\(user)", &status) == 0, status.st_uid == user { return "/run/user/\(user)/kith" }
        return "/tmp/kith-\(user)"
    }

    /// The absolute path, by the file system where it exists and by the text where it does not.
    private static func resolved(_ path: String) -> String {
        if let real = realpath(path, nil) {
            defer { free(real) }
            return String(cString: real)
        }
        var absolute = path
        if path.utf8.first != UInt8(ascii: "/"), let current = getcwd(nil, 0) {
            defer { free(current) }
            absolute = String(cString: current) + "/" + path
        }
        var parts: [Substring] = []
        for part in absolute.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }
}
