import KithDocument

/// What has been encoded so far at one place of a value: a type's code may fill several containers at once.
final class EncodedPlace {
    enum Child {
        case change(FieldChanges.Change)
        case place(EncodedPlace)
    }

    private enum Content {
        case nothing
        case change(FieldChanges.Change)
        case array([Child])
        case object([(key: String, child: Child)])
    }

    private var content = Content.nothing
    /// Set where the type asked for two kinds of container.
    private var isContradictory = false

    func set(_ change: FieldChanges.Change) {
        if case .nothing = content { content = .change(change) } else { isContradictory = true }
    }

    func becomeArray() {
        switch content {
        case .nothing: content = .array([])
        case .array: break
        default: isContradictory = true
        }
    }

    func becomeObject() {
        switch content {
        case .nothing: content = .object([])
        case .object: break
        default: isContradictory = true
        }
    }

    var count: Int {
        if case .array(let array) = content { array.count } else { 0 }
    }

    func append(_ child: Child) {
        guard case .array(var array) = content else { return isContradictory = true }
        content = .nothing  // The array is held once, so that it grows in place.
        array.append(child)
        content = .array(array)
    }

    func append(_ child: Child, for key: String) {
        guard case .object(var members) = content else { return isContradictory = true }
        content = .nothing
        members.append((key, child))
        content = .object(members)
    }

    /// The place of a container within, begun before or new.
    func place(for key: String) -> EncodedPlace {
        if case .object(let members) = content {
            for case (key, .place(let place)) in members { return place }
        }
        let place = EncodedPlace()
        append(.place(place), for: key)
        return place
    }

    /// What stands here in the end. Of values with one key the last counts; what encoded nothing is an empty object.
    func change(at path: [any CodingKey]) throws -> FieldChanges.Change {
        if isContradictory {
            throw DocumentCodingError(
                path: path.pointer, reason: "is encoded by its type both as an object and as something else")
        }
        switch content {
        case .nothing: return .members(FieldChanges())
        case .change(let change): return change
        case .array(let children):
            return .set(
                .array(
                    try children.enumerated().map {
                        try change(of: $0.element, at: path + [PlaceKey(index: $0.offset)]).json
                    }))
        case .object(let members): return .members(FieldChanges(try sorted(members, at: path)))
        }
    }

    func json(at path: [any CodingKey]) throws -> JSONValue { try change(at: path).json }

    private func sorted(
        _ members: [(key: String, child: Child)], at path: [any CodingKey]
    ) throws -> [(key: String, change: FieldChanges.Change)] {
        let sorted = members.enumerated().sorted { left, right in
            let (one, other) = (left.element.key.utf8, right.element.key.utf8)
            if one.elementsEqual(other) { return left.offset < right.offset }
            return one.lexicographicallyPrecedes(other)
        }
        var changes: [(key: String, change: FieldChanges.Change)] = []
        for (key, child) in sorted.map(\.element) {
            let change = try change(of: child, at: path + [PlaceKey(stringValue: key)])
            if let last = changes.last, last.key.utf8.elementsEqual(key.utf8) { changes.removeLast() }
            changes.append((key, change))
        }
        return changes
    }

    private func change(of child: Child, at path: [any CodingKey]) throws -> FieldChanges.Change {
        switch child {
        case .change(let change): change
        case .place(let place): try place.change(at: path)
        }
    }
}
