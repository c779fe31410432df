import KithDocument
import KithHTTPCore
import KithNode

/// `db`, `policy`, `conflicts`, `refused`: databases as wholes.
enum DatabaseCommands {
    static func create(_ invocation: Invocation) throws(CommandError) -> Int32 {
        _ = try ControlClient(invocation).call("PUT", ["databases", invocation.arguments[0]])
        return ExitStatus.done
    }

    static func delete(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let name = invocation.arguments[0]
        let client = try ControlClient(invocation)
        if !invocation.flag("yes") {
            try Confirmation.require(
                "Drop this node's copy of \(Shown.name(name))? Other nodes keep theirs. [y/N] ",
                otherwise:
                    "kith db delete drops this node's copy of \(Shown.name(name)); say --yes to do it without asking",
                declined: "nothing was deleted")
        }
        let deleted = try client.json("DELETE", ["databases", name])
        Messages.line("this node's copy of \(Shown.name(name)) is gone; other nodes keep theirs")
        for kept in deleted["kept_files"]?.array ?? [] {
            Messages.line(
                "\(kept["path"]?.string ?? "?") stays, \(Wording.size(kept.count("bytes"))), put aside: remove it when it "
                    + "is not needed")
        }
        return ExitStatus.done
    }

    static func list(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let bytes = try ControlClient(invocation).call("GET", ["databases"])
        if invocation.flag("json") {
            Output.write(bytes)
            return ExitStatus.done
        }
        let databases = try ControlClient.parse(bytes)["databases"]?.array ?? []
        if invocation.flag("long") {
            let terminal = try Terminal()
            let table = StatusRenderer.databaseTable(databases)
            for line in table.lines(width: terminal.width, colour: terminal.colour) { Output.line(line) }
        } else {
            for database in databases { Output.line(database["name"]?.string ?? "?") }
        }
        return ExitStatus.done
    }

    static func policy(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let client = try ControlClient(invocation)
        let path = ["databases", invocation.arguments[0], "policy"]
        guard invocation.arguments.count == 2 else {
            Output.write(try client.call("GET", path))
            return ExitStatus.done
        }
        let policy = try DocumentCommands.text(
            invocation.arguments[1], limit: ControlLimits.smallBodyBytes, of: "the policy")
        Output.write(try client.call("PUT", path, body: .bytes(policy)))
        return ExitStatus.done
    }

    static func conflicts(_ invocation: Invocation) throws(CommandError) -> Int32 {
        try list(invocation, "conflicts") { value in
            let leaves = (value["leaves"]?.array ?? []).compactMap(\.string)
            return "\(value["id"]?.string ?? "?")  \(leaves.joined(separator: "  "))"
        }
    }

    static func refused(_ invocation: Invocation) throws(CommandError) -> Int32 {
        try list(invocation, "refused") { value in
            func text(_ name: String) -> String { Display.clean(value[name]?.string ?? "?") }
            return "\(text("tag"))  \(text("id"))  \(text("reason"))"
        }
    }

    /// Prints what the node lists line by line: a line each, or with `--json` one array.
    private static func list(
        _ invocation: Invocation, _ what: String, _ words: (JSONValue) -> String
    ) throws(CommandError) -> Int32 {
        let asJSON = invocation.flag("json")
        var isFirst = true
        try ControlClient(invocation).lines("GET", ["databases", invocation.arguments[0], what]) { line in
            if asJSON {
                Output.write((isFirst ? "[" : ",\n").utf8)
                Output.write(line)
            } else if let value = try? ControlClient.parse(line) {
                Output.line(words(value))
            }
            isFirst = false
            return true
        }
        if asJSON { Output.line(isFirst ? "[]" : "]") }
        return ExitStatus.done
    }
}
