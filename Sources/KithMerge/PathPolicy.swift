package import KithDocument

/// Policies by path: `latest` for all fields but those at the paths that it names.
///
/// Each part is a join of entries at its own paths, and no path is in two parts, so the whole is a join of fields.
package struct PathPolicy: MergePolicy {
    /// Stands beside a stored statement, never in one.
    package static let name = "paths"

    /// By path, for the values there; what is under such a path merges as elsewhere.
    let rules: [(path: FieldPath, rule: any ValueRule)]
    let groups: [FieldGroup]

    package func merge(_ leaves: [MergeLeaf]) -> Fields? {
        guard let latest = LatestPolicy().merge(leaves) else { return nil }
        let fields = leaves.map(\.fields)
        var parts: [(range: Range<Int>, entries: [Fields.Entry])] = []
        for (path, rule) in rules {
            guard let index = latest.index(of: path) else { continue }
            let entry = rule.join(fields.compactMap { one in one.index(of: path).map { one.entries[$0] } })
            if case .present(let value) = entry.value, value.count > DocumentLimits.documentBytes { return nil }
            parts.append((index..<index + 1, [entry]))
        }
        for group in groups { parts.append(contentsOf: group.parts(of: latest, merging: fields)) }
        return latest.replacing(parts.sorted { $0.range.lowerBound < $1.range.lowerBound })
    }
}
