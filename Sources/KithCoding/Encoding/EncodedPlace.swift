import KithDocument

/// What has been encoded so far at one place of a value: a type's code may fill several containers at once.
final class EncodedPlace {
    enum Child {
        case json(JSONValue)
        case place(EncodedPlace)
    }

    private enum Content {
        case nothing
        case json(JSONValue)
        case array([Child])
        case object([(key: String, child: Child)])
    }

    private var content = Content.nothing
    /// Set where the type asked for two kinds of container.
    private var isContradictory = false

    func set(_ json: JSONValue) {
        if case .nothing = content { content = .json(json) } else { isContradictory = true }
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
    func json(at path: [any CodingKey]) throws -> JSONValue {
        if isContradictory {
            throw DocumentCodingError(
                path: path.pointer, reason: "is encoded by its type both as an object and as something else")
        }
        switch content {
        case .nothing: return .object(JSONObject())
        case .json(let json): return json
        case .array(let children):
            return .array(
                try children.enumerated().map { try json(of: $0.element, at: path + [PlaceKey(index: $0.offset)]) })
        case .object(let members):
            let sorted = members.enumerated().sorted { left, right in
                let (one, other) = (left.element.key.utf8, right.element.key.utf8)
                if one.elementsEqual(other) { return left.offset < right.offset }
                return one.lexicographicallyPrecedes(other)
            }
            return .object(
                JSONObject(
                    try sorted.map {
                        let (key, child) = $0.element
                        return (key, try json(of: child, at: path + [PlaceKey(stringValue: key)]))
                    }))
        }
    }

    private func json(of child: Child, at path: [any CodingKey]) throws -> JSONValue {
        switch child {
        case .json(let json): json
        case .place(let place): try place.json(at: path)
        }
    }
}
