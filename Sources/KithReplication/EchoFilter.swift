internal import KithDocument

/// The leaves that the peer has shown to have, so that they are not offered back to it.
///
/// The oldest are forgotten above a bound; then a change is offered in vain, and no more.
struct EchoFilter {
    private struct Entry: Hashable {
        let document: DocumentID
        let leaf: AnnouncedLeaf
    }

    private var known: Set<Entry> = []
    private var order: [Entry] = []
    /// Where the oldest stands once the ring is full.
    private var oldest = 0

    var count: Int { known.count }

    mutating func note(_ document: DocumentID, _ leaf: AnnouncedLeaf) {
        let entry = Entry(document: document, leaf: leaf)
        guard known.insert(entry).inserted else { return }
        if order.count < ReplicationLimits.echoedLeaves {
            order.append(entry)
        } else {
            known.remove(order[oldest])
            order[oldest] = entry
            oldest = (oldest + 1) % ReplicationLimits.echoedLeaves
        }
    }

    mutating func note(_ changes: [Change]) {
        for change in changes { for leaf in change.leaves { note(change.document, leaf) } }
    }

    /// Whether the peer has every leaf of the change.
    func covers(_ change: Change) -> Bool {
        if known.isEmpty { return false }
        return change.leaves.allSatisfy { known.contains(Entry(document: change.document, leaf: $0)) }
    }
}
