import KithNode

/// `kith config`: each value with its origin.
enum ConfigurationRenderer {
    private struct Row {
        let key: ConfigurationKey
        /// Nil where nothing sets the key.
        let value: String?
        let origin: Configuration.Origin
    }

    static func lines(_ configuration: Configuration, _ directory: NodeDirectory) -> [String] {
        var table = TextTable([.init(title: "KEY"), .init(title: "VALUE"), .init(title: "ORIGIN")])
        for row in rows(configuration, directory) {
            table.add([
                .init(text: row.key.name), .init(text: row.value ?? "-"), .init(text: row.origin.text(of: row.key)),
            ])
        }
        return table.lines(width: nil, colour: false)
    }

    static func json(_ configuration: Configuration, _ directory: NodeDirectory) -> [UInt8] {
        var object = JSONObjectWriter()
        object.add("schema", "kith.config/1")
        object.add("directory", directory.path)
        object.add("files", strings: configuration.files)
        object.add("settings", elements: rows(configuration, directory).map(json))
        object.add("problems", elements: configuration.problems.map(json))
        return object.bytes
    }

    /// What `--check` finds: the files that were read, and what is wrong.
    static func checked(_ configuration: Configuration) -> [UInt8] {
        var object = JSONObjectWriter()
        object.add("schema", "kith.config-check/1")
        object.add("ok", configuration.problems.isEmpty)
        object.add("files", strings: configuration.files)
        object.add("problems", elements: configuration.problems.map(json))
        return object.bytes
    }

    /// A row for each value; the directory as it is used.
    private static func rows(_ configuration: Configuration, _ directory: NodeDirectory) -> [Row] {
        ConfigurationKey.allCases.flatMap { key -> [Row] in
            let settings = configuration[key]
            if key == .data {
                return [Row(key: key, value: directory.path, origin: settings.last?.origin ?? .standard)]
            }
            if settings.isEmpty { return [Row(key: key, value: nil, origin: .standard)] }
            return settings.map { Row(key: key, value: $0.value, origin: $0.origin) }
        }
    }

    private static func json(_ row: Row) -> [UInt8] {
        var object = JSONObjectWriter()
        object.add("key", row.key.name)
        object.add("value", row.value)
        switch row.origin {
        case .option:
            object.add("origin", "option")
            object.add("place", "--\(row.key.name)")
        case .variable(let name):
            object.add("origin", "variable")
            object.add("place", name)
        case .file(let path, let line):
            object.add("origin", "file")
            object.add("place", "\(path):\(line)")
        case .standard:
            object.add("origin", "default")
            object.add("place", nil as String?)
        }
        return object.bytes
    }

    private static func json(_ problem: ConfigurationProblem) -> [UInt8] {
        var object = JSONObjectWriter()
        object.add("place", problem.place)
        object.add("message", problem.message)
        object.add("level", problem.isWarning ? "warning" : "error")
        return object.bytes
    }
}
