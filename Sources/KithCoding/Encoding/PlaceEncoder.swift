import KithDocument

/// What a type's `encode(to:)` is given.
struct PlaceEncoder: Encoder {
    let place: EncodedPlace
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        place.becomeObject()
        return KeyedEncodingContainer(ObjectEncoder(place: place, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        place.becomeArray()
        return ArrayEncoder(place: place, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleEncoder(place: place, codingPath: codingPath)
    }
}

private struct ObjectEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let place: EncodedPlace
    let codingPath: [any CodingKey]

    mutating func encodeNil(forKey key: Key) { place.append(.change(.set(.null)), for: key.stringValue) }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let change = try ValueEncoding.change(of: value, at: codingPath + [key])
        place.append(.change(change), for: key.stringValue)
    }

    // For these two the standard library has refusals of its own.
    mutating func encode(_ value: Int128, forKey key: Key) { put(.number(value), key) }
    mutating func encode(_ value: UInt128, forKey key: Key) { put(.number(value), key) }

    private func put(_ json: JSONValue, _ key: Key) { place.append(.change(.set(json)), for: key.stringValue) }

    // A member that is nil says that there is none, which is more than not to know it.
    mutating func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encode(ifAny: value, key) }
    mutating func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try encode(ifAny: value, key) }

    private mutating func encode(ifAny value: (some Encodable)?, _ key: Key) throws {
        if let value { try encode(value, forKey: key) } else { place.append(.change(.remove), for: key.stringValue) }
    }

    mutating func nestedContainer<Nested>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { encoder(for: key).container(keyedBy: type) }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(for: key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { encoder(for: PlaceKey.superclass) }

    mutating func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key) }

    private func encoder(for key: any CodingKey) -> PlaceEncoder {
        PlaceEncoder(place: place.place(for: key.stringValue), codingPath: codingPath + [key])
    }
}

private struct ArrayEncoder: UnkeyedEncodingContainer {
    let place: EncodedPlace
    let codingPath: [any CodingKey]

    var count: Int { place.count }

    private var nextPath: [any CodingKey] { codingPath + [PlaceKey(index: count)] }

    mutating func encodeNil() { place.append(.change(.set(.null))) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        place.append(.change(try ValueEncoding.change(of: value, at: nextPath)))
    }

    mutating func encode(_ value: Int128) { place.append(.change(.set(.number(value)))) }
    mutating func encode(_ value: UInt128) { place.append(.change(.set(.number(value)))) }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nextEncoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nextEncoder().unkeyedContainer() }

    mutating func superEncoder() -> any Encoder { nextEncoder() }

    private func nextEncoder() -> PlaceEncoder {
        let encoder = PlaceEncoder(place: EncodedPlace(), codingPath: nextPath)
        place.append(.place(encoder.place))
        return encoder
    }
}

private struct SingleEncoder: SingleValueEncodingContainer {
    let place: EncodedPlace
    let codingPath: [any CodingKey]

    mutating func encodeNil() { place.set(.set(.null)) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        place.set(try ValueEncoding.change(of: value, at: codingPath))
    }

    mutating func encode(_ value: Int128) { place.set(.set(.number(value))) }
    mutating func encode(_ value: UInt128) { place.set(.set(.number(value))) }
}
