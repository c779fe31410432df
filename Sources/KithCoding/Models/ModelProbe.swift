import KithDocument

/// Finds out what a type reads, by letting it decode a value that is made up on the way: each scalar as it is asked for,
/// optionals present, arrays with one element.
final class ModelProbe {
    /// A scalar, and another value that could stand in its place.
    struct Leaf {
        let path: [String]
        let other: JSONValue?
    }

    private(set) var leaves: [Leaf] = []

    /// The JSON of a value of the type.
    func json<Value: Decodable>(of type: Value.Type) throws(DocumentCodingError) -> JSONValue {
        do {
            return try value(type, at: [], within: []).json
        } catch {
            throw DocumentCodingError(error)
        }
    }

    /// - Parameter types: those that the value is within, so that a type within itself comes to an end.
    func value<Value: Decodable>(
        _ type: Value.Type, at path: [any CodingKey], within types: [any Any.Type]
    ) throws -> (value: Value, json: JSONValue) {
        if let (json, other) = try madeUp(type, within: types) {
            leaves.append(Leaf(path: path.names, other: other))
            return (try ValueDecoding.value(type, from: json, at: path), json)
        }
        guard path.count < CodingLimits.depth else {
            throw DocumentCodingError(path: path.pointer, reason: Self.advice(type))
        }
        let place = EncodedPlace()
        do {
            let decoder = ProbeDecoder(probe: self, place: place, codingPath: path, types: types + [type])
            let value = try Value(from: decoder)
            return (value, try place.json(at: path))
        } catch let error as DocumentCodingError {
            throw error
        } catch {
            throw DocumentCodingError(path: path.pointer, reason: Self.advice(type))
        }
    }

    private static func advice(_ type: any Any.Type) -> String {
        "is a \(type), of which no value can be made up: make it CaseIterable if it is an enum without values, "
            + "or give the collection two examples that differ in every field"
    }

    /// Nil for what has to be asked for what it reads.
    private func madeUp<Value>(
        _ type: Value.Type, within types: [any Any.Type]
    ) throws -> (json: JSONValue, other: JSONValue?)? {
        let number = leaves.count
        if type == String.self { return (.string("made up \(number)"), .string("another \(number)")) }
        if type == Bool.self { return (false, true) }
        if type == Double.self || type == Float.self { return (.number(Double(number) + 0.5), .number(-1.5)) }
        if type is any FixedWidthInteger.Type { return (.number(number % 100), .number(number % 100 + 1)) }
        if let pair = FoundationValues.madeUp(type, number) { return pair }
        if let cases = type as? any CaseIterable.Type {
            let values = try Self.encodedCases(cases)
            return values.first.map { ($0, values.dropFirst().first) }
        }
        if let array = type as? any ProbedArray.Type, types.contains(where: { $0 == array.elementType }) {
            return ([], nil)
        }
        if let map = type as? any ProbedMap.Type { return ([:], try map.madeUp()) }
        return nil
    }

    private static func encodedCases<Cases: CaseIterable>(_ type: Cases.Type) throws -> [JSONValue] {
        try Cases.allCases.prefix(2).map { value in
            guard let value = value as? any Encodable else {
                throw DocumentCodingError(path: "", reason: "is a \(type), which is not Encodable")
            }
            return try DocumentEncoder().json(of: value)
        }
    }
}

extension [any CodingKey] {
    var names: [String] { map { $0.intValue.map { String($0) } ?? $0.stringValue } }
}

private protocol ProbedArray {
    static var elementType: any Any.Type { get }
}

extension Array: ProbedArray {
    static var elementType: any Any.Type { Element.self }
}

extension Set: ProbedArray {
    static var elementType: any Any.Type { Element.self }
}

private protocol ProbedMap {
    /// With one member; nil where keys are no texts.
    static func madeUp() throws -> JSONValue?
}

extension Dictionary: ProbedMap {
    static func madeUp() throws -> JSONValue? {
        guard Key.self == String.self, let type = Value.self as? any Decodable.Type else { return nil }
        return ["key": try ModelProbe().json(of: type)]
    }
}
