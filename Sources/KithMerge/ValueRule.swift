internal import KithDocument

/// What the policy of a path makes of the values that the leaves have there.
///
/// Values of the rule's kind go before all others and before the absence of the field. Of several the rule makes one,
/// and the entry has the highest of their stamps. Where none is of the kind the later stamp counts, as everywhere.
/// Entries are so joined whatever their order and grouping, as long as values are.
package protocol ValueRule: Sendable {
    /// The word that names the rule in a policy.
    static var name: String { get }

    /// Whether a value is of the rule's kind.
    /// - Parameter value: canonical JSON.
    func takes(_ value: [UInt8]) -> Bool

    /// One value of several, of which the order, the grouping and repetitions say nothing.
    /// - Parameter values: one or more of the rule's kind.
    func join(_ values: [[UInt8]]) -> [UInt8]
}

extension ValueRule {
    /// The entry that a merge has for a path.
    /// - Parameter entries: one or more, of one path.
    func join(_ entries: [Fields.Entry]) -> Fields.Entry {
        var values: [[UInt8]] = []
        var stamp = Stamp.zero
        for entry in entries {
            guard case .present(let value) = entry.value, takes(value) else { continue }
            values.append(value)
            stamp = max(stamp, entry.stamp)
        }
        guard values.isEmpty else {
            return Fields.Entry(path: entries[0].path, stamp: stamp, value: .present(join(values)))
        }
        return entries.dropFirst().reduce(entries[0]) { $1.outranks($0) ? $1 : $0 }
    }
}

/// The rules of values by their names: a new one is one type and one line here.
enum ValueRules {
    private static let all: [(name: String, rule: any ValueRule)] = [
        (GreatestNumber.name, GreatestNumber()),
        (LeastNumber.name, LeastNumber()),
        (GrowingSet.name, GrowingSet()),
    ]

    /// The names, for messages.
    static var names: [String] { all.map(\.name) }

    static func named(_ name: String) -> (any ValueRule)? {
        all.first { $0.name.utf8.elementsEqual(name.utf8) }?.rule
    }
}
