package import KithDocument

/// Bodies by their revisions, for the few that a document has: nearly always one, which costs no hash and no table.
package struct RevisionBodies: Sendable {
    /// Ascending by id.
    private var entries: [(id: RevisionID, body: [UInt8])] = []

    package init() {}

    /// - Complexity: O(log n) to look up, O(n) to add.
    package subscript(id: RevisionID) -> [UInt8]? {
        get {
            let index = index(of: id)
            return index < entries.count && entries[index].id == id ? entries[index].body : nil
        }
        set {
            let index = index(of: id)
            let isKnown = index < entries.count && entries[index].id == id
            switch (newValue, isKnown) {
            case (let body?, true): entries[index].body = body
            case (let body?, false): entries.insert((id, body), at: index)
            case (nil, true): entries.remove(at: index)
            case (nil, false): break
            }
        }
    }

    private func index(of id: RevisionID) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
