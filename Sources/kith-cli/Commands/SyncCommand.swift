import KithDocument
import KithHTTPCore
import KithNode

/// `sync`: how a database is replicated, and one synchronisation of it.
enum SyncCommand {
    static func run(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let database = invocation.arguments[0]
        try requireSense(invocation)
        let client = try ControlClient(invocation)
        let isChange = try change(database, invocation, client)
        if let node = invocation.value("pending") { return try pending(database, node, invocation, client) }
        if let node = invocation.value("reset") {
            _ = try client.call(
                "POST", ["databases", database, "reset"], query: [("peer", node == "all" ? nil : node)])
            return ExitStatus.done
        }
        if invocation.flag("once") { return try once(database, invocation, client) }
        let settings = try client.json("GET", ["databases", database, "replication"])
        if invocation.flag("json") {
            Output.write(settings.canonicalBytes + [UInt8(ascii: "\n")])
        } else if !isChange {
            Output.line(words(settings))
        }
        return ExitStatus.done
    }

    /// What is wrong is said before anything is set.
    private static func requireSense(_ invocation: Invocation) throws(CommandError) {
        if invocation.flag("pause"), invocation.flag("resume") { throw .usage("choose one of --pause and --resume") }
        let asked = [invocation.flag("once"), invocation.value("pending") != nil, invocation.value("reset") != nil]
        guard asked.count(where: { $0 }) <= 1 else { throw .usage("choose one of --once, --pending and --reset") }
        guard let timeout = invocation.value("timeout") else { return }
        guard invocation.flag("once") else { throw .usage("--timeout goes with --once") }
        _ = try Values.milliseconds(timeout, ControlLimits.waitMilliseconds, option: "--timeout")
    }

    /// Sets what was named.
    private static func change(
        _ database: String, _ invocation: Invocation, _ client: ControlClient
    ) throws(CommandError) -> Bool {
        let paused = invocation.flag("pause") ? "true" : invocation.flag("resume") ? "false" : nil
        let query = [
            ("direction", invocation.value("direction")), ("mode", invocation.value("mode")), ("paused", paused),
        ]
        let filter = invocation.value("filter").map { $0 == "none" ? "null" : $0 }
        guard filter != nil || query.contains(where: { $0.1 != nil }) else { return false }
        let body = filter.map { HTTPClientRequest.Body.bytes(Array($0.utf8)) } ?? HTTPClientRequest.Body.none
        _ = try client.call("PUT", ["databases", database, "replication"], query: query, body: body)
        do throws(CommandError) { _ = try client.call("GET", ["databases", database, "replication"]) } catch {
            guard error.status == ExitStatus.notFound else { throw error }
            Messages.line("there is no database \(Shown.name(database)) here yet; the setting holds once it comes")
        }
        return true
    }

    private static func pending(
        _ database: String, _ node: String, _ invocation: Invocation, _ client: ControlClient
    ) throws(CommandError) -> Int32 {
        let answer = try client.json(
            "GET", ["databases", database, "pending"],
            query: [("peer", node == "any" ? nil : node), ("limit", String(ControlLimits.mostPendingDocuments))])
        if invocation.flag("json") {
            Output.write(answer.canonicalBytes + [UInt8(ascii: "\n")])
            return ExitStatus.done
        }
        for document in answer["documents"]?.array ?? [] { Output.line(document.string ?? "?") }
        if answer["more"]?.bool == true { Messages.line("and more") }
        if answer["known"]?.bool == false {
            Messages.line("nothing was heard of it since this node started, so all documents are listed")
        }
        return ExitStatus.done
    }

    private static func once(
        _ database: String, _ invocation: Invocation, _ client: ControlClient
    ) throws(CommandError) -> Int32 {
        let timeout = try Values.milliseconds(
            invocation.value("timeout") ?? Wording.time(ControlLimits.synchronisationMilliseconds),
            ControlLimits.waitMilliseconds, option: "--timeout")
        let report = try client.json(
            "POST", ["databases", database, "sync"], query: [("timeout_ms", String(timeout))],
            within: Int(timeout / 1_000) + 30)
        if invocation.flag("json") {
            Output.write(report.canonicalBytes + [UInt8(ascii: "\n")])
        } else {
            for line in lines(report) { Output.line(line) }
            if report["peers"]?.array?.isEmpty != false { Messages.line("no peer could be reached") }
        }
        return Int32(report["exit"]?.natural ?? 1)
    }

    /// A line for each peer that was reached.
    static func lines(_ report: JSONValue) -> [String] {
        (report["peers"]?.array ?? []).map { peer in
            let name = PeerView(peer, now: nil).name
            let outcome = (peer["outcome"]?.string ?? "?").replacing("_", with: " ")
            let reason = peer["reason"]?.string.map { " (\(Display.clean($0)))" } ?? ""
            return "\(name): \(outcome)\(reason), \(Wording.count(peer["pulled"]?.natural)) came, "
                + "\(Wording.count(peer["pushed"]?.natural)) went"
        }
    }

    /// `both directions, continuous` and the like.
    static func words(_ settings: JSONValue) -> String {
        let direction =
            switch settings["direction"]?.string {
            case "both": "both directions"
            case "pull": "pull only"
            case "push": "push only"
            default: "neither direction"
            }
        let mode = (settings["mode"]?.string ?? "?").replacing("-", with: " ")
        let filter = settings["filter"].map {
            ", only \(Display.clean(String(decoding: $0.canonicalBytes, as: UTF8.self)))"
        }
        return "\(direction), \(mode)" + (settings["paused"]?.bool == true ? ", paused" : "") + (filter ?? "")
    }

    /// What stands beside the count of peers in the status; empty for the usual settings.
    static func mark(_ settings: JSONValue?) -> String {
        guard let settings else { return "" }
        if settings["paused"]?.bool == true { return ", paused" }
        if settings["mode"]?.string == "on-demand" { return ", on demand" }
        let filter = settings["filtered"]?.bool == true ? ", filtered" : ""
        return switch settings["direction"]?.string {
        case "pull": ", pull only\(filter)"
        case "push": ", push only"
        case "none": ", off"
        default: filter
        }
    }
}
