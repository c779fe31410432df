import Glibc
import KithDocument
import KithHTTPCore
import KithNode

/// `members`, `revoke`, `role`: who belongs to the group, and as what.
enum MembershipCommands {
    static func members(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let bytes = try ControlClient(invocation).call("GET", ["members"])
        if invocation.flag("json") {
            Output.write(bytes)
            return ExitStatus.done
        }
        let terminal = try Terminal(colourChoice: invocation.value("color"))
        let members = try ControlClient.parse(bytes)
        for line in MembersRenderer(members, width: terminal.width, colour: terminal.colour).lines() {
            Output.line(line)
        }
        return ExitStatus.done
    }

    static func revoke(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let client = try ControlClient(invocation)
        var body = HTTPClientRequest.Body.none
        if let file = invocation.value("root") {
            body = .bytes(try InputFile.read(file, limit: ControlLimits.smallBodyBytes))
        }
        func ask(_ node: String, isDryRun: Bool) throws(CommandError) -> JSONValue {
            try client.json(
                "POST", ["revocations"], query: [("node", node), ("dry_run", isDryRun ? "true" : nil)], body: body)
        }
        let preview = try ask(invocation.arguments[0], isDryRun: true)
        guard let id = preview["id"]?.string else { throw CommandError("the node's answer names no node") }
        let asJSON = invocation.flag("json")
        let called = name(of: preview)
        if preview["already"]?.bool == true {
            // Asked for all the same: it returns when that is on disk.
            _ = try ask(id, isDryRun: false)
            if asJSON { return tell(preview) }
            Messages.line("\(called) was revoked already\(Self.reservation(preview))")
            return ExitStatus.done
        }
        let affected = (preview["affected"]?.array ?? []).map { name(of: $0) }
        if !invocation.flag("yes") {
            try Confirmation.require(
                question(called, preview, affected: affected),
                otherwise: "kith revoke ends the membership of \(called) for ever; say --yes to do it without asking",
                declined: "nobody was revoked")
        }
        let done = try ask(id, isDryRun: false)
        if asJSON { return tell(done) }
        Messages.line(
            "\(called) is revoked\(Self.reservation(done)); on that machine: kith leave, and kith join with a new code if it is to come back"
        )
        for node in affected {
            Messages.line("\(node) is a member no more with it: there kith leave, then kith join anew")
        }
        return ExitStatus.done
    }

    private static func tell(_ answer: JSONValue) -> Int32 {
        Output.write(answer.canonicalBytes + [UInt8(ascii: "\n")])
        return ExitStatus.done
    }

    /// What a person should know of a revocation that may count for nothing.
    private static func reservation(_ answer: JSONValue) -> String {
        guard answer["unless_admin"]?.bool == true, let id = answer["id"]?.string else { return "" }
        return
            ", unless it is an admin, which this node can't know since it has not met it: against an admin only the root's "
            + "word counts (kith revoke \(id) --root FILE)"
    }

    static func question(_ called: String, _ preview: JSONValue, affected: [String]) -> String {
        let role = preview["role"]?.string
        var text = "End the membership of \(called)"
        text += role.map { " (\($0))" } ?? ", which this node has not met,"
        text += " for ever?"
        if role == "admin" {
            text +=
                affected.isEmpty
                ? " Nodes that it let in end with it; none is known here."
                : " With it end \(affected.joined(separator: ", ")), which it let in, and any others that it let in and this "
                    + "node has not met: they must leave and join anew with a code of another admin."
        }
        if preview["unless_admin"]?.bool == true {
            text += " If it is an admin this counts for nothing: then the root's word is needed (--root FILE)."
        }
        return text + " What they wrote stays. [y/N] "
    }

    static func role(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let role = invocation.arguments[1]
        guard ["admin", "writer", "reader"].contains(role) else {
            throw .usage("\(Shown.name(role)) is no role; kith role NODE takes writer or reader")
        }
        let answer = try ControlClient(invocation).json(
            "POST", ["roles"], query: [("node", invocation.arguments[0]), ("role", role)])
        let words = answer["changed"]?.bool == true ? "is a \(role) from now on" : "is a \(role) already"
        Messages.line("\(name(of: answer)) \(words)")
        return ExitStatus.done
    }

    /// A node's name with the beginning of its id.
    private static func name(of node: JSONValue) -> String {
        let short = StatusRenderer.short(node["id"]?.string)
        return node["name"]?.string.map { "\(Shown.name($0)) (\(short))" } ?? short
    }
}
