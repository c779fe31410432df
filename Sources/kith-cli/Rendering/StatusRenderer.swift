import KithDocument
import KithNode

/// The text of `kith status`: what is wrong first, then the node, its databases, its peers. Pure: the same status and
/// width give the same lines.
struct StatusRenderer {
    let status: JSONValue
    /// Cells to keep to; nil where nothing is cut.
    let width: Int?
    let colour: Bool
    /// Milliseconds since 1970, for ages.
    let now: Int64?

    /// - Parameter now: nil for the time the status was made.
    init(_ status: JSONValue, width: Int?, colour: Bool, now: Int64? = nil) {
        self.status = status
        self.width = width
        self.colour = colour
        self.now = now ?? status["generated_at"]?.time
    }

    func lines() -> [String] {
        var lines = healthLines()
        lines += nodeLines() + [""] + databaseLines() + [""] + peerLines() + refusalLines()
        return lines
    }

    // MARK: Health

    private var problems: [JSONValue] {
        (status["health"]?["checks"]?.array ?? []).filter { $0["level"]?.string != "ok" && !Self.isMuted($0) }
    }

    private static func isMuted(_ check: JSONValue) -> Bool { check["muted_until"]?.string != nil }

    /// The checks that somebody wants to hear no more of: one line for all.
    private func mutedLines() -> [String] {
        let muted = (status["health"]?["checks"]?.array ?? []).filter(Self.isMuted)
        if muted.isEmpty { return [] }
        let words = muted.map { check in
            let left = check["muted_until"]?.time.flatMap { until in now.map { until - $0 } }
            return "\(check["code"]?.string ?? "?") (\(Wording.duration(milliseconds: left ?? 0)) left)"
        }
        return indented(words, label: "muted")
    }

    private func healthLines() -> [String] {
        let level = status["health"]?["level"]?.string ?? "unknown"
        let style: Style = level == "ok" ? .good : level == "warning" ? .warning : .bad
        var line = Self.label("health") + style.apply(level, colour: colour)
        let count = problems.isEmpty ? "" : "  \(Wording.plural(UInt64(problems.count), "problem", "problems"))"
        // What has no room on the line follows below anyway.
        if Self.label("health").count + level.count + count.count <= width ?? .max { line += count }
        return [line] + problemLines() + adviceLines() + mutedLines()
    }

    /// Checks that are no trouble and still worth a thought.
    private func adviceLines() -> [String] {
        let advice = (status["health"]?["checks"]?.array ?? []).filter {
            $0["level"]?.string == "ok" && !Self.isMuted($0)
        }
        return advice.flatMap { check -> [String] in
            let lines = indented(
                check["summary"]?.string ?? "", first: "  \(check["code"]?.string ?? "?")  ", rest: "      ")
            guard let action = check["action"]?.string, !action.isEmpty else { return lines }
            return lines + indented(action, first: "      do: ", rest: "          ")
        }
    }

    private func problemLines() -> [String] {
        problems.flatMap { check -> [String] in
            let code = Display.clean(check["code"]?.string ?? "?")
            var text = check["summary"]?.string ?? ""
            if let since = check["since"]?.time, let now {
                text += " (for \(Wording.duration(milliseconds: now - since)))"
            }
            let style: Style = check["level"]?.string == "critical" ? .bad : .warning
            var lines = indented(text, first: "  \(code)  ", rest: "      ")
            // The code is at a known place, so it can be coloured after the words were put on lines.
            lines[0] = "  " + style.apply(code, colour: colour) + lines[0].dropFirst(2 + code.count)
            if let action = check["action"]?.string, !action.isEmpty {
                lines += indented(action, first: "      do: ", rest: "          ")
            }
            if let known = HealthCode(rawValue: code) {
                lines += indented("kith help \(known.topic)", first: "      see: ", rest: "           ")
            }
            return lines
        }
    }

    // MARK: The node

