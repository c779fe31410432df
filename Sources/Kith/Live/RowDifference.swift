import KithDocument

/// How a result differs from the one before. To bring a list in step: take away the rows `removed` and those that `moved` from
/// there, the last ones first; put in the rows `inserted` and those that `moved` there, the first ones first; show those
/// `updated` anew.
public struct RowDifference: Hashable, Sendable {
    /// A row that is in both and stands elsewhere among the others that are.
    public struct Move: Hashable, Sendable {
        /// Where it stood in the result before.
        public let from: Int
        /// Where it stands now.
        public let to: Int

        package init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// Where rows stood that are no more, in the result before, ascending.
    public internal(set) var removed: [Int] = []
    /// Where rows stand that are new, ascending.
    public internal(set) var inserted: [Int] = []
    /// As few rows as can be, ascending by where they stand now.
    public internal(set) var moved: [Move] = []
    /// Where rows stand now that were there before with other content, moved or not, ascending.
    public internal(set) var updated: [Int] = []

    /// Whether nothing differs.
    public var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && moved.isEmpty && updated.isEmpty }
}

/// A row of a live result without its content: what tells it from others, where it stands, and a hash. An object, so that
/// the thousands that a change leaves as they were cost little.
package final class LiveEntry: Sendable {
    /// Each once in a result.
    let identity: [UInt8]
    let hash: Int
    /// Bytes that stand as the rows do, those of equal order apart.
    let place: [UInt8]
    /// In milliseconds since 1970.
    let expires: Int64?

    package init(identity: [UInt8], hash: Int, place: [UInt8] = [], expires: Int64? = nil) {
        self.identity = identity
        self.hash = hash
        self.place = place
        self.expires = expires
    }

    func precedes(_ other: LiveEntry) -> Bool {
        place != other.place ? place.precedes(other.place) : identity.precedes(other.identity)
    }

    fileprivate func isSameRow(as other: LiveEntry) -> Bool { self === other || identity == other.identity }
}

extension RowDifference {
    /// - Complexity: O(n), and O(d log d) in the rows between the first and the last that differ.
    package init(from old: [LiveEntry], to new: [LiveEntry]) {
        var first = 0
        var (oldEnd, newEnd) = (old.count, new.count)
        while first < min(oldEnd, newEnd), old[first].isSameRow(as: new[first]) {
            if old[first].hash != new[first].hash { updated.append(first) }
            first += 1
        }
        var updatedAtEnd: [Int] = []
        while first < min(oldEnd, newEnd), old[oldEnd - 1].isSameRow(as: new[newEnd - 1]) {
            (oldEnd, newEnd) = (oldEnd - 1, newEnd - 1)
            if old[oldEnd].hash != new[newEnd].hash { updatedAtEnd.append(newEnd) }
        }
        var places: [[UInt8]: Int] = [:]
        for place in first..<newEnd { places[new[place].identity] = place }
        var kept: [Move] = []
        for from in first..<oldEnd {
            guard let to = places.removeValue(forKey: old[from].identity) else {
                removed.append(from)
                continue
            }
            kept.append(Move(from: from, to: to))
            if old[from].hash != new[to].hash { updated.append(to) }
        }
        inserted = places.values.sorted()
        updated = updated.sorted() + updatedAtEnd.reversed()
        let standing = Self.longestAscending(kept.map(\.to))
        moved = kept.enumerated().filter { !standing.contains($0.offset) }.map(\.element).sorted { $0.to < $1.to }
    }

    /// The places of a longest ascending part of different numbers.
    private static func longestAscending(_ numbers: [Int]) -> Set<Int> {
        // For each length the place of the least number that ends such a part, and for each place the one before it.
        var ends: [Int] = []
        var before: [Int?] = []
        for (place, number) in numbers.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            before.append(low > 0 ? ends[low - 1] : nil)
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var part: Set<Int> = []
        var place = ends.last
        while let here = place {
            part.insert(here)
            place = before[here]
        }
        return part
    }
}
