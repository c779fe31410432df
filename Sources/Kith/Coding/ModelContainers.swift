import KithDocument

// The containers that a value encodes itself into. Each hands over to `ModelSlot`.

/// The members of an object. A member that is nil is remembered as removed.
struct ModelKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: ModelSlot
    let codingPath: [any CodingKey]

    private func put(_ value: some Encodable, _ key: Key) throws {
        try slot.member(key.stringValue).set(value, codingPath + [key])
    }

    private func putOptional(_ value: (some Encodable)?, _ key: Key) throws {
        if let value { try put(value, key) } else { slot.member(key.stringValue).content = .removed }
    }

    mutating func encodeNil(forKey key: Key) throws { slot.member(key.stringValue).content = .value(.null) }
    mutating func encode(_ value: some Encodable, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws { try putOptional(value, key) }
    mutating func encode(_ value: Bool, forKey key: Key) throws { try put(value, key) }
    mutating func encode(_ value: String, forKey key: Key) throws { try put(value, key) }
    mutating func encode(_ value: Double, forKey key: Key) throws { try put(value, key) }
    mutating func encode(_ value: Float, forKey key: Key) throws { try put(value, key) }
    mutating func encode(_ value: Int, forKey key: Key) throws { try put(value, key) }
    mutating func encode(_ value: Int8, forKey key: Key) throws { try put(value, key) }
    mutating func encode(_ value: Int16, forKey key: Key) throws { try put(value, key) }
    mutating func encode(_ value: Int32, forKey key: Key) throws { try put(value, key) }
    mutating func encode(_ value: Int64, forKey key: Key) throws { try put(value, key) }
    mutating func encode(_ value: UInt, forKey key: Key) throws { try put(value, key) }
    mutating func encode(_ value: UInt8, forKey key: Key) throws { try put(value, key) }
    mutating func encode(_ value: UInt16, forKey key: Key) throws { try put(value, key) }
    mutating func encode(_ value: UInt32, forKey key: Key) throws { try put(value, key) }
    mutating func encode(_ value: UInt64, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try putOptional(value, key) }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws { try putOptional(value, key) }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try putOptional(value, key) }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try putOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try putOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try putOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try putOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try putOptional(value, key) }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try putOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try putOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try putOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try putOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try putOptional(value, key) }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try putOptional(value, key) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        let member = slot.member(key.stringValue)
        member.becomeObject()
        return KeyedEncodingContainer(ModelKeyedContainer<Nested>(slot: member, codingPath: codingPath + [key]))
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        let member = slot.member(key.stringValue)
        member.becomeArray()
        return ModelUnkeyedContainer(slot: member, codingPath: codingPath + [key])
    }

    mutating func superEncoder() -> any Encoder { ModelEncoder(slot.member("super"), codingPath) }
    mutating func superEncoder(forKey key: Key) -> any Encoder {
        ModelEncoder(slot.member(key.stringValue), codingPath + [key])
    }
}

/// The elements of an array.
struct ModelUnkeyedContainer: UnkeyedEncodingContainer {
    let slot: ModelSlot
    let codingPath: [any CodingKey]

    var count: Int { slot.count }

    private func put(_ value: some Encodable) throws { try slot.append().set(value, codingPath) }

    mutating func encodeNil() throws { slot.append().content = .value(.null) }
    mutating func encode(_ value: some Encodable) throws { try put(value) }
    mutating func encode(_ value: Bool) throws { try put(value) }
    mutating func encode(_ value: String) throws { try put(value) }
    mutating func encode(_ value: Double) throws { try put(value) }
    mutating func encode(_ value: Float) throws { try put(value) }
    mutating func encode(_ value: Int) throws { try put(value) }
    mutating func encode(_ value: Int8) throws { try put(value) }
    mutating func encode(_ value: Int16) throws { try put(value) }
    mutating func encode(_ value: Int32) throws { try put(value) }
    mutating func encode(_ value: Int64) throws { try put(value) }
    mutating func encode(_ value: UInt) throws { try put(value) }
    mutating func encode(_ value: UInt8) throws { try put(value) }
    mutating func encode(_ value: UInt16) throws { try put(value) }
    mutating func encode(_ value: UInt32) throws { try put(value) }
    mutating func encode(_ value: UInt64) throws { try put(value) }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        let element = slot.append()
        element.becomeObject()
        return KeyedEncodingContainer(ModelKeyedContainer<Nested>(slot: element, codingPath: codingPath))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let element = slot.append()
        element.becomeArray()
        return ModelUnkeyedContainer(slot: element, codingPath: codingPath)
    }

    mutating func superEncoder() -> any Encoder { ModelEncoder(slot.append(), codingPath) }
}

/// One value.
struct ModelSingleContainer: SingleValueEncodingContainer {
    let encoder: ModelEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil() throws { encoder.slot.content = .value(.null) }
    mutating func encode(_ value: some Encodable) throws { try encoder.slot.set(value, encoder.codingPath) }
    mutating func encode(_ value: Bool) throws { try encoder.slot.set(value, encoder.codingPath) }
    mutating func encode(_ value: String) throws { try encoder.slot.set(value, encoder.codingPath) }
    mutating func encode(_ value: Double) throws { try encoder.slot.set(value, encoder.codingPath) }
    mutating func encode(_ value: Float) throws { try encoder.slot.set(value, encoder.codingPath) }
    mutating func encode(_ value: Int) throws { try encoder.slot.set(value, encoder.codingPath) }
    mutating func encode(_ value: Int8) throws { try encoder.slot.set(value, encoder.codingPath) }
    mutating func encode(_ value: Int16) throws { try encoder.slot.set(value, encoder.codingPath) }
    mutating func encode(_ value: Int32) throws { try encoder.slot.set(value, encoder.codingPath) }
    mutating func encode(_ value: Int64) throws { try encoder.slot.set(value, encoder.codingPath) }
    mutating func encode(_ value: UInt) throws { try encoder.slot.set(value, encoder.codingPath) }
    mutating func encode(_ value: UInt8) throws { try encoder.slot.set(value, encoder.codingPath) }
    mutating func encode(_ value: UInt16) throws { try encoder.slot.set(value, encoder.codingPath) }
    mutating func encode(_ value: UInt32) throws { try encoder.slot.set(value, encoder.codingPath) }
    mutating func encode(_ value: UInt64) throws { try encoder.slot.set(value, encoder.codingPath) }
}
