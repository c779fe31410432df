/// Counts by name, in the order of names.
package struct Tally: Hashable, Sendable {
    private var counts: [String: Int] = [:]

    package init() {}

    package mutating func add(_ name: String, _ count: Int = 1) { counts[name, default: 0] += count }

    package mutating func add(_ other: Tally) { for (name, count) in other.sorted { add(name, count) } }

    package subscript(name: String) -> Int { counts[name] ?? 0 }

    package var sorted: [(name: String, count: Int)] {
        counts.map { (name: $0.key, count: $0.value) }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}
