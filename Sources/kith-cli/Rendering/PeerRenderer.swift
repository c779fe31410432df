import KithDocument

/// The text of `kith status NODE`: one peer in full.
struct PeerRenderer {
    let peer: JSONValue
    let now: Int64?
    let width: Int?
    let colour: Bool

    init(_ peer: JSONValue, now: Int64?, width: Int?, colour: Bool) {
        self.peer = peer
        self.now = now
        self.width = width
        self.colour = colour
    }

    func lines() -> [String] {
        let view = PeerView(peer, now: now)
        var lines = [
            line("peer", peer["name"]?.string ?? "?"), line("id", peer["id"]?.string ?? "?"),
            StatusRenderer.label("state") + view.style.apply(view.state, colour: colour) + since,
        ]
        if let reason = peer["reason"]?.string { lines.append(line("reason", reason)) }
        lines.append(line("link", peer["connected"]?.bool == true ? view.via : "not connected"))
        var last = view.lastExchange
        if let time = peer["round_trip_ms"]?.double { last += ", round trip \(Wording.milliseconds(time))" }
        if let offset = peer["clock_offset_ms"]?.integer {
            last += ", its clock \(offset >= 0 ? "+" : "")\(offset) ms" + clockError
        }
        lines.append(line("last", last))
        if peer["connected"]?.bool == true {
            let sent = Wording.size(peer["sent_bytes"]?.natural)
            lines.append(
                line("traffic", "\(sent) sent, \(Wording.size(peer["received_bytes"]?.natural)) received on this link"))
        }
        let version = peer["version"]?.string ?? "?"
        lines.append(line("version", version + (peer["protocol"]?.natural.map { ", protocol \($0)" } ?? "")))
        return lines + [""] + databaseLines() + [""] + candidateLines()
    }

    private func line(_ label: String, _ text: String) -> String {
        let whole = StatusRenderer.label(label) + Display.clean(text)
        return width.map { Display.cut(whole, to: $0) } ?? whole
    }

    private var clockError: String { peer["clock_error_ms"]?.natural.map { " ± \($0)" } ?? "" }

    private var since: String {
        guard let since = peer["since"]?.time, let now else { return "" }
        return " for \(Wording.duration(milliseconds: now - since))"
    }

    private func databaseLines() -> [String] {
        let databases = peer["databases"]?.array ?? []
        if databases.isEmpty { return ["no database in common"] }
        var table = TextTable([
            .init(title: "DATABASE", least: 10), .init(title: "IN", alignsRight: true),
            .init(title: "OUT", alignsRight: true),
            .init(title: "DIGEST"), .init(title: "PULLED", alignsRight: true),
            .init(title: "PUSHED", alignsRight: true),
            .init(title: "REFUSED", alignsRight: true),
        ])
        for database in databases {
            let digest = database["digest_equal"]?.bool.map { $0 ? "equal" : "differs" } ?? "?"
            var cells = [TextTable.Cell(text: database["name"]?.string ?? "?")]
            cells += ["in_changes", "out_changes"].map { .init(text: Wording.count(database[$0]?.natural)) }
            cells.append(.init(text: digest))
            cells += ["pulled", "pushed", "refused"].map { .init(text: Wording.count(database[$0]?.natural)) }
            table.add(cells)
        }
        return table.lines(width: width, colour: colour) + databases.flatMap(noteLines)
    }

    /// What is to be said of a database beside its numbers: what is left out of comparisons, and the last one by ranges.
    private func noteLines(_ database: JSONValue) -> [String] {
        let name = database["name"]?.string ?? "?"
        var notes: [String] = []
        let (here, there) = (database["left_out_here"]?.natural ?? 0, database["left_out_by_peer"]?.natural ?? 0)
        if here + there > 0 {
            notes.append("\(name): purged or refused, and left out of the comparison: \(here) here, \(there) there")
        }
        if let time = database["compared_at"]?.time {
            let age = Wording.age(milliseconds: now.map { $0 - time })
            let because =
                database["compared_because"]?.string == "digests_differed"
                ? "the digests differed" : "there was no common checkpoint"
            let count = Wording.count(database["compared_revisions"]?.natural)
            notes.append("\(name): compared by ranges \(age), since \(because); \(count) revisions came")
        }
        return notes.map { note in width.map { Display.cut(note, to: $0) } ?? note }
    }

    private func candidateLines() -> [String] {
        let candidates = peer["candidates"]?.array ?? []
        if candidates.isEmpty { return ["no address known"] }
        var table = TextTable([
            .init(title: "ADDRESS", least: 12), .init(title: "FROM"), .init(title: "LAST TRIED", alignsRight: true),
            .init(title: "LAST ERROR", least: 10),
        ])
        for candidate in candidates {
            let tried = candidate["last_tried_at"]?.time.flatMap { time in now.map { $0 - time } }
            table.add([
                .init(text: candidate["address"]?.string ?? "?"), .init(text: candidate["source"]?.string ?? "?"),
                .init(text: Wording.age(milliseconds: tried)), .init(text: candidate["last_error"]?.string ?? "-"),
            ])
        }
        return table.lines(width: width, colour: colour)
    }
}
