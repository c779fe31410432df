// Operations on one document: each is a `write { }` or `read { }` of its own.

extension Database {
    /// Saves a document. On disk when this returns.
    /// - Returns: the document as it is stored now.
    /// - Throws: `KithError`: `conflict` by the rule; `invalid` for a document that is too large, nested too deep, or has a
    ///   field that begins with `_`; `forbidden` on a node that only reads; what the disk gives.
    @discardableResult
    public func save(_ document: Document, _ rule: SaveRule = .lastWriteWins) async throws -> Document {
        try await write { try $0.save(document, rule) }
    }

    /// Saves a document; where the stored one is not at the revision that was read, what the handler makes of both.
    /// - Parameters:
    ///   - document: what is to be saved, with the revision that it was read at.
    ///   - onConflict: runs within the write; returns what is to be stored, or nil for nothing; then the call throws
    ///     `conflict`.
    @discardableResult
    public func save(
        _ document: Document, onConflict: @escaping @Sendable (SaveConflict) throws -> JSONValue?
    ) async throws -> Document {
        try await write { try $0.save(document, onConflict: onConflict) }
    }

    /// Saves the fields of a value; fields of the stored document that its type does not know stay (`WriteBatch.save`).
    @discardableResult
    public func save(_ value: some Encodable & Sendable, id: String) async throws -> Document {
        try await write { try $0.save(value, id: id) }
    }

    /// Reads a document, changes it, and saves it, with nobody writing in between.
    /// - Parameters:
    ///   - id: of the document.
    ///   - change: is given the document as it is stored, or a new one. When it throws, or makes it one of another id, nothing
    ///     is written.
    /// - Returns: the document as it is stored now.
    @discardableResult
    public func update(
        _ id: String, _ change: @escaping @Sendable (inout Document) throws -> Void
    ) async throws -> Document {
        try await write { batch in
            var document = try batch.document(id) ?? Document(id: id)
            try change(&document)
            try document.requireID(id)
            return try batch.save(document)
        }
    }

    /// Deletes a document everywhere (`WriteBatch.delete`).
    /// - Returns: false where nothing of that id lives.
    @discardableResult
    public func delete(_ id: String) async throws -> Bool { try await write { try $0.delete(id) } }

    /// Deletes a document that was read.
    /// - Throws: `KithError` `conflict` where it was changed since and the rule says so.
    @discardableResult
    public func delete(_ document: Document, _ rule: SaveRule = .lastWriteWins) async throws -> Bool {
        try await write { try $0.delete(document, rule) }
    }

    /// Removes a document here only, without a tombstone (`WriteBatch.purge`).
    /// - Returns: false where nothing is known of it.
    @discardableResult
    public func purge(_ id: String) async throws -> Bool { try await write { try $0.purge(id) } }

    /// A document; nil where nothing of that id lives.
    public func document(_ id: String) async throws -> Document? { try await reading { try $0.document(id) } }

    /// A document as a value of a type; nil where nothing of that id lives.
    /// - Throws: `KithError` `decoding`: names the document, the path and what is wrong there.
    public func document<Value: Decodable & Sendable>(_ id: String, as type: Value.Type) async throws -> Value? {
        try await reading { try $0.document(id, as: type) }
    }
}

extension Database {
    /// The same, blocking.
    @discardableResult
    public func save(_ document: Document, _ rule: SaveRule = .lastWriteWins) throws -> Document {
        try write { try $0.save(document, rule) }
    }

    /// The same, blocking.
    @discardableResult
    public func save(
        _ document: Document, onConflict: @escaping @Sendable (SaveConflict) throws -> JSONValue?
    ) throws -> Document {
        try write { try $0.save(document, onConflict: onConflict) }
    }

    /// The same, blocking.
    @discardableResult
    public func save(_ value: some Encodable & Sendable, id: String) throws -> Document {
        try write { try $0.save(value, id: id) }
    }

    /// The same, blocking.
    @discardableResult
    public func update(
        _ id: String, _ change: @escaping @Sendable (inout Document) throws -> Void
    ) throws -> Document {
        try write { batch in
            var document = try batch.document(id) ?? Document(id: id)
            try change(&document)
            try document.requireID(id)
            return try batch.save(document)
        }
    }

    /// The same, blocking.
    @discardableResult
    public func delete(_ id: String) throws -> Bool { try write { try $0.delete(id) } }

    /// The same, blocking.
    @discardableResult
    public func delete(_ document: Document, _ rule: SaveRule = .lastWriteWins) throws -> Bool {
        try write { try $0.delete(document, rule) }
    }

    /// The same, blocking.
    @discardableResult
    public func purge(_ id: String) throws -> Bool { try write { try $0.purge(id) } }

    /// The same, blocking.
    public func document(_ id: String) throws -> Document? { try reading { try $0.document(id) } }

    /// The same, blocking.
    public func document<Value: Decodable & Sendable>(_ id: String, as type: Value.Type) throws -> Value? {
        try reading { try $0.document(id, as: type) }
    }
}
