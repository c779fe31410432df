import Glibc
import KithNode

/// `init`, `join`, `leave`, `start`: what needs no running node.
enum LocalCommands {
    static func initialise(_ invocation: Invocation) async throws(CommandError) -> Int32 {
        let directory = try ControlClient.directory(invocation)
        let node = try await NodeCommands.initialise(
            directory, group: invocation.value("group"), name: invocation.value("name"),
            rootFile: invocation.value("root-out"))
        tell(node, directory)
        if let file = invocation.value("root-out") {
            Messages.line("the root's key is in \(Shown.name(file)): keep it away from this machine, and safe")
        }
        Messages.line("next: kith start, then kith invite for each other machine")
        return ExitStatus.done
    }

    static func join(_ invocation: Invocation) async throws(CommandError) -> Int32 {
        let directory = try ControlClient.directory(invocation)
        var code = invocation.arguments[0]
        if code == "-" {
            let bytes = try InputFile.read("-", limit: ControlLimits.smallBodyBytes)
            let line = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1).first ?? []
            code = String(decoding: line, as: UTF8.self).filter { !$0.isWhitespace }
        }
        let node = try await NodeCommands.join(
            directory, code: code, name: invocation.value("name"), peer: invocation.value("peer"))
        tell(node, directory)
        Messages.line("next: kith start")
        return ExitStatus.done
    }

    static func leave(_ invocation: Invocation) async throws(CommandError) -> Int32 {
        try await NodeCommands.leave(try ControlClient.directory(invocation))
        Messages.line("this node has left its group; its databases stay")
        return ExitStatus.done
    }

    static func start(_ invocation: Invocation) async throws(CommandError) -> Int32 {
        var start = NodeCommands.Start(directory: try ControlClient.directory(invocation))
        start.listen = invocation.value("listen")
        start.peers = invocation.values("peer")
        start.discovers = !invocation.flag("no-discovery")
        start.logFormat = invocation.value("log-format")
        start.logLevels = invocation.values("log").map { NodeControl.splitLogLevel($0) }
        try await NodeCommands.start(start)
        return ExitStatus.done
    }

    private static func tell(_ node: NodeCommands.Summary, _ directory: NodeDirectory) {
        Output.line("node       \(node.name) (\(node.id))")
        Output.line("group      \(node.group), as \(node.role)")
        Output.line("directory  \(directory.path)")
    }
}
