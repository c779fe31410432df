import KithDocument
import Synchronization

/// A step from a model to something in it.
package enum ModelStep: Hashable, Sendable {
    case member(any AnyKeyPath & Sendable)
    /// An element of an array: the path begins anew there.
    case element

    package static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.member(let mine), .member(let its)): (mine as AnyKeyPath) == (its as AnyKeyPath)
        case (.element, .element): true
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        if case .member(let keyPath) = self { hasher.combine(keyPath as AnyKeyPath) }
    }
}

/// Where the fields of a model are in its documents, without its type.
package protocol ModelFields: Sendable {
    /// The names on the way to what the steps lead to, from the last element of an array on.
    /// - Throws: `DocumentCodingError` that names the key path, where it leads to no stored field.
    func place(of steps: [ModelStep]) throws(DocumentCodingError) -> [String]

    /// Whether a place from the model on is its id, which is not in the body.
    func isID(_ place: [String]) -> Bool
}

/// What a type makes of its values, seen at values that differ in one field each.
///
/// A key path leads to the field whose JSON is what the key path reads, in all of the values. So nothing depends on names
/// that the compiler may or may not keep, coding keys may be other names, and coding may be written by hand.
package final class ModelShape<Model: Codable & Sendable>: Sendable {
    private struct Variant: Sendable {
        let model: Model
        let body: JSONValue
    }

    private let variants: [Variant]
    private let known = Mutex<[[ModelStep]: [String]]>([:])

    /// - Parameter examples: two or more that differ in every field; where there are none, values are made up.
    /// - Throws: `DocumentCodingError` with the path of what can't be made up, encoded or decoded.
    /// - Complexity: the coding of as many values as the type has fields.
    package init(examples: [Model] = []) throws(DocumentCodingError) {
        variants = try examples.isEmpty ? Self.madeUp() : Self.mixed(examples)
    }

    private static func madeUp() throws(DocumentCodingError) -> [Variant] {
        let probe = ModelProbe()
        let json = try probe.json(of: Model.self)
        var variants = [try variant(json)]
        for leaf in probe.leaves {
            guard let other = leaf.other else { continue }
            // A type may refuse what fits it field by field; another value then shows the field.
            if let variant = try? variant(json.replacing(leaf.path[...], with: other)) { variants.append(variant) }
        }
        return variants
    }

    private static func mixed(_ examples: [Model]) throws(DocumentCodingError) -> [Variant] {
        var variants: [Variant] = []
        for example in examples {
            variants.append(Variant(model: example, body: try DocumentEncoder().json(of: example)))
        }
        let first = variants[0].body
        for other in variants.dropFirst().map(\.body) {
            for path in other.leafPaths {
                guard let value = other.value(at: path[...]) else { continue }
                if let variant = try? variant(first.replacing(path[...], with: value)) { variants.append(variant) }
            }
        }
        return variants
    }

    private static func variant(_ json: JSONValue) throws(DocumentCodingError) -> Variant {
        let model = try DocumentDecoder().value(Model.self, from: json)
        return Variant(model: model, body: try DocumentEncoder().json(of: model))
    }

    /// As `ModelFields` has it.
    package func place(of steps: [ModelStep]) throws(DocumentCodingError) -> [String] {
        if let place = known.withLock({ $0[steps] }) { return place }
        let place = try found(steps)
        known.withLock { $0[steps] = place }
        return place
    }

    /// Whether all values have a text at a place.
    func isText(_ place: [String]) -> Bool {
        variants.allSatisfy { $0.body.value(at: place[...])?.string != nil }
    }

    private func found(_ steps: [ModelStep]) throws(DocumentCodingError) -> [String] {
        // What the steps so far lead to in each of the variants.
        var reached: [(value: Any, json: JSONValue)] = variants.map { ($0.model, $0.body) }
        var place: [String] = []
        for step in steps {
            switch step {
            case .element:
                reached = reached.compactMap { value, json in
                    guard let first = json.array?.first else { return nil }
                    return element(of: value, with: first).map { ($0, first) }
                }
                place = []
            case .member(let keyPath):
                let keyPath: AnyKeyPath = keyPath
                let read = reached.compactMap { value, json in unwrapped(value)[keyPath: keyPath].map { ($0, json) } }
                let path = try path(to: read, keyPath)
                reached = read.compactMap { value, json in
                    guard let value = unwrappedOrNil(value), let json = json.value(at: path[...]) else { return nil }
                    return (value, json)
                }
                place += path
            }
        }
        return place
    }

    /// The one path on which all the values stand.
    private func path(
        to read: [(value: Any, json: JSONValue)], _ keyPath: AnyKeyPath
    ) throws(DocumentCodingError) -> [String] {
        var candidates: [[String]]?
        for (value, json) in read {
            let target = try self.json(of: value, keyPath)
            candidates = (candidates ?? paths(in: read.map(\.json))).filter { path in
                (json.value(at: path[...]) ?? .null) == target
            }
        }
        guard let candidates, !candidates.isEmpty else {
            throw fault(
                keyPath, "is no field that \(Model.self) keeps in its documents (it may be computed, or part of one)")
        }
        guard candidates.count == 1 else {
            let pointers = candidates.map { $0.map { "/\($0.escapedForPointer)" }.joined() }
            throw fault(
                keyPath,
                "could be \(pointers.joined(separator: " or ")): give the collection examples in which they differ")
        }
        return candidates[0]
    }

    private func paths(in jsons: [JSONValue]) -> [[String]] {
        // None for what reads the value itself, as the raw value of an enum.
        var all: [[String]] = [[]]
        var seen: Set<[String]> = []
        for path in jsons.flatMap(\.memberPaths) where seen.insert(path).inserted { all.append(path) }
        return all
    }

    private func json(of value: Any, _ keyPath: AnyKeyPath) throws(DocumentCodingError) -> JSONValue {
        guard let value = unwrappedOrNil(value) else { return .null }
        guard let value = value as? any Encodable else {
            throw fault(keyPath, "reads a \(type(of: value)), which is not Encodable and so no field")
        }
        return try DocumentEncoder().json(of: value)
    }

    private func element(of value: Any, with json: JSONValue) -> Any? {
        guard let elements = unwrapped(value) as? any Sequence else { return nil }
        for element in elements {
            guard let element = element as? any Encodable else { continue }
            if (try? DocumentEncoder().json(of: element)) == json { return element }
        }
        return nil
    }

    private func fault(_ keyPath: AnyKeyPath, _ reason: String) -> DocumentCodingError {
        DocumentCodingError(path: "\(keyPath)", reason: reason)
    }
}

// Optionals, of whatever type.

private protocol AnyOptional {
    var wrapped: Any? { get }
}

extension Optional: AnyOptional {
    var wrapped: Any? { self }
}

private func unwrappedOrNil(_ value: Any) -> Any? {
    guard let optional = value as? any AnyOptional else { return value }
    return optional.wrapped.flatMap { unwrappedOrNil($0) }
}

private func unwrapped(_ value: Any) -> Any { unwrappedOrNil(value) ?? value }
