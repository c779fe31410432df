/// What a revision knows of each writer who edited its document: per writer the highest time known.
///
/// Versions are ordered only partly: `isWithin` says whether all that one knows the other knows too.
package struct Version: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let writer: WriterID
        package let time: UInt64

        package init(writer: WriterID, time: UInt64) {
            self.writer = writer
            self.time = time
        }
    }

    /// Ascending by writer, each writer once.
    package private(set) var entries: [Entry]

    package init() { entries = [] }

    package init(writer: WriterID, time: UInt64) { entries = [Entry(writer: writer, time: time)] }

    /// Nil unless the entries ascend strictly by writer.
    package init?(ascending entries: [Entry]) {
        for (one, next) in zip(entries, entries.dropFirst()) where one.writer >= next.writer { return nil }
        self.entries = entries
    }

    /// The highest time known of a writer.
    package subscript(writer: WriterID) -> UInt64? {
        let index = position(of: writer)
        return index < entries.count && entries[index].writer == writer ? entries[index].time : nil
    }

    /// The highest time of all; 0 where there is none.
    package var highestTime: UInt64 { entries.reduce(0) { max($0, $1.time) } }

    /// Whether everything this version knows is known to `other`.
    /// - Complexity: O(n + m).
    package func isWithin(_ other: Version) -> Bool { isWithin(other, above: nil) }

    /// The same without this version's entries of time 0: initial data is no edit.
    package func isWithinIgnoringInitial(_ other: Version) -> Bool { isWithin(other, above: 0) }

    private func isWithin(_ other: Version, above least: UInt64?) -> Bool {
        var index = 0
        for entry in entries {
            if let least, entry.time <= least { continue }
            while index < other.entries.count, other.entries[index].writer < entry.writer { index += 1 }
            guard index < other.entries.count, other.entries[index].writer == entry.writer,
                other.entries[index].time >= entry.time
            else { return false }
        }
        return true
    }

    /// Per writer the higher time of the two.
    /// - Complexity: O(n + m).
    package func joined(with other: Version) -> Version {
        if entries.isEmpty { return other }
        if other.entries.isEmpty { return self }
        var joined = Version()
        joined.entries.reserveCapacity(entries.count + other.entries.count)
        var (left, right) = (0, 0)
        while left < entries.count || right < other.entries.count {
            if right == other.entries.count
                || (left < entries.count && entries[left].writer < other.entries[right].writer)
            {
                joined.entries.append(entries[left])
                left += 1
            } else if left == entries.count || other.entries[right].writer < entries[left].writer {
                joined.entries.append(other.entries[right])
                right += 1
            } else {
                joined.entries.append(
                    entries[left].time >= other.entries[right].time ? entries[left] : other.entries[right])
                left += 1
                right += 1
            }
        }
        return joined
    }

    /// Sets what is known of one writer.
    package mutating func set(_ writer: WriterID, to time: UInt64) {
        let index = position(of: writer)
        let entry = Entry(writer: writer, time: time)
        if index < entries.count, entries[index].writer == writer {
            entries[index] = entry
        } else {
            entries.insert(entry, at: index)
        }
    }

    /// The `limit` entries with the highest times, `writer`'s own always among them.
    package func trimmed(to limit: Int, keeping writer: WriterID) -> Version {
        guard entries.count > limit else { return self }
        let ranked = entries.sorted { one, other in
            if (one.writer == writer) != (other.writer == writer) { return one.writer == writer }
            return one.time != other.time ? one.time > other.time : one.writer > other.writer
        }
        var trimmed = Version()
        trimmed.entries = ranked.prefix(limit).sorted { $0.writer < $1.writer }
        return trimmed
    }

    private func position(of writer: WriterID) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].writer < writer { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
