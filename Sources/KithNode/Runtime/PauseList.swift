import KithDocument

/// Pauses of replication, with all peers or with one, until a time or without an end; kept across restarts.
struct PauseList: Hashable {
    struct Pause: Hashable {
        /// Nil for all peers.
        let node: NodeID?
        /// Milliseconds since 1970; nil for no end.
        let until: Int64?

        func holds(at now: Int64) -> Bool { until.map { $0 > now } ?? true }
    }

    private(set) var pauses: [Pause] = []

    init() {}

    /// Reads what `lines` gave; a line that can't be read is passed over.
    init(lines: [String]) {
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 2, words[0] == "all" || NodeID(words[0]) != nil else { continue }
            guard words[1] == "forever" || Int64(words[1]) != nil else { continue }
            pauses.append(Pause(node: NodeID(words[0]), until: Int64(words[1])))
        }
    }

    /// `NODE UNTIL` each, with `all` and `forever` where there is none.
    var lines: [String] {
        pauses.map { "\($0.node?.description ?? "all") \($0.until.map(String.init) ?? "forever")" }
    }

    /// A pause of all for a time ends none that is longer.
    mutating func set(_ pause: Pause) {
        pauses.removeAll { held in
            guard held.node != pause.node else { return true }
            return pause.node == nil && (held.until ?? .max) <= (pause.until ?? .max)
        }
        pauses.append(pause)
    }

    /// Ends the pause of one peer, or for nil all pauses.
    mutating func clear(_ node: NodeID?) {
        if node == nil { pauses = [] }
        pauses.removeAll { $0.node == node }
    }

    /// The pause that holds for a peer now, the longest.
    func pause(of node: NodeID, now: Int64) -> Pause? {
        pauses.filter { ($0.node == nil || $0.node == node) && $0.holds(at: now) }
            .max { ($0.until ?? .max) < ($1.until ?? .max) }
    }

    /// Drops pauses that are over.
    mutating func expire(now: Int64) { pauses.removeAll { !$0.holds(at: now) } }
}
