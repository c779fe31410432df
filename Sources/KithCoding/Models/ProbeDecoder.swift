import KithDocument

/// What a type that is probed is given to decode from.
struct ProbeDecoder: Decoder {
    let probe: ModelProbe
    let place: EncodedPlace
    let codingPath: [any CodingKey]
    let types: [any Any.Type]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        place.becomeObject()
        return KeyedDecodingContainer(ProbeObject(decoder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer {
        place.becomeArray()
        return ProbeArray(decoder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { ProbeSingle(decoder: self) }

    func value<Value: Decodable>(
        _ type: Value.Type, _ key: (any CodingKey)?
    ) throws -> (value: Value, json: JSONValue) {
        try probe.value(type, at: codingPath + (key.map { [$0] } ?? []), within: types)
    }

    /// Of a container within, whose contents are written by and by.
    func nested(_ key: any CodingKey, in place: EncodedPlace) -> ProbeDecoder {
        ProbeDecoder(probe: probe, place: place, codingPath: codingPath + [key], types: types)
    }
}

private struct ProbeObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ProbeDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let (value, json) = try decoder.value(type, key)
        decoder.place.append(.change(.set(json)), for: key.stringValue)
        return value
    }

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(key) }

    private func integer<Integer: FixedWidthInteger & Decodable>(_ key: Key) throws -> Integer {
        let (value, json) = try decoder.value(Integer.self, key)
        decoder.place.append(.change(.set(json)), for: key.stringValue)
        return value
    }

    /// Absent where it would be within itself.
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        decoder.types.contains { $0 == type } ? nil : try decode(type, forKey: key)
    }

    func nestedContainer<Nested>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> { nested(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { nested(key).unkeyedContainer() }
    func superDecoder() -> any Decoder { nested(PlaceKey.superclass) }
    func superDecoder(forKey key: Key) -> any Decoder { nested(key) }

    private func nested(_ key: any CodingKey) -> ProbeDecoder {
        decoder.nested(key, in: decoder.place.place(for: key.stringValue))
    }
}

private struct ProbeArray: UnkeyedDecodingContainer {
    let decoder: ProbeDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }
    private(set) var currentIndex = 0
    /// One, which is enough to see what is in it; a type that reads more in turn gets as many as it reads.
    var count: Int? { nil }
    var isAtEnd: Bool { currentIndex > 0 }

    init(decoder: ProbeDecoder) { self.decoder = decoder }

    mutating func decodeNil() -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (value, json) = try decoder.value(type, PlaceKey(index: currentIndex))
        decoder.place.append(.change(.set(json)))
        currentIndex += 1
        return value
    }

    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }

    private mutating func integer<Integer: FixedWidthInteger & Decodable>() throws -> Integer {
        let (value, json) = try decoder.value(Integer.self, PlaceKey(index: currentIndex))
        decoder.place.append(.change(.set(json)))
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
        nested().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { nested().unkeyedContainer() }
    mutating func superDecoder() -> any Decoder { nested() }

    private mutating func nested() -> ProbeDecoder {
        let place = EncodedPlace()
        let nested = decoder.nested(PlaceKey(index: currentIndex), in: place)
        decoder.place.append(.place(place))
        currentIndex += 1
        return nested
    }
}

private struct ProbeSingle: SingleValueDecodingContainer {
    let decoder: ProbeDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (value, json) = try decoder.value(type, nil)
        decoder.place.set(.set(json))
        return value
    }

    func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }

    private func integer<Integer: FixedWidthInteger & Decodable>() throws -> Integer {
        let (value, json) = try decoder.value(Integer.self, nil)
        decoder.place.set(.set(json))
        return value
    }
}
