import KithDocument
import KithHTTPCore
import KithNode

/// `put`, `get`, `delete`, `purge`, `history`, `resolve`: single documents. Bodies pass as bytes.
enum DocumentCommands {
    static func put(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let client = try ControlClient(invocation)
        let argument = invocation.arguments.count == 3 ? invocation.arguments[2] : "-"
        let what = "document \(Shown.name(invocation.arguments[1]))"
        let body = try text(argument, limit: ControlLimits.documentBytes, of: what)
        let answer = try client.json(
            "PUT", path(invocation), query: [("rev", invocation.value("rev"))], body: .bytes(body))
        Output.line(answer["rev"]?.string ?? "?")
        return ExitStatus.done
    }

    /// An argument that is a text itself, or `-` for standard input.
    /// - Parameter what: what it is, for the error where it is longer than the limit.
    static func text(_ text: String, limit: Int, of what: String) throws(CommandError) -> [UInt8] {
        text == "-" ? try InputFile.read("-", limit: limit, of: what) : Array(text.utf8)
    }

    static func get(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let query = [("rev", invocation.value("rev")), ("meta", invocation.flag("meta") ? "true" : nil)]
        Output.write(try ControlClient(invocation).call("GET", path(invocation), query: query))
        return ExitStatus.done
    }

    static func delete(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let answer = try ControlClient(invocation).json(
            "DELETE", path(invocation), query: [("rev", invocation.value("rev"))])
        Output.line(answer["rev"]?.string ?? "?")
        return ExitStatus.done
    }

    static func purge(_ invocation: Invocation) throws(CommandError) -> Int32 {
        _ = try ControlClient(invocation).call("POST", path(invocation) + ["purge"])
        Messages.line("\(Shown.name(invocation.arguments[1])) is removed from this node; other nodes keep it")
        return ExitStatus.done
    }

    static func history(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let bytes = try ControlClient(invocation).call("GET", path(invocation) + ["history"])
        if invocation.flag("json") {
            Output.write(bytes)
            return ExitStatus.done
        }
        let terminal = try Terminal(colourChoice: invocation.value("color"))
        let history = HistoryRenderer(try ControlClient.parse(bytes), width: terminal.width, colour: terminal.colour)
        for line in history.lines() { Output.line(line) }
        return ExitStatus.done
    }

    static func resolve(_ invocation: Invocation) throws(CommandError) -> Int32 {
        guard let keep = invocation.value("keep") else {
            throw .usage("kith resolve needs --keep REV: the revision that stays; kith conflicts lists them")
        }
        let answer = try ControlClient(invocation).json("POST", path(invocation) + ["resolve"], query: [("keep", keep)])
        Output.line(answer["rev"]?.string ?? "?")
        return ExitStatus.done
    }

    private static func path(_ invocation: Invocation) -> [String] {
        ["databases", invocation.arguments[0], "documents", invocation.arguments[1]]
    }
}
