#if KITH_MUTANTS
import KithSystem
#endif

/// The fields of a revision: for each leaf path of the object its value and stamp, removed and hidden ones too.
///
/// This is what is merged. A value is canonical JSON: a scalar, an array as one value, or `{}`; an object with members
/// is no value but the paths under it. The body is what the fields show (`Fields+Showing.swift`).
package struct Fields: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        case absent
        /// Canonical JSON.
        case present([UInt8])
    }

    package struct Entry: Hashable, Sendable {
        package let path: FieldPath
        package let stamp: Stamp
        package let value: Value

        package init(path: FieldPath, stamp: Stamp, value: Value) {
            self.path = path
            self.stamp = stamp
            self.value = value
        }

        /// Which of two entries of one path counts: the higher stamp, then the higher value in byte order, a removal
        /// being below every value. (Two values of one stamp come from policies by path, and from writers that break rules.)
        package func outranks(_ other: Entry) -> Bool {
            if stamp != other.stamp { return stamp > other.stamp }
            return switch (value, other.value) {
            case (.absent, _): false
            case (.present, .absent): true
            case (.present(let mine), .present(let its)): its.precedes(mine)
            }
        }
    }

    /// Ascending by path, each path once.
    package let entries: [Entry]

    /// - Parameter ascending: ascending strictly by path.
    package init(ascending entries: [Entry]) {
        assert(zip(entries, entries.dropFirst()).allSatisfy { $0.path < $1.path }, "fields ascend by path")
        self.entries = entries
    }

    /// The fields of a revision from its body and stamps.
    /// - Complexity: O(fields + exceptions).
    package init(body: [UInt8], stamps: FieldStamps) {
        var entries: [Entry] = []
        var exceptions = stamps.exceptions[...]
        func takeExceptions(before path: FieldPath?) {
            while let next = exceptions.first, path.map({ next.path < $0 }) ?? true {
                exceptions.removeFirst()
                switch next.state {
                case .visible: break  // Names no leaf of the body: a decoder refuses it, here it says nothing.
                case .absent: entries.append(Entry(path: next.path, stamp: next.stamp, value: .absent))
                case .hidden(let value):
                    entries.append(Entry(path: next.path, stamp: next.stamp, value: .present(value)))
                }
            }
        }
        for leaf in Self.leaves(of: body) {
            takeExceptions(before: leaf.path)
            var stamp = stamps.defaultStamp
            if let exception = exceptions.first, exception.path == leaf.path {
                stamp = exception.stamp
                exceptions.removeFirst()
            }
            entries.append(Entry(path: leaf.path, stamp: stamp, value: .present(leaf.value)))
        }
        takeExceptions(before: nil)
        self.init(ascending: entries)
    }

    /// The leaves of a canonical object: scalars, arrays and empty objects, ascending by path.
    package static func leaves(of body: [UInt8]) -> [(path: FieldPath, value: [UInt8])] {
        var leaves: [(path: FieldPath, value: [UInt8])] = []
        body.withUnsafeBytes { bytes in
            CanonicalJSON.forEachLeaf(of: bytes) { path, value in
                leaves.append((FieldPath(encoded: path), Array(bytes[value])))
            }
        }
        return leaves
    }

    /// Whether bytes are what a field may hold: canonical JSON, but no object with members.
    package static func isLeafValue(_ value: [UInt8]) -> Bool {
        guard value.first != UInt8(ascii: "{") || value.count == 2 else { return false }
        return value.withUnsafeBytes { CanonicalJSON.isCanonicalValue($0) }
    }

    /// Per path the entry that outranks the other: commutative, associative, idempotent.
    /// - Complexity: O(n + m).
    package func joined(with other: Fields) -> Fields {
        var joined: [Entry] = []
        joined.reserveCapacity(max(entries.count, other.entries.count))
        var (left, right) = (entries[...], other.entries[...])
        while let one = left.first, let two = right.first {
            if one.path < two.path {
                joined.append(one)
                left.removeFirst()
            } else if two.path < one.path {
                joined.append(two)
                right.removeFirst()
            } else {
                #if KITH_MUTANTS
                joined.append(one.outranks(two) && !Mutant.isActive(.mergesByOrder) ? one : two)
                #else
                joined.append(one.outranks(two) ? one : two)
                #endif
                left.removeFirst()
                right.removeFirst()
            }
        }
        joined.append(contentsOf: left)
        joined.append(contentsOf: right)
        return Fields(ascending: joined)
    }
}