    private func nodeLines() -> [String] {
        let node = status["node"] ?? .null
        var words = ["\(node["name"]?.string ?? "?") (\(Self.short(node["id"]?.string)))"]
        if let group = node["group"]?.string {
            words.append("group \(group)" + (node["role"]?.string.map { ", \($0)" } ?? ""))
        } else {
            words.append("in no group")
        }
        if let started = node["started_at"]?.time, let now {
            words.append("up \(Wording.duration(milliseconds: now - started))")
        }
        if let version = node["version"]?.string { words.append("v\(version)") }
        var lines = indented(words, label: "node")
        let listen = (node["listen"]?.array ?? []).compactMap(\.string)
        var listening = listen.isEmpty ? ["no address"] : listen
        // Said where it may explain something: a firewall lets nobody in.
        if node["inbound_at"] == .null, !peers.isEmpty { listening.append("inbound: none seen yet") }
        lines += indented(listening, label: "listen")
        lines += indented([node["data"]?.string ?? "?"], label: "data")
        return lines + discoveryLines()
    }

    private func discoveryLines() -> [String] {
        let discovery = status["discovery"] ?? .null
        var words = [discovery["state"]?.string ?? "unknown"]
        if let error = discovery["last_error"]?.string { words.append(error) }
        if let groups = discovery["foreign_groups"]?.natural, groups > 0 {
            words.append("\(Wording.plural(groups, "other group", "other groups")) on this network")
        }
        return indented(words, label: "discovery")
    }

    // MARK: Databases

    private var databases: [JSONValue] { status["databases"]?.array ?? [] }

    private func databaseLines() -> [String] {
        if databases.isEmpty { return ["no databases; make one with: kith db create NAME"] }
        return Self.databaseTable(databases).lines(width: width, colour: colour)
    }

    static func databaseTable(_ databases: [JSONValue]) -> TextTable {
        var table = TextTable([
            .init(title: "DATABASE", least: 16), .init(title: "DOCS", alignsRight: true),
            .init(title: "DELETED", alignsRight: true, leftOut: 2), .init(title: "CONFLICTS", alignsRight: true),
            .init(title: "SIZE", alignsRight: true, leftOut: 3), .init(title: "WAL", alignsRight: true, leftOut: 1),
            .init(title: "SEQ", alignsRight: true, leftOut: 4), .init(title: "IN SYNC WITH"),
        ])
        for database in databases {
            let conflicts = database["conflicts"]?.natural
            table.add([
                .init(text: database["name"]?.string ?? "?"),
                .init(text: Wording.count(database["documents"]?.natural)),
                .init(text: Wording.count(database["deleted"]?.natural)),
                .init(text: Wording.count(conflicts), style: conflicts ?? 0 > 0 ? .warning : .plain),
                .init(text: Wording.size(database["bytes"]?.natural)),
                .init(text: Wording.size(database["wal_bytes"]?.natural)),
                .init(text: Wording.count(database["sequence"]?.natural)), .init(text: inSync(database)),
            ])
        }
        return table
    }

    private static func inSync(_ database: JSONValue) -> String {
        guard let peers = database["peers"]?.natural else {
            return database["error"]?.string == nil ? "?" : "not usable"
        }
        let mark = SyncCommand.mark(database["replication"])
        if peers == 0 { return "no peer connected\(mark)" }
        return "\(Wording.count(database["in_sync_with"]?.natural)) of \(Wording.count(peers))\(mark)"
    }

    // MARK: Peers

    private var peers: [JSONValue] { status["peers"]?.array ?? [] }

