import KithDocument

/// What is to become of the members of an object; those that it does not name stay.
struct FieldChanges: Sendable {
    indirect enum Change: Sendable {
        case set(KithDocument.JSONValue)
        case remove
        /// Where an object stands, its members; else a new object of those that are set.
        case members(FieldChanges)
    }

    private(set) var members: [(key: String, change: Change)] = []

    var isEmpty: Bool { members.isEmpty }

    init() {}

    /// What makes one object of the other.
    init(from base: JSONObject, to now: JSONObject) {
        for (key, value) in now {
            guard let old = base[key] else {
                add(key, .set(value))
                continue
            }
            if old == value { continue }
            if case .object(let mine) = value, case .object(let its) = old {
                add(key, .members(FieldChanges(from: its, to: mine)))
            } else {
                add(key, .set(value))
            }
        }
        for (key, _) in base where now[key] == nil { add(key, .remove) }
    }

    mutating func add(_ key: String, _ change: Change) { members.append((key, change)) }

    /// - Complexity: O(changes × members).
    func applied(to object: JSONObject) -> JSONObject {
        var object = object
        for (key, change) in members {
            switch change {
            case .set(let value): object[key] = value
            case .remove: object[key] = nil
            case .members(let changes): object[key] = .object(changes.applied(to: object[key]?.object ?? JSONObject()))
            }
        }
        return object
    }
}
