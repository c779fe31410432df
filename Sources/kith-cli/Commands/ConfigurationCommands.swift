import KithDocument
import KithNode

/// `config` and `reload`.
enum ConfigurationCommands {
    static func config(_ invocation: Invocation) throws(CommandError) -> Int32 {
        if let file = invocation.arguments.first {
            guard invocation.flag("check") else {
                throw .usage("a FILE is looked at with --check; see kith config --help")
            }
            return check(file, asJSON: invocation.flag("json"))
        }
        if invocation.flag("check") {
            return check(CommandConfiguration.reader(invocation).read(), asJSON: invocation.flag("json"))
        }
        let read = try CommandConfiguration(invocation)
        let configuration = read.configuration
        if invocation.flag("json") {
            Output.write(ConfigurationRenderer.json(configuration, read.directory) + [UInt8(ascii: "\n")])
        } else {
            for line in ConfigurationRenderer.lines(configuration, read.directory) { Output.line(line) }
        }
        for problem in configuration.problems { Messages.line(problem.text) }
        return configuration.isUsable(strict: false) ? ExitStatus.done : ExitStatus.failed
    }

    private static func check(_ path: String, asJSON: Bool) -> Int32 {
        var configuration = Configuration()
        do throws(ConfigurationProblem) {
            let bytes = try ConfigurationReader.bytes(of: path)
            configuration.add(ConfigurationFile.parse(bytes, name: path), path: path)
        } catch { configuration.add(error) }
        return check(configuration, asJSON: asJSON)
    }

    private static func check(_ configuration: Configuration, asJSON: Bool) -> Int32 {
        if asJSON {
            Output.write(ConfigurationRenderer.checked(configuration) + [UInt8(ascii: "\n")])
            return configuration.problems.isEmpty ? ExitStatus.done : ExitStatus.failed
        }
        for problem in configuration.problems { Messages.line(problem.text) }
        guard configuration.problems.isEmpty else { return ExitStatus.failed }
        for file in configuration.files { Output.line("\(file): ok") }
        if configuration.files.isEmpty {
            Output.line("there is no configuration file; what is not set otherwise has its default")
        }
        return ExitStatus.done
    }

    static func reload(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let answer = try ControlClient(invocation).json("POST", ["reload"])
        func strings(_ name: String) -> [String] { (answer[name]?.array ?? []).compactMap(\.string) }
        for warning in strings("warnings") { Messages.line("warning: \(warning)") }
        var reload = ControlReload()
        reload.changed = strings("changed")
        reload.needsRestart = strings("needs_restart")
        Messages.line(reload.text)
        return ExitStatus.done
    }
}
