import KithDocument

/// A peer of a status, in words.
struct PeerView {
    let peer: JSONValue
    let now: Int64?

    init(_ peer: JSONValue, now: Int64?) {
        self.peer = peer
        self.now = now
    }

    /// `den (9f12ab34)`
    var name: String {
        let id = StatusRenderer.short(peer["id"]?.string)
        return peer["name"]?.string.map { "\(Display.clean($0)) (\(id))" } ?? id
    }

    /// `catching up`, `paused 3h 59m` ...
    var state: String {
        let state = (peer["state"]?.string ?? "unknown").replacing("_", with: " ")
        if state == "paused", let until = peer["paused_until"]?.time, let now, until > now {
            return "paused \(Wording.duration(milliseconds: until - now))"
        }
        return state
    }

    var style: Style {
        switch peer["state"]?.string {
        case "in_sync": .good
        case "catching_up", "paused": .warning
        case "blocked", "refused": .bad
        default: .quiet
        }
    }

    /// The sum over its databases; nil where one is not known, or none is.
    var inChanges: UInt64? { sum("in_changes") }
    var outChanges: UInt64? { sum("out_changes") }

    private func sum(_ name: String) -> UInt64? {
        guard let databases = peer["databases"]?.array, !databases.isEmpty else {
            // A connected peer without a common database has nothing to exchange.
            return peer["connected"]?.bool == true ? 0 : nil
        }
        var sum: UInt64 = 0
        for database in databases {
            guard let number = database[name]?.natural else { return nil }
            sum &+= number
        }
        return sum
    }

    var lastExchange: String {
        guard let last = peer["last_exchange_at"]?.time, let now else { return "-" }
        return Wording.age(milliseconds: now - last)
    }

    /// How it is reached, or why not.
    var via: String {
        if peer["connected"]?.bool == true {
            return [peer["direction"]?.string, peer["address"]?.string].compactMap { $0 }.joined(separator: " ")
        }
        let tried = (peer["candidates"]?.array ?? []).filter { $0["last_error"]?.string != nil }
        let last = tried.max { ($0["last_tried_at"]?.time ?? 0) < ($1["last_tried_at"]?.time ?? 0) }
        return last.flatMap { $0["last_error"]?.string }.map { "last error: \($0)" } ?? "-"
    }
}