    private func peerLines() -> [String] {
        if peers.isEmpty { return ["no peers known; kith invite makes a code for another machine to join with"] }
        var table = TextTable([
            .init(title: "PEER", least: 18), .init(title: "STATE"), .init(title: "IN", alignsRight: true),
            .init(title: "OUT", alignsRight: true), .init(title: "LAST", alignsRight: true),
            .init(title: "RTT", alignsRight: true, leftOut: 2), .init(title: "VIA", least: 20, leftOut: 3),
            .init(title: "VERSION", leftOut: 1),
        ])
        for peer in peers {
            let view = PeerView(peer, now: now)
            table.add([
                .init(text: view.name), .init(text: view.state, style: view.style),
                .init(text: Wording.count(view.inChanges)),
                .init(text: Wording.count(view.outChanges)), .init(text: view.lastExchange),
                .init(text: Wording.milliseconds(peer["round_trip_ms"]?.double)), .init(text: view.via),
                .init(text: peer["version"]?.string ?? "-"),
            ])
        }
        var lines = table.lines(width: width, colour: colour)
        for peer in peers {
            guard let reason = peer["reason"]?.string, !reason.isEmpty else { continue }
            lines += indented(
                reason, first: "  \(PeerView(peer, now: now).name): ",
                rest: "      ")
        }
        let connected = peers.filter { $0["connected"]?.bool == true }.count
        let last = "\(connected) of \(Wording.plural(UInt64(peers.count), "peer", "peers")) connected"
        return lines + [width.map { Display.cut(last, to: $0) } ?? last]
    }

    /// Who was turned away lately, or turned this node away, but for peers whose reason stands above.
    private func refusalLines() -> [String] {
        let shown = peers.compactMap { $0["reason"]?.string == nil ? nil : $0["id"]?.string }
        let refusals = (status["refusals"]?.array ?? []).filter { refusal in
            refusal["node"]?.string.map { !shown.contains($0) } ?? true
        }
        return refusals.isEmpty
            ? []
            : ["", "refused lately"]
                + refusals.flatMap { refusal -> [String] in
                    let who = refusal["name"]?.string ?? refusal["node"]?.string.map { Self.short($0) }
                    let place = refusal["address"]?.string.map { " at \($0)" } ?? ""
                    let whom = (who ?? "somebody") + place
                    let verb = refusal["by"]?.string == "peer" ? "refuses this node" : "was refused"
                    let age = refusal["last_at"]?.time.flatMap { time in now.map { $0 - time } }
                    let count = refusal["count"]?.natural ?? 1
                    let times = count > 1 ? "\(Wording.count(count)) times, the last " : ""
                    return indented(
                        "\(whom) \(verb): \(refusal["reason"]?.string ?? "?") (\(times)\(Wording.age(milliseconds: age)))",
                        first: "  ", rest: "      ")
                }
    }

    /// One line when all is well, else what is not.
    func brief() -> [String] {
        var lines = problemLines()
        for peer in peers where peer["state"]?.string != "in_sync" {
            let view = PeerView(peer, now: now)
            let reason = peer["reason"]?.string.map { ": \($0)" } ?? ""
            lines += indented(
                "\(view.name) is \(view.state)\(reason), in \(Wording.count(view.inChanges)), out "
                    + Wording.count(view.outChanges), first: "  ", rest: "      ")
        }
        if !lines.isEmpty { return lines }
        return [peers.isEmpty ? "all well; no peers known" : "all well; in sync with \(peers.count) of \(peers.count)"]
    }

    // MARK: Lines

    static func label(_ text: String) -> String { Display.pad(text, to: 11) }

    /// The beginning of a node's id, as people use it.
    static func short(_ id: String?) -> String { id.map { String($0.prefix(8)) } ?? "?" }

    /// A text in lines that keep to the width; where there is none in one.
    private func indented(_ text: String, first: String, rest: String) -> [String] {
        let text = Display.clean(text)
        guard let width else { return [first + text] }
        let words = Display.wrap(text, to: max(20, width - Display.cells(first)))
        return words.enumerated().map { Display.cut(($0 == 0 ? first : rest) + $1, to: width) }
    }

    /// Parts after a label, as many on a line as fit.
    private func indented(_ parts: [String], label: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for part in parts {
            let next = line.isEmpty ? part : "\(line)  \(part)"
            if let width, !line.isEmpty, Display.cells(next) > width - 11 {
                lines.append(line)
                line = part
            } else {
                line = next
            }
        }
        lines.append(line)
        return lines.enumerated().map { index, text in
            let whole = Self.label(index == 0 ? label : "") + Display.clean(text)
            return width.map { Display.cut(whole, to: $0) } ?? whole
        }
    }
}
