import KithDocument
import KithMerge

/// Policies by path, written down a second time from docs/merge.md in the plainest way, and the text that asks the real
/// code for the same. Numbers are integers that fit, elements have no commas.
struct ReferencePolicy {
    var paths: [(path: ReferenceFields.Path, rule: String)] = []
    var groups: [[ReferenceFields.Path]] = []

    var json: String {
        func quoted(_ path: ReferenceFields.Path) -> String { "\"/\(path.joined(separator: "/"))\"" }
        let rules = paths.map { "\(quoted($0.path)):\"\($0.rule)\"" }.joined(separator: ",")
        let lists = groups.map { "[\($0.map(quoted).joined(separator: ","))]" }.joined(separator: ",")
        return "{\"default\":\"latest\",\"paths\":{\(rules)},\"together\":[\(lists)]}"
    }

    /// The real one.
    func real() throws -> any MergePolicy { try MergePolicies.described(by: Array(json.utf8)).policy }

    func merge(_ leaves: [ReferenceFields]) -> ReferenceFields {
        var merged = leaves.reduce(ReferenceFields()) { $0.joined(with: $1) }
        for (path, rule) in paths {
            let entries = leaves.compactMap { $0.entries[path] }
            let counting = entries.filter { $0.value.map { Self.counts($0, rule) } ?? false }
            guard let stamp = counting.map(\.stamp).max() else { continue }
            merged.entries[path] = .init(stamp: stamp, value: Self.value(counting.compactMap(\.value), rule))
        }
        for group in groups {
            merged.entries = merged.entries.filter { !Self.isIn(group, $0.key) }
            let registers = leaves.map { register(group, of: $0) }
            let highest = registers.reduce(registers[0]) { Self.outranks($1, $0) ? $1 : $0 }
            merged.entries.merge(highest) { $1 }
        }
        return merged
    }

    func register(_ group: [ReferenceFields.Path], of fields: ReferenceFields) -> World.Writes {
        fields.entries.filter { Self.isIn(group, $0.key) }
    }

    static func isIn(_ group: [ReferenceFields.Path], _ path: ReferenceFields.Path) -> Bool {
        group.contains { path.starts(with: $0) }
    }

    static func counts(_ value: String, _ rule: String) -> Bool {
        rule == "union" ? value.hasPrefix("[") : Int(value) != nil
    }

    static func elements(_ array: String) -> [String] {
        array.dropFirst().dropLast().split(separator: ",").map(String.init)
    }

    private static func value(_ values: [String], _ rule: String) -> String {
        switch rule {
        case "max": String(values.compactMap { Int($0) }.max() ?? 0)
        case "min": String(values.compactMap { Int($0) }.min() ?? 0)
        default:
            Set(values).count == 1
                ? values[0] : "[\(Set(values.flatMap(elements)).sorted().joined(separator: ","))]"
        }
    }

    private static func outranks(_ one: World.Writes, _ other: World.Writes) -> Bool {
        let (mine, its) = (one.values.map(\.stamp).max(), other.values.map(\.stamp).max())
        guard let mine else { return false }
        guard let its, mine == its else { return its.map { mine > $0 } ?? true }
        let first = Set(one.keys).union(other.keys).filter { one[$0] != other[$0] }
            .min { ReferenceFields.body(of: [$0: "0"]) < ReferenceFields.body(of: [$1: "0"]) }
        guard let first, let entry = one[first] else { return false }
        return other[first].map { entry.outranks($0) } ?? true
    }
}
