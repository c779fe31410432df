import Glibc
import KithNode

/// `init`, `join`, `leave`, `start`: what needs no running node.
enum LocalCommands {
    static func initialise(_ invocation: Invocation) async throws(CommandError) -> Int32 {
        let configured = try CommandConfiguration(invocation)
        try configured.actAsOwner()
        let directory = configured.directory
        let wasOpen = NodeSetup.isOpenToOthers(directory)
        let node = try await NodeCommands.initialise(
            directory, group: invocation.value("group"), name: invocation.value("name"),
            rootFile: invocation.value("root-out"))
        tell(node, directory, wasOpen: wasOpen, asJSON: invocation.flag("json"))
        if let file = invocation.value("root-out") {
            Messages.line("the root's key is in \(Shown.path(file)): keep it away from this machine, and safe")
        }
        Messages.line("next: \(startCommand(configured)), then kith invite for each other machine")
        return ExitStatus.done
    }

    static func join(_ invocation: Invocation) async throws(CommandError) -> Int32 {
        let configured = try CommandConfiguration(invocation)
        let directory = configured.directory
        var code = invocation.arguments[0]
        if code == "-" {
            let bytes = try InputFile.read("-", limit: ControlLimits.smallBodyBytes)
            let line = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1).first ?? []
            code = String(decoding: line, as: UTF8.self).filter { !$0.isWhitespace }
        }
        if !invocation.flag("yes"), let arrival = NodeSetup.arrival(in: directory, by: code) {
            try Confirmation.require(
                "\(arrival.words) Join? [y/N] ", otherwise: "\(arrival.words) Say --yes to join without being asked",
                declined: "nothing was joined")
        }
        try configured.actAsOwner()
        let wasOpen = NodeSetup.isOpenToOthers(directory)
        let node = try await NodeCommands.join(
            directory, code: code, name: invocation.value("name"), peer: invocation.value("peer"))
        tell(node, directory, wasOpen: wasOpen, asJSON: invocation.flag("json"))
        Messages.line("next: \(startCommand(configured))")
        return ExitStatus.done
    }

    static func leave(_ invocation: Invocation) async throws(CommandError) -> Int32 {
        let configured = try CommandConfiguration(invocation)
        let directory = configured.directory
        if !invocation.flag("yes"), NodeSetup.isOnlyAdmin(directory) {
            let words =
                "This node is the only admin it knows of: when it has left, nobody can be let in or revoked any more."
            try Confirmation.require(
                "\(words) Leave? [y/N] ",
                otherwise: "\(words) Make another first (kith invite --role admin), or say --yes to leave all the same",
                declined: "nothing was left")
        }
        try configured.actAsOwner()
        try await NodeCommands.leave(directory)
        Messages.line("this node has left its group; its databases stay")
        return ExitStatus.done
    }

    static func start(_ invocation: Invocation) async throws(CommandError) -> Int32 {
        let configured = try CommandConfiguration(invocation)
        let isStrict = invocation.flag("strict")
        try configured.requireUsable(strict: isStrict)
        if invocation.flag("check") { return try check(configured) }
        try configured.continueAsOwner()
        try await NodeCommands.start(configured, isStrict: isStrict)
        return ExitStatus.done
    }

    private static func check(_ configured: CommandConfiguration) throws(CommandError) -> Int32 {
        try configured.actAsOwner()
        let check = NodeCommands.checkStart(configured)
        for warning in check.warnings { Messages.line("kith: warning: \(warning)") }
        for problem in check.problems.dropLast() { Messages.line("kith start: \(problem)") }
        if let last = check.problems.last { throw CommandError(last) }
        Output.line("ok: a node can start in \(configured.directory.path)")
        return ExitStatus.done
    }

    /// How the node is started: by the service manager where the directory is that of the machine's node.
    private static func startCommand(_ configured: CommandConfiguration) -> String {
        configured.configuration.isSystemFile ? "systemctl enable --now kith" : "kith start"
    }

    private static func tell(
        _ node: NodeCommands.Summary, _ directory: NodeDirectory, wasOpen: Bool, asJSON: Bool
    ) {
        if asJSON {
            var object = JSONObjectWriter()
            for (name, text) in [
                ("id", node.id), ("name", node.name), ("group", node.group), ("role", node.role),
                ("data", directory.path),
            ] { object.add(name, text) }
            Output.write(object.bytes + [UInt8(ascii: "\n")])
        } else {
            Output.line("node       \(node.name) (\(node.id))")
            Output.line("group      \(node.group), as \(node.role)")
            Output.line("directory  \(directory.path)")
        }
        if wasOpen {
            Messages.line(
                "\(directory.path) was open to others; it is closed to them now (mode 0700), for it holds the key")
        }
    }
}

extension NodeSetup.Arrival {
    /// What a person should know before the join.
    var words: String {
        let shown = databases.prefix(8).map { Shown.name($0) }.joined(separator: ", ")
        let more = databases.count > 8 ? " and \(databases.count - 8) more" : ""
        let origin = formerGroup.map { "of the group \(Shown.name($0))" } ?? "of another group, or of none,"
        return
            "This directory holds databases \(origin) (\(shown)\(more)): all nodes of the group of this code get them, and "
            + "where that has databases of equal names the two will merge."
    }
}
