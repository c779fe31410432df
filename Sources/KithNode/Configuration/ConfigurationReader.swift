import Glibc
import KithSystem

/// Finds and reads the configuration that holds for a command line, and with it the node's directory: one rule for the node
/// and for the commands that talk to it.
///
/// The file is that of `--config`, else of `$KITH_CONFIG`, else the user's own, else the system's. The system's file is for
/// the node of the directory that it names and for no other: it does not count where `--data` or `$KITH_DATA` names another
/// directory, nor for a user who has a directory of their own. For root it comes before the user's own, so that
/// `sudo kith` reaches the system's node.
package struct ConfigurationReader: Sendable {
    /// What the command line says.
    package var options: [ConfigurationKey: [String]] = [:]
    /// `--config`
    package var file: String?
    package var environment: NodeDirectory.Environment = NodeDirectory.processEnvironment
    /// Where the system's file is; beside it, in `conf.d`, are those that are read after it.
    package var systemFile = Self.systemPath
    package var isRoot = geteuid() == 0

    package static let systemPath = "/etc/kith/kith.conf"

    package init() {}

    /// The file that `--config` or `$KITH_CONFIG` names; nil where it is found by itself.
    package var namedFile: String? { file ?? value("KITH_CONFIG") }

    /// Reads all sources. Never fails: what is wrong is in the problems.
    package func read() -> Configuration {
        var configuration = Configuration()
        if let named = namedFile {
            add(named, to: &configuration)
        } else {
            let own = ownFile.flatMap { access($0, F_OK) == 0 ? $0 : nil }
            if let own, !isRoot {
                add(own, to: &configuration)
            } else if let system = systemConfiguration() {
                configuration = system
            } else if let own {
                add(own, to: &configuration)
            }
        }
        configuration.add(variables: environment)
        for key in ConfigurationKey.allCases { configuration.add(option: key, options[key] ?? []) }
        return configuration
    }

    /// The directory that holds: of `--data`, `$KITH_DATA`, the files, or the user's own.
    /// - Throws: `ControlError` with code `usage`: nothing names one, or what should name it can't be read.
    package func directory(_ configuration: Configuration) throws(ControlError) -> NodeDirectory {
        if options[.data] != nil || value("KITH_DATA") != nil {
            return try NodeDirectory(option: options[.data]?.last, environment: environment)
        }
        if let problem = configuration.problems.first(where: { [.unreadable, .value(.data)].contains($0.kind) }) {
            throw ControlError(.usage, problem.text)
        }
        return try NodeDirectory(option: nil, configured: configuration.value(.data), environment: environment)
    }

    /// The user's own file, there or not: `$XDG_CONFIG_HOME/kith/kith.conf`, where that variable is an absolute path.
    private var ownFile: String? {
        if let base = value("XDG_CONFIG_HOME"), base.utf8.first == UInt8(ascii: "/") { return base + "/kith/kith.conf" }
        return value("HOME").map { $0 + "/.config/kith/kith.conf" }
    }

    /// The system's files, where they are there and meant for this command line.
    private func systemConfiguration() -> Configuration? {
        guard access(systemFile, F_OK) == 0 else { return nil }
        let named = options[.data]?.last ?? value("KITH_DATA")
        if named == nil, !isRoot, hasOwnDirectory { return nil }
        var configuration = Configuration()
        add(systemFile, to: &configuration)
        configuration.isSystemFile = true
        guard let named else { return configuration }
        // A directory is named: these files count if they are about that one.
        let wanted = try? NodeDirectory(option: named, environment: environment)
        let told = configuration.value(.data).flatMap { try? NodeDirectory(option: $0, environment: environment) }
        return told != nil && wanted == told ? configuration : nil
    }

    private var hasOwnDirectory: Bool {
        let own = try? NodeDirectory(option: nil) { name in name == "KITH_DATA" ? nil : environment(name) }
        return own.map { access($0.path, F_OK) == 0 } ?? false
    }

    private func value(_ name: String) -> String? {
        guard let value = environment(name), !value.isEmpty else { return nil }
        return value
    }

    /// A file, and where it is the system's those of `conf.d` in the order of their names.
    private func add(_ path: String, to configuration: inout Configuration) {
        Self.add(path, to: &configuration)
        guard path == systemFile else { return }
        let folder = path[..<path.lastIndex(of: "/")!] + "/conf.d"
        let names = Self.names(in: String(folder))
        for name in names.prefix(NodeLimits.configurationFiles) { Self.add("\(folder)/\(name)", to: &configuration) }
        if names.count > NodeLimits.configurationFiles {
            configuration.add(
                ConfigurationProblem(
                    .unreadable, String(folder), "has more than \(NodeLimits.configurationFiles) files; join some"))
        }
    }

    private static func add(_ path: String, to configuration: inout Configuration) {
        do throws(ConfigurationProblem) {
            configuration.add(ConfigurationFile.parse(try bytes(of: path), name: path), path: path)
        } catch { configuration.add(error) }
    }

    /// Reads one file as far as it may be long.
    /// - Throws: why it can't be read.
    package static func bytes(of path: String) throws(ConfigurationProblem) -> [UInt8] {
        // A pipe without a writer must not hold anybody up.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw ConfigurationProblem(.unreadable, path, "can't be read: " + String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, [S_IFREG, S_IFCHR].contains(status.st_mode & S_IFMT) else {
            throw ConfigurationProblem(.unreadable, path, "can't be read: " + "it is no file")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= NodeLimits.configurationBytes {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw ConfigurationProblem(.unreadable, path, "can't be read: " + String(cString: strerror(errno)))
            }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return bytes
    }

    /// The names that end with `.conf`, ascending by their bytes; none where there is no such folder.
    private static func names(in folder: String) -> [String] {
        let names = ((try? LocalFileSystem().list(folder)) ?? []).filter { $0.hasSuffix(".conf") && !$0.hasPrefix(".") }
        return names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    }
}
