import KithDocument
import KithHTTPCore
import KithNode

/// `status`, `check`, `mesh`, `wait`: what is.
enum StatusCommands {
    static func status(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let client = try ControlClient(invocation)
        let terminal = try Terminal(colourChoice: invocation.value("color"))
        let name = invocation.arguments.first
        if invocation.flag("watch") {
            guard name == nil || !invocation.flag("x") else {
                throw .usage("kith status shows one NODE or, with -x, all in brief; leave one of them away")
            }
            let view = name.map(StatusWatch.View.peer) ?? (invocation.flag("x") ? .brief : .whole)
            try StatusWatch.run(client, terminal, view, asJSON: invocation.flag("json"))
            return ExitStatus.done
        }
        let bytes = try client.call("GET", ["status"])
        if let name { return try peer(name, bytes, invocation, terminal) }
        if invocation.flag("json") {
            Output.write(bytes)
            return ExitStatus.done
        }
        let status = try ControlClient.parse(bytes)
        let renderer = StatusRenderer(status, width: terminal.width, colour: terminal.colour)
        for line in invocation.flag("x") ? renderer.brief() : renderer.lines() { Output.line(line) }
        return ExitStatus.done
    }

    private static func peer(_ name: String, _ bytes: [UInt8], _ invocation: Invocation, _ terminal: Terminal)
        throws(CommandError) -> Int32
    {
        let status = try ControlClient.parse(bytes)
        let peer = try peer(name, of: status)
        if invocation.flag("json") {
            Output.line(peer.description)
        } else {
            let renderer = PeerRenderer(
                peer, now: status["generated_at"]?.time, width: terminal.width, colour: terminal.colour)
            for line in renderer.lines() { Output.line(line) }
        }
        return ExitStatus.done
    }

    /// The peer of a status that a person names.
    /// - Throws: `CommandError` with exit status 2 where there is none, 1 where there are several.
    static func peer(_ name: String, of status: JSONValue) throws(CommandError) -> JSONValue {
        let peers = (status["peers"]?.array ?? []).filter { peer in
            peer["name"]?.string == name || (name.utf8.count >= 4 && peer["id"]?.string?.hasPrefix(name) == true)
        }
        guard let peer = peers.first else {
            throw CommandError(
                "no node \(Shown.name(name)) is known here; kith status lists those that are",
                status: ExitStatus.notFound)
        }
        if peers.count > 1 {
            throw CommandError("\(peers.count) nodes are called \(Shown.name(name)); use the beginning of an id")
        }
        return peer
    }

    /// For monitoring: one line, and 0 well, 1 warning, 2 critical, 3 unknown.
    static func check(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let bytes: [UInt8]
        let answer: JSONValue
        do throws(CommandError) {
            bytes = try ControlClient(invocation).call("GET", ["check"], within: 10)
            answer = try ControlClient.parse(bytes)
        } catch {
            if error.status == ExitStatus.usage { throw error }
            Output.line(invocation.flag("json") ? unknownCheck(error.message) : "UNKNOWN \(error.message)")
            return 3
        }
        let (line, status) = checkLine(answer)
        if invocation.flag("json") { Output.write(bytes) } else { Output.line(line) }
        return status
    }

    private static func unknownCheck(_ reason: String) -> String {
        var object = JSONObjectWriter()
        object.add("level", "unknown")
        object.add("exit", 3)
        object.add("reason", reason)
        object.add("checks", elements: [])
        return String(decoding: object.bytes, as: UTF8.self)
    }

    static func checkLine(_ answer: JSONValue) -> (line: String, status: Int32) {
        let checks = (answer["checks"]?.array ?? []).filter {
            $0["level"]?.string != "ok" && $0["muted_until"]?.string == nil
        }
        let words = checks.map { "\($0["code"]?.string ?? "?"): \($0["summary"]?.string ?? "?")" }
        switch answer["level"]?.string {
        case "ok": return ("OK", 0)
        case "warning": return ("WARNING \(words.joined(separator: "; "))", 1)
        case "critical": return ("CRITICAL \(words.joined(separator: "; "))", 2)
        default: return ("UNKNOWN the node's answer has no level", 3)
        }
    }

    static func mesh(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let bytes = try ControlClient(invocation).call("GET", ["mesh"])
        if invocation.flag("json") {
            Output.write(bytes)
            return ExitStatus.done
        }
        let terminal = try Terminal(colourChoice: invocation.value("color"))
        let lines = MeshRenderer(try ControlClient.parse(bytes), width: terminal.width, colour: terminal.colour).lines()
        for line in lines { Output.line(line) }
        return ExitStatus.done
    }

    static func wait(_ invocation: Invocation) throws(CommandError) -> Int32 {
        var query: [(String, String?)] = [("in_sync", invocation.value("in-sync"))]
        if let peers = invocation.value("peers") {
            query.append(("peers", String(try Values.number(peers, 1...1_000_000, option: "--peers"))))
        }
        let timeout = try Values.milliseconds(
            invocation.value("timeout") ?? "30s", ControlLimits.waitMilliseconds, option: "--timeout")
        query.append(("timeout_ms", String(timeout)))
        _ = try ControlClient(invocation).call(
            "POST", ["wait"], query: query, within: Int(timeout / 1_000) + 30)
        return ExitStatus.done
    }
}

extension JSONValue {
    /// Milliseconds since 1970 of a time as text.
    var time: Int64? { string.flatMap { Timestamp.milliseconds(of: $0) } }
}
