/// An instance name as DNS-SD gives it, compared by its bytes (Swift's `String` takes different bytes for equal).
package struct InstanceName: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    package init(_ text: String) { bytes = Array(text.utf8) }

    package var description: String { String(decoding: bytes, as: UTF8.self) }

    package static func < (left: Self, right: Self) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

/// The instances that a browse has named, by name and interface.
///
/// Avahi reports each addition and removal once per IP version without saying which, so reports are counted: an
/// instance is present while any interface has more additions than removals. One that is removed stays as stale, a hint
/// to try late: nodes are never forgotten because a browse says so.
package struct SeenServices: Sendable {
    private struct Entry {
        var additions: [UInt32: Int] = [:]
        /// When the entry last turned stale, counted in removals; the oldest go first.
        var staleSince: UInt64 = 0
    }

    private var entries: [InstanceName: Entry] = [:]
    private var removals: UInt64 = 0
    /// Instances that found no room.
    package private(set) var refused = 0

    package init() {}

    /// Takes one addition; true when it makes an instance or an interface of it present.
    package mutating func added(_ name: InstanceName, interface: UInt32) -> Bool {
        if entries[name] == nil, entries.count >= Limits.services, !dropOldestStale() {
            refused += 1
            return false
        }
        var entry = entries[name] ?? Entry()
        guard entry.additions[interface] != nil || entry.additions.count < Limits.interfacesPerService else {
            return false
        }
        let count = entry.additions[interface, default: 0]
        entry.additions[interface] = min(count + 1, 1_000)
        entries[name] = entry
        return count == 0
    }

    /// Takes one removal; true when the instance is gone from the interface with it.
    package mutating func removed(_ name: InstanceName, interface: UInt32) -> Bool {
        guard var entry = entries[name], let count = entry.additions[interface] else { return false }
        entry.additions[interface] = count > 1 ? count - 1 : nil
        if entry.additions.isEmpty {
            removals += 1
            entry.staleSince = removals
        }
        entries[name] = entry
        if stale.count > Limits.staleServices { _ = dropOldestStale() }
        return count == 1
    }

    /// Makes every instance stale: the browse is made anew and will name those that are still there.
    package mutating func startOver() {
        for name in entries.keys.sorted() where !entries[name]!.additions.isEmpty {
            removals += 1
            entries[name] = Entry(staleSince: removals)
        }
        while stale.count > Limits.staleServices, dropOldestStale() {}
    }

    /// All instances, in the order of their names.
    package var names: [InstanceName] { entries.keys.sorted() }

    /// Whether the instance is present now.
    package func isPresent(_ name: InstanceName) -> Bool { entries[name].map { !$0.additions.isEmpty } ?? false }

    /// The interfaces on which the instance is present, in order.
    package func interfaces(of name: InstanceName) -> [UInt32] { entries[name]?.additions.keys.sorted() ?? [] }

    private var stale: [(name: InstanceName, since: UInt64)] {
        entries.filter(\.value.additions.isEmpty).map { ($0.key, $0.value.staleSince) }
    }

    private mutating func dropOldestStale() -> Bool {
        guard let oldest = stale.min(by: { $0.since < $1.since }) else { return false }
        entries[oldest.name] = nil
        return true
    }
}
