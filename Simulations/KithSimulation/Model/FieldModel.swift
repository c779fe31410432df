/// What the fields of a revision must be, told by the rules a user is told and none of the product's code: of two writes
/// of one field the later stamp counts, a removed field stays removed unless somebody writes it later, and paths that have
/// a policy of their own go by it (`PolicyModel`).
///
/// It knows no registers that compete with deeper fields; documents that have these are left out (`isModelled`).
struct FieldModel: Equatable {
    struct Entry: Equatable {
        /// A JSON Pointer of one or two keys.
        let path: String
        let time: UInt64
        let writer: UInt64
        /// Canonical JSON; nil for a removed field.
        let value: String?

        func counts(over other: Entry) -> Bool {
            if time != other.time { return time > other.time }
            if writer != other.writer { return writer > other.writer }
            guard let value else { return false }
            guard let its = other.value else { return true }
            return its.utf8.lexicographicallyPrecedes(value.utf8)
        }

        static func == (left: Self, right: Self) -> Bool {
            left.path.utf8.elementsEqual(right.path.utf8) && left.time == right.time && left.writer == right.writer
                && left.value.map { Array($0.utf8) } == right.value.map { Array($0.utf8) }
        }
    }

    /// In byte order of path.
    private(set) var entries: [Entry] = []

    private func index(of path: String) -> Int? { entries.firstIndex { $0.path.utf8.elementsEqual(path.utf8) } }

    private mutating func put(_ entry: Entry) {
        if let index = index(of: entry.path) {
            entries[index] = entry
        } else {
            let place = entries.firstIndex { entry.path.utf8.lexicographicallyPrecedes($0.path.utf8) }
            entries.insert(entry, at: place ?? entries.count)
        }
    }

    /// A client writes a body.
    func written(_ body: [(path: String, value: String)], time: UInt64, writer: UInt64) -> FieldModel {
        var result = self
        for entry in entries where entry.value != nil {
            if !body.contains(where: { $0.path.utf8.elementsEqual(entry.path.utf8) }) {
                result.put(Entry(path: entry.path, time: time, writer: writer, value: nil))
            }
        }
        for (path, value) in body {
            if let index = index(of: path), let old = entries[index].value, old.utf8.elementsEqual(value.utf8) {
                continue
            }
            result.put(Entry(path: path, time: time, writer: writer, value: value))
        }
        return result
    }

    func merged(with other: FieldModel, by policy: PolicyModel) -> FieldModel {
        var result = self
        for entry in other.entries {
            guard let index = index(of: entry.path) else {
                result.put(entry)
                continue
            }
            result.put(policy.joined(entries[index], entry))
        }
        for group in policy.groups {
            let (mine, its) = (register(group), other.register(group))
            result.entries.removeAll { PolicyModel.isIn(group, $0.path) }
            for entry in PolicyModel.counts(mine, over: its) ? mine : its { result.put(entry) }
        }
        return result
    }

    /// The entries of paths that are together.
    private func register(_ group: [String]) -> [Entry] { entries.filter { PolicyModel.isIn(group, $0.path) } }

    /// What a reader must get, byte for byte.
    var body: String { Self.body(of: entries.compactMap { entry in entry.value.map { (entry.path, $0) } }) }

    /// Canonical JSON of fields with one or two keys.
    static func body(of fields: [(path: String, value: String)]) -> String {
        var top: [(key: String, value: String)] = []
        var nested: [(key: String, members: [(key: String, value: String)])] = []
        for (path, value) in fields {
            let keys = path.split(separator: "/").map(String.init)
            if keys.count == 1 {
                top.append((keys[0], value))
            } else if let index = nested.firstIndex(where: { $0.key.utf8.elementsEqual(keys[0].utf8) }) {
                nested[index].members.append((keys[1], value))
            } else {
                nested.append((keys[0], [(keys[1], value)]))
            }
        }
        for (key, members) in nested { top.append((key, object(members))) }
        return object(top)
    }

    private static func object(_ members: [(key: String, value: String)]) -> String {
        let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return "{" + sorted.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }
}
