import KithDocument

/// The names of peers and when they were last heard of, kept in the file `peers` beside their addresses, so that after a
/// restart a peer that is away is still called by its name.
///
/// A line is `seen NODE MILLISECONDS NAME`. Who reads addresses passes it over: those lines have two words.
struct PeerNames: Hashable {
    struct Entry: Hashable {
        let name: String
        /// Milliseconds since 1970.
        let seenAt: Int64
    }

    private(set) var entries: [NodeID: Entry] = [:]

    init() {}

    /// Reads what `lines` gave among others; what can't be read is passed over.
    init(lines: [String]) {
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
            guard words.count == 4, words[0] == "seen", let node = NodeID(words[1]), let time = Int64(words[2]),
                !words[3].isEmpty, words[3].utf8.count <= NodeLimits.rememberedNameBytes
            else { continue }
            entries[node] = Entry(name: words[3], seenAt: time)
        }
    }

    /// Notes a peer that was just heard of. Its name has no line ends.
    mutating func note(_ node: NodeID, name: String, seenAt: Int64) {
        let line = String(name.map { $0.isNewline ? " " : $0 })
        entries[node] = Entry(name: line, seenAt: seenAt)
    }

    mutating func forget(_ node: NodeID) { entries[node] = nil }

    /// The lines, the peer that was heard of last first; the oldest beyond the bound are left out, and those not heard of
    /// for very long.
    func lines(now: Int64) -> [String] {
        let fresh = entries.filter { now - $0.value.seenAt < NodeLimits.rememberedNameMilliseconds }
        let order = fresh.sorted { ($1.value.seenAt, $0.key) < ($0.value.seenAt, $1.key) }
        return order.prefix(NodeLimits.rememberedNames).map { "seen \($0.key) \($0.value.seenAt) \($0.value.name)" }
    }
}
