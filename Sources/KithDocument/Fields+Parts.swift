// Fields at single paths, for policies that treat these in their own way.

extension Fields {
    /// The entry of a path.
    /// - Complexity: O(log n).
    package func index(of path: FieldPath) -> Int? {
        let index = firstIndex(notBefore: path)
        return index < entries.count && entries[index].path == path ? index : nil
    }

    /// Where the entries of a path and of all under it stand: one after the other.
    /// - Complexity: O(log n), and O(m) in those entries.
    package func range(atOrUnder path: FieldPath) -> Range<Int> {
        let start = firstIndex(notBefore: path)
        var end = start
        while end < entries.count, entries[end].path.isAtOrUnder(path) { end += 1 }
        return start..<end
    }

    /// Other entries in the place of some.
    /// - Parameter parts: ascending and apart from each other; what comes into a place must belong there.
    /// - Complexity: O(n).
    package func replacing(_ parts: [(range: Range<Int>, entries: [Entry])]) -> Fields {
        var replaced: [Entry] = []
        replaced.reserveCapacity(entries.count)
        var next = 0
        for part in parts {
            replaced.append(contentsOf: entries[next..<part.range.lowerBound])
            replaced.append(contentsOf: part.entries)
            next = part.range.upperBound
        }
        replaced.append(contentsOf: entries[next...])
        return Fields(ascending: replaced)
    }

    private func firstIndex(notBefore path: FieldPath) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].path < path { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
