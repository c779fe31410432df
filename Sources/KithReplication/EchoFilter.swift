internal import KithDocument

#if KITH_MUTANTS
import KithSystem
#endif

/// The leaves that the peer has shown to have, so that they are not offered back to it.
///
/// The oldest are forgotten above a bound; then a change is offered in vain, and no more. They go half of all at a time:
/// to take single ones out of a table costs more than to put them in.
struct EchoFilter {
    private struct Entry: Hashable {
        let document: DocumentID
        let leaf: AnnouncedLeaf
    }

    private var recent: Set<Entry> = []
    private var older: Set<Entry> = []

    /// At most `ReplicationLimits.echoedLeaves`.
    var count: Int { recent.count + older.count }

    mutating func note(_ document: DocumentID, _ leaf: AnnouncedLeaf) {
        if recent.count >= ReplicationLimits.echoedLeaves / 2 {
            swap(&recent, &older)
            recent.removeAll(keepingCapacity: true)
        }
        recent.insert(Entry(document: document, leaf: leaf))
    }

    mutating func note(_ changes: [Change]) {
        for change in changes { for leaf in change.leaves { note(change.document, leaf) } }
    }

    /// Whether the peer has every leaf of the change.
    func covers(_ change: Change) -> Bool {
        #if KITH_MUTANTS
        if Mutant.isActive(.swallowsEcho), recent.contains(where: { $0.document == change.document }) { return true }
        #endif
        if recent.isEmpty, older.isEmpty { return false }
        return change.leaves.allSatisfy { leaf in
            let entry = Entry(document: change.document, leaf: leaf)
            return recent.contains(entry) || older.contains(entry)
        }
    }
}
