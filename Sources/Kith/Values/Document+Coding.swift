import KithDocument

extension Document {
    /// A new document with the fields of a value.
    /// - Throws: `KithError` `invalid` where the value does not encode as an object, or not at all.
    public init(id: String? = nil, encoding value: some Encodable) throws(KithError) {
        self.init(id: id)
        try update(from: value)
    }

    /// Takes over the fields of a value. Fields that its type does not know stay, also within nested values; an optional
    /// that is nil removes its field. Arrays, dictionaries and enumerations are replaced as wholes.
    /// - Throws: `KithError` `invalid` where the value does not encode as an object, or not at all.
    public mutating func update(from value: some Encodable) throws(KithError) {
        body = DocumentBody(object: try ValueCoding.object(body.object, updatedFrom: value, of: id))
    }

    /// Sets one field to what a value encodes as, in the place of what was there.
    public mutating func set(_ key: String, to value: some Encodable) throws(KithError) {
        self[key] = JSONValue(try ValueCoding.json(of: value, in: id))
    }

    /// The document as a value of a type. Fields that the type does not know are left out.
    /// - Throws: `KithError` `decoding`: names the document, the path and what is wrong there.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(KithError) -> Value {
        try ValueCoding.value(type, from: .object(body.object), of: id)
    }

    /// One field as a value of a type; nil where there is none.
    /// - Throws: `KithError` `decoding`: names the document, the path and what is wrong there.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, at key: String
    ) throws(KithError) -> Value? {
        guard let value = self[key] else { return nil }
        return try ValueCoding.value(type, from: value.tree, of: id, at: "/\(key)")
    }
}
