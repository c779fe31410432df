import KithDocument

/// What is to become of the members of an object; those that it does not name stay.
package struct FieldChanges: Sendable {
    package indirect enum Change: Sendable {
        case set(JSONValue)
        case remove
        /// Where an object stands, its members; else a new object of those that are set.
        case members(FieldChanges)
    }

    /// Ascending by the bytes of the keys, each once.
    package let members: [(key: String, change: Change)]

    package var isEmpty: Bool { members.isEmpty }

    init(_ members: [(key: String, change: Change)] = []) { self.members = members }

    /// Sets all members of an object.
    package init(setting object: JSONObject) { members = object.map { ($0.key, .set($0.value)) } }

    /// What makes one object of the other, each member by itself.
    package init(from was: JSONObject, to now: JSONObject) { self.init(from: was, to: now, in: was) }

    /// What a model changes of a document that knows more than the model.
    /// - Parameters:
    ///   - was: what the model made of the stored object.
    ///   - now: what it makes of its new value.
    ///   - stored: has more members than the model knows; elements of its arrays keep them where they can be told apart.
    init(from was: JSONObject, to now: JSONObject, in stored: JSONObject) {
        var members: [(key: String, change: Change)] = []
        for key in JSONObject((was.keys + now.keys).map { ($0, .null) }).keys {
            switch (was[key], now[key]) {
            case (let was, let now) where was == now: break
            // What the model reads as nil may be missing already.
            case (_, nil): if stored[key] != nil { members.append((key, .remove)) }
            case (let was, let now?): members.append((key, Change(from: was, to: now, in: stored[key])))
            }
        }
        self.members = members
    }

    /// - Complexity: O(changes × log members), and O(members) for each that is added.
    package func applied(to object: JSONObject) -> JSONObject {
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

    /// The fields that are changed, as JSON Pointers (RFC 6901) in the order of the object. An array is one field: its elements
    /// have no stamps of their own.
    package var paths: [String] {
        members.flatMap { key, change in
            let place = "/\(key.escapedForPointer)"
            guard case .members(let changes) = change, !changes.isEmpty else { return [place] }
            return changes.paths.map { place + $0 }
        }
    }
}

extension FieldChanges.Change {
    /// Of a value that was changed.
    init(from was: JSONValue?, to now: JSONValue, in stored: JSONValue?) {
        switch (stored, was, now) {
        case (.object(let stored), .object(let was), .object(let now)):
            self = .members(FieldChanges(from: was, to: now, in: stored))
        case (.array(let stored), .array(let was), .array(let now)) where stored.count == was.count && stored != was:
            self = .set(.array(ArrayMerge(stored: stored, was: was).merged(now)))
        // Somebody else may have made one meanwhile: both have their members.
        case (_, nil, .object(let now)) where !now.isEmpty:
            self = .members(FieldChanges(from: JSONObject(), to: now, in: stored?.object ?? JSONObject()))
        default: self = .set(now)
        }
    }

    /// What was nothing before becomes.
    var json: JSONValue {
        switch self {
        case .set(let value): value
        case .remove: .null
        case .members(let changes): .object(changes.applied(to: JSONObject()))
        }
    }
}

/// Finds for each element of a changed array the one that it was, so that it keeps what the model does not know of it.
private struct ArrayMerge {
    let stored: [JSONValue]
    let was: [JSONValue]

    func merged(_ now: [JSONValue]) -> [JSONValue] {
        var isFree = was.map { _ in true }
        var origins: [Int?] = now.map { _ in nil }
        func match(_ fits: (_ old: Int, _ new: Int) -> Bool) {
            for new in now.indices where origins[new] == nil {
                // In its own place first.
                let places = (isFree.indices.contains(new) ? [new] : []) + Array(isFree.indices)
                guard let old = places.first(where: { isFree[$0] && fits($0, new) }) else { continue }
                (origins[new], isFree[old]) = (old, false)
            }
        }
        match { was[$0] == now[$1] }
        match { old, new in was[old]["id"].map { $0 == now[new]["id"] } ?? false }
        if was.count == now.count {
            match { old, new in old == new && was[old]["id"] == nil && now[new]["id"] == nil }
        }
        return zip(now, origins).map { element, origin in
            guard let origin else { return element }
            return was[origin] == element ? stored[origin] : Self.element(stored[origin], was[origin], element)
        }
    }

    private static func element(_ stored: JSONValue, _ was: JSONValue, _ now: JSONValue) -> JSONValue {
        guard case (.object(let stored), .object(let was), .object(let now)) = (stored, was, now) else { return now }
        return .object(FieldChanges(from: was, to: now, in: stored).applied(to: stored))
    }
}
