import KithDocument

/// Who was turned away lately, here or by a peer, and why: what both statuses show when two nodes will not speak.
///
/// Bounded in number and age, so that a flood of strangers costs nothing. Repeats of one reason by one peer are one entry.
package struct RefusalBook: Sendable {
    package struct Entry: Hashable, Sendable {
        /// Whom it is about, where that is known.
        package let node: NodeID?
        /// Where it was met; without the port where it dialled, since that is another each time.
        package let address: String?
        package let isByPeer: Bool
        package let reason: String
        /// Whether it is still worth telling when the two speak again.
        package let lasts: Bool
        package fileprivate(set) var count: Int
        /// Milliseconds since 1970.
        package let since: Int64
        package fileprivate(set) var lastAt: Int64
    }

    /// The latest last.
    private var entries: [Entry] = []

    package init() {}

    /// Notes a refusal.
    /// - Returns: whether it is a new one, and no repeat.
    package mutating func note(
        node: NodeID?, address: String?, isByPeer: Bool, reason: String, lasts: Bool = false, now: Int64
    ) -> Bool {
        let index = entries.firstIndex {
            $0.node == node && $0.isByPeer == isByPeer && $0.reason == reason && (node != nil || $0.address == address)
        }
        if let index {
            var entry = entries.remove(at: index)
            entry.count += 1
            entry.lastAt = now
            entries.append(entry)
            return false
        }
        entries.append(
            Entry(
                node: node, address: address, isByPeer: isByPeer, reason: reason, lasts: lasts, count: 1, since: now,
                lastAt: now))
        if entries.count > NodeLimits.refusals { entries.removeFirst() }
        return true
    }

    /// The two speak again: what kept them apart is over.
    package mutating func forget(_ node: NodeID) { entries.removeAll { $0.node == node && !$0.lasts } }

    /// Forgets what is old. A clock that was set back makes nothing older.
    package mutating func expire(now: Int64) {
        entries.removeAll {
            let (age, overflow) = now.subtractingReportingOverflow($0.lastAt)
            return overflow || age > NodeLimits.refusalMilliseconds
        }
    }

    /// Whether a node is among them.
    package func names(_ node: NodeID) -> Bool { entries.contains { $0.node == node } }

    /// The latest first.
    package var latest: [Entry] { entries.reversed() }
}
