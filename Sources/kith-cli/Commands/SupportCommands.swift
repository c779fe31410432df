import Glibc
import KithDocument
import KithHTTPCore
import KithNode
import KithSystem

/// `diagnose`: one file for somebody who helps.
enum SupportCommands {
    static func diagnose(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let now = SystemClock().wallMilliseconds
        let moment = String(Timestamp.text(ofMilliseconds: now).prefix(19).map { $0 == ":" ? "-" : $0 })
        let target = invocation.arguments.first ?? "kith-diagnosis-\(moment).txt"
        let made = target == "-" ? nil : try FileInMaking(target, replaces: invocation.flag("force"))
        let text = try report(invocation, now: now)
        guard let made else {
            Output.write(text.utf8)
            return ExitStatus.done
        }
        Interruption.removes(made.part)
        var isWhole = false
        defer { if !isWhole { unlink(made.part) } }
        let file = try NewFile(made.part, called: target)
        try file.write(Array(text.utf8))
        try file.synchronize()
        try made.putInPlace()
        isWhole = true
        Interruption.removes(nil)
        Output.line(target)
        Messages.line("read it before you pass it on: it has names of nodes and databases, and addresses")
        return ExitStatus.done
    }

    private static func report(_ invocation: Invocation, now: Int64) throws(CommandError) -> String {
        let configured = try CommandConfiguration(invocation)
        var report = SupportReport()
        report.add(
            "kith diagnose",
            [
                "made \(Timestamp.text(ofMilliseconds: now)) in \(configured.directory.path)",
                "It has names of nodes and databases, and addresses; nothing of a document, no key and no code.",
            ])
        report.add("versions of the command", SupportReport.versions + HTTPLibraries.versions + system())
        report.add(
            "configuration", json: ConfigurationRenderer.json(configured.configuration, configured.directory))
        report.add("files of the directory", files(of: configured.directory.path))
        var failure: CommandError?
        do throws(CommandError) {
            let text = try ControlClient(configured.directory).call("GET", ["support"], within: 30)
            report.add(sections: String(decoding: text, as: UTF8.self))
        } catch { failure = error }
        if let failure {
            report.add("the node", [failure.message])
            if failure.status == ExitStatus.noNode { report.add("databases", lines: offline(invocation)) }
        }
        report.add("doctor", try DoctorCommands.lines(invocation))
        return report.text
    }

    /// The databases as far as they can be read without a node.
    private static func offline(_ invocation: Invocation) -> [UInt8] {
        var lines: [UInt8] = []
        do throws(CommandError) {
            try QueryCommands.offline(invocation) { (offline) throws(NodeError) in lines = try offline.support() }
        } catch { lines = Array(error.message.utf8) }
        return lines
    }

    /// The operating system and its kernel.
    private static func system() -> [String] {
        var names = utsname()
        uname(&names)
        func text<Value>(_ value: Value) -> String {
            withUnsafeBytes(of: value) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        var lines = ["\(text(names.sysname)) \(text(names.release)) \(text(names.machine))"]
        if let bytes = try? InputFile.read("/etc/os-release", limit: ControlLimits.smallBodyBytes) {
            let release = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            lines += release.filter { $0.hasPrefix("PRETTY_NAME=") }.map { String($0.dropFirst(12)) }
        }
        return lines + ["\(sysconf(Int32(_SC_NPROCESSORS_ONLN))) processors"]
    }

    /// A line for each file in the directory and in `databases`: who may do what, bytes, when it was written, the name. None is
    /// opened.
    private static func files(of directory: String) -> [String] {
        let files = LocalFileSystem()
        var lines: [String] = []
        for folder in [directory, directory + "/databases"] {
            guard let names = try? files.list(folder) else {
                lines.append("\(folder): can't be read")
                continue
            }
            for name in names.sorted().prefix(ControlLimits.listedFiles) {
                guard let stamp = files.stamp(of: "\(folder)/\(name)") else { continue }
                let mode = String(stamp.permissions, radix: 8)
                let time = Timestamp.text(ofMilliseconds: Int64(stamp.seconds) * 1_000)
                lines.append("\(mode) \(stamp.isDirectory ? "directory" : "\(stamp.size)") \(time) \(folder)/\(name)")
            }
            if names.count > ControlLimits.listedFiles {
                lines.append("and \(names.count - ControlLimits.listedFiles) more")
            }
        }
        return lines
    }
}
