/// A node's configuration as it results from options, variables, files and defaults, each value with its origin.
///
/// Of the sources that set a key the first holds, for a key of several values with all of its values: options, variables,
/// files, defaults. Of several files the later one holds, and values of a key of several add up.
package struct Configuration: Sendable {
    package enum Origin: Hashable, Sendable {
        case option
        case variable(String)
        case file(String, line: Int)
        case standard

        /// For people: `--peer`, `KITH_PEER`, `FILE:LINE`, `default`.
        package func text(of key: ConfigurationKey) -> String {
            switch self {
            case .option: "--\(key.name)"
            case .variable(let name): name
            case .file(let path, let line): "\(path):\(line)"
            case .standard: "default"
            }
        }
    }

    package struct Setting: Hashable, Sendable {
        package let value: String
        package let origin: Origin

        package init(value: String, origin: Origin) {
            self.value = value
            self.origin = origin
        }
    }

    private var settings: [ConfigurationKey: [Setting]] = [:]
    private var found: [ConfigurationProblem] = []
    /// The files that were read, in order.
    package private(set) var files: [String] = []
    /// Whether the files are the system's, found without being named.
    package var isSystemFile = false

    package init() {}

    /// What holds for a key; empty where nothing sets it.
    package subscript(key: ConfigurationKey) -> [Setting] {
        settings[key] ?? key.standard.map { [Setting(value: $0, origin: .standard)] } ?? []
    }

    /// The values that hold for a key.
    package func values(_ key: ConfigurationKey) -> [String] { self[key].map(\.value) }

    /// The value of a key of one value; nil where nothing sets it.
    package func value(_ key: ConfigurationKey) -> String? { self[key].last?.value }

    /// Every problem of every source, in the order of the sources, then those of values that can't stand together.
    package var problems: [ConfigurationProblem] {
        found
            + ConfigurationKey.allCases.compactMap { key in
                guard let complaint = key.complaint(together: values(key)), let last = self[key].last else {
                    return nil
                }
                return ConfigurationProblem(.value(key), last.origin.text(of: key), "\(key.name): \(complaint)")
            }
    }

    /// Whether it can be used: it has no problems, or unknown keys alone where those are let pass.
    package func isUsable(strict: Bool) -> Bool { strict ? problems.isEmpty : problems.allSatisfy(\.isWarning) }

    /// Takes a file in, after those before it.
    package mutating func add(_ file: ConfigurationFile, path: String) {
        files.append(path)
        found += file.problems
        for entry in file.entries {
            let setting = Setting(value: entry.value, origin: .file(path, line: entry.line))
            if entry.key.isRepeated {
                settings[entry.key, default: []].append(setting)
            } else {
                settings[entry.key] = [setting]
            }
        }
    }

    /// Takes in a file that can't be read.
    package mutating func add(_ problem: ConfigurationProblem) { found.append(problem) }

    /// Takes the variables in; they hold before files. Empty ones count as not set.
    package mutating func add(variables environment: NodeDirectory.Environment) {
        for key in ConfigurationKey.allCases {
            guard let text = environment(key.variable), !text.isEmpty else { continue }
            let values = key.isRepeated ? text.split(whereSeparator: \.isWhitespace).map(String.init) : [text]
            set(key, values, .variable(key.variable))
        }
    }

    /// Takes an option's values in; they hold before all else.
    package mutating func add(option key: ConfigurationKey, _ values: [String]) {
        if !values.isEmpty { set(key, values, .option) }
    }

    private mutating func set(_ key: ConfigurationKey, _ values: [String], _ origin: Origin) {
        for value in values {
            guard let complaint = key.complaint(value, inFile: false) else { continue }
            return found.append(ConfigurationProblem(.value(key), origin.text(of: key), complaint))
        }
        settings[key] = values.map { Setting(value: $0, origin: origin) }
    }
}

extension NodeConfiguration {
    /// A node as a configuration has it.
    /// - Parameter configuration: usable.
    package init(_ configuration: Configuration, directory: NodeDirectory, log: Log) {
        self.init(directory: directory, log: log)
        listen = configuration.value(.listen)
        peers = configuration.values(.peer)
        usesDiscovery = configuration.value(.discovery) != "off"
        interfaces = configuration.values(.interface)
        advertise = configuration.values(.advertise)
    }
}
