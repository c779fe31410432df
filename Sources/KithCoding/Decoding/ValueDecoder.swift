import KithDocument

/// What a type's `init(from:)` is given.
struct ValueDecoder: Decoder {
    let json: JSONValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let object) = json else {
            throw DecodingError.mismatch([String: Any].self, json, expected: "an object", at: codingPath)
        }
        return KeyedDecodingContainer(ObjectDecoder(object: object, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let array) = json else {
            throw DecodingError.mismatch([Any].self, json, expected: "an array", at: codingPath)
        }
        return ArrayDecoder(array: array, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        SingleDecoder(json: json, codingPath: codingPath)
    }
}

private struct ObjectDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let object: JSONObject
    let codingPath: [any CodingKey]

    var allKeys: [Key] { object.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { object[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try member(key).isNull }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try ValueDecoding.value(type, from: try member(key), at: codingPath + [key])
    }

    // For these two the standard library has refusals of its own.
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(key) }

    private func integer<Integer: FixedWidthInteger & Decodable>(_ key: Key) throws -> Integer {
        try ValueDecoding.value(Integer.self, from: try member(key), at: codingPath + [key])
    }

    func nestedContainer<Nested>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try decoder(for: key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(for: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        let key = PlaceKey.superclass
        return ValueDecoder(json: object[key.stringValue] ?? .null, codingPath: codingPath + [key])
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(for: key) }

    private func decoder(for key: Key) throws -> ValueDecoder {
        ValueDecoder(json: try member(key), codingPath: codingPath + [key])
    }

    private func member(_ key: Key) throws -> JSONValue {
        if let member = object[key.stringValue] { return member }
        let own = OwnReason(text: "is missing")
        throw DecodingError.keyNotFound(
            key,
            DecodingError.Context(codingPath: codingPath, debugDescription: own.text, underlyingError: own))
    }
}

private struct ArrayDecoder: UnkeyedDecodingContainer {
    let array: [JSONValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(array: [JSONValue], codingPath: [any CodingKey]) {
        self.array = array
        self.codingPath = codingPath
    }

    var count: Int? { array.count }
    var isAtEnd: Bool { currentIndex == array.count }

    private var nextPath: [any CodingKey] { codingPath + [PlaceKey(index: currentIndex)] }

    mutating func decodeNil() throws -> Bool {
        guard try next(Any?.self).isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try ValueDecoding.value(type, from: try next(type), at: nextPath)
        currentIndex += 1
        return value
    }

    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }

    private mutating func integer<Integer: FixedWidthInteger & Decodable>() throws -> Integer {
        let value = try ValueDecoding.value(Integer.self, from: try next(Integer.self), at: nextPath)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try nextDecoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try nextDecoder().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try nextDecoder() }

    private mutating func nextDecoder() throws -> ValueDecoder {
        let decoder = ValueDecoder(json: try next(Any.self), codingPath: nextPath)
        currentIndex += 1
        return decoder
    }

    private func next(_ type: Any.Type) throws -> JSONValue {
        if !isAtEnd { return array[currentIndex] }
        let own = OwnReason(text: "is missing: the array has \(array.count) elements")
        throw DecodingError.valueNotFound(
            type, DecodingError.Context(codingPath: nextPath, debugDescription: own.text, underlyingError: own))
    }
}

private struct SingleDecoder: SingleValueDecodingContainer {
    let json: JSONValue
    let codingPath: [any CodingKey]

    func decodeNil() -> Bool { json.isNull }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try ValueDecoding.value(type, from: json, at: codingPath)
    }

    func decode(_ type: Int128.Type) throws -> Int128 {
        try ValueDecoding.value(type, from: json, at: codingPath)
    }

    func decode(_ type: UInt128.Type) throws -> UInt128 {
        try ValueDecoding.value(type, from: json, at: codingPath)
    }
}
