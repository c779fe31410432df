import KithDocument

/// What fields are and do, written down a second time from docs/merge.md in the plainest way: the oracle that the real
/// `Fields` is held against.
struct ReferenceFields: Equatable, CustomStringConvertible {
    struct Entry: Equatable {
        let stamp: Stamp
        /// Canonical JSON; nil where the field was removed.
        let value: String?

        func outranks(_ other: Entry) -> Bool {
            if stamp != other.stamp { return stamp > other.stamp }
            guard let value else { return false }
            guard let its = other.value else { return true }
            return its.utf8.lexicographicallyPrecedes(value.utf8)
        }
    }

    typealias Path = [String]
    typealias Leaves = [Path: String]

    var entries: [Path: Entry] = [:]

    init() {}

    /// The real fields in this form.
    init(_ fields: Fields) {
        for entry in fields.entries {
            let keys = entry.path.pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            let value: String? =
                switch entry.value {
                case .absent: nil
                case .present(let bytes): String(decoding: bytes, as: UTF8.self)
                }
            entries[keys.map(String.init)] = Entry(stamp: entry.stamp, value: value)
        }
    }

    func joined(with other: ReferenceFields) -> ReferenceFields {
        var joined = self
        for (path, entry) in other.entries {
            if let mine = joined.entries[path], !entry.outranks(mine) { continue }
            joined.entries[path] = entry
        }
        return joined
    }

    /// The leaves that show.
    var shown: Leaves {
        var shown: Leaves = [:]
        show(under: [], in: &shown)
        return shown
    }

    private func show(under place: Path, in shown: inout Leaves) {
        let keys = Set(entries.keys.filter { $0.count > place.count && $0.starts(with: place) }.map { $0[place.count] })
        for key in keys {
            let path = place + [key]
            let under = entries.filter {
                $0.key.count > path.count && $0.key.starts(with: path) && $0.value.value != nil
            }
            let highestUnder = under.values.map(\.stamp).max()
            if let entry = entries[path], let value = entry.value {
                let showsItself = highestUnder.map { value != "{}" && entry.stamp > $0 } ?? true
                if showsItself {
                    shown[path] = value
                    continue
                }
            }
            show(under: path, in: &shown)
        }
    }

    /// The fields after other leaves are written over those that show; nil when they are the same.
    func edited(to leaves: Leaves, stamp: Stamp, absentLimit: Int) -> ReferenceFields? {
        let shown = shown
        let changed = Set(leaves.keys).union(shown.keys).filter { leaves[$0] != shown[$0] }
        if changed.isEmpty { return nil }
        var edited = self
        for path in entries.keys where shown[path] == nil && leaves[path] == nil {
            let isTouched = changed.contains { $0.starts(with: path) || path.starts(with: $0) }
            if isTouched { edited.entries[path] = Entry(stamp: stamp, value: nil) }
        }
        for path in changed { edited.entries[path] = Entry(stamp: stamp, value: leaves[path]) }
        edited.trimAbsent(to: absentLimit)
        return edited
    }

    private mutating func trimAbsent(to limit: Int) {
        let absent = entries.filter { $0.value.value == nil }.sorted { one, other in
            one.value.stamp != other.value.stamp
                ? one.value.stamp > other.value.stamp : Self.body(of: [one.key: "0"]) < Self.body(of: [other.key: "0"])
        }
        for (path, _) in absent.dropFirst(limit) { entries[path] = nil }
    }

    var description: String {
        entries.map { path, entry in
            "/\(path.joined(separator: "/"))=\(entry.value ?? "absent")@\(entry.stamp.time):\(entry.stamp.writer)"
        }.sorted().joined(separator: " ")
    }

    /// The text of an object with these leaves. Keys are plain letters here.
    static func body(of leaves: Leaves) -> String {
        if leaves.isEmpty { return "{}" }
        let keys = Set(leaves.keys.map { $0[0] }).sorted()
        let members = keys.map { key in
            if let value = leaves[[key]] { return "\"\(key)\":\(value)" }
            let under = leaves.filter { $0.key[0] == key }.map { (Array($0.key.dropFirst()), $0.value) }
            return "\"\(key)\":\(body(of: Leaves(uniqueKeysWithValues: under)))"
        }
        return "{" + members.joined(separator: ",") + "}"
    }
}
