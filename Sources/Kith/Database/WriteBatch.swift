import KithCoding
import KithDocument
import KithStore

/// What may be done in `write { }`: all of it is written, or nothing. It reads what it has written. Valid while the closure
/// runs.
public final class WriteBatch: DocumentReading {
    private let lease: Lease<WriteTransaction>
    private let home: any DatabaseHome
    /// What went wrong half way through a write: nothing of the batch can stay then, whatever the closure makes of it.
    private(set) var failure: StoreError?
    /// The step of a migration that writes at present.
    var migration: String?

    init(_ lease: Lease<WriteTransaction>, of home: any DatabaseHome) {
        self.lease = lease
        self.home = home
    }

    /// What the batch is read with, what it has written included.
    public var access: ReadAccess { ReadAccess { [lease] () throws(KithError) in try lease.get().reader } }

    /// The transaction, for what else belongs to one.
    package func transaction() throws(KithError) -> WriteTransaction { try lease.get() }

    // MARK: Saving

    /// Saves a document.
    /// - Returns: the document as it is stored now.
    /// - Throws: `KithError`: `conflict` by the rule; `invalid` for one that was given no object, is too large, nested too deep, or has a
    ///   field that begins with `_`; what the disk gives.
    @discardableResult
    public func save(_ document: Document, _ rule: SaveRule = .lastWriteWins) throws(KithError) -> Document {
        let id = try Self.documentID(document.id)
        try Self.requireObject(document)
        let present = try self.document(document.id)
        switch rule {
        case .replace: return try put(id, document, document.body)
        case .failOnConflict:
            guard present?.revision == document.revision else { throw Self.conflict(document, present) }
            return try put(id, document, document.body)
        case .lastWriteWins:
            // As it was read: nothing to compare.
            if let present, present.revision == document.revision { return try put(id, document, document.body) }
            guard let present else { return try put(id, document, document.body) }
            let changes = FieldChanges(from: document.base.object, to: document.body.object)
            return try put(id, document, DocumentBody(object: changes.applied(to: present.body.object)))
        }
    }

    /// Saves a document; where the stored one is not at the revision that was read, what the handler makes of both.
    /// - Parameters:
    ///   - document: what is to be saved, with the revision that it was read at.
    ///   - onConflict: returns the fields that are to be stored, or nil for nothing; then the call throws `conflict`.
    @discardableResult
    public func save(
        _ document: Document, onConflict: (SaveConflict) throws -> JSONValue?
    ) throws -> Document {
        let present = try self.document(document.id)
        if present?.revision == document.revision { return try save(document, .replace) }
        let conflict = SaveConflict(
            mine: document, base: JSONValue(.object(document.base.object)), stored: present)
        guard let settled = try onConflict(conflict) else { throw Self.conflict(document, present) }
        var document = document
        document.value = settled
        return try save(document, .replace)
    }

    /// Saves the fields of a value. Fields of the stored document that the type does not know stay; an optional that is nil
    /// removes its field; arrays, dictionaries and enumerations are replaced as wholes.
    /// - Returns: the document as it is stored now.
    /// - Throws: `KithError`: `invalid` where the value does not encode as an object; as `save`.
    @discardableResult
    public func save(_ value: some Encodable, id: String) throws(KithError) -> Document {
        var document = try document(id) ?? Document(id: id)
        try document.update(from: value)
        return try save(document, .replace)
    }

    /// Loads initial data: the same document loaded on several nodes is one, and any edit or deletion by somebody counts
    /// more. Where anything is known of the document nothing is written.
    /// - Returns: the document as it is stored now; nil where it was deleted.
    @discardableResult
    public func saveInitial(_ document: Document) throws(KithError) -> Document? {
        let id = try Self.documentID(document.id)
        try home.requireWriter()
        try Self.requireObject(document)
        let bytes = try Self.canonical(document.body, id)
        _ = try carryOut { (transaction) throws(StoreError) in try transaction.put(id, bytes, initial: true) }
        return try self.document(document.id)
    }

    private func put(_ id: DocumentID, _ document: Document, _ body: DocumentBody) throws(KithError) -> Document {
        try home.requireWriter()
        let bytes = try Self.canonical(body, id)
        let migration = migration
        _ = try carryOut { (transaction) throws(StoreError) in
            try transaction.put(id, bytes, migration: migration)
        }
        let reader = try access.reader()
        guard let found = try Database.store({ () throws(StoreError) in try reader.getWithTime(id) }),
            !found.document.isDeleted
        else {
            // A deletion that had seen all of it: by the rules that is so only where nothing was written.
            throw Self.conflict(document, nil)
        }
        // As it is stored, also where it has expired.
        return Document(found.document, editTime: found.time)
    }

    private static func requireObject(_ document: Document) throws(KithError) {
        guard !document.body.isObject else { return }
        throw KithError(
            .invalid, document.id, "document \(document.id) was given a value that is no object: give it fields")
    }

    private static func canonical(_ body: DocumentBody, _ id: DocumentID) throws(KithError) -> [UInt8] {
        do throws(DocumentError) { return try CanonicalJSON.object(from: body.bytes) } catch {
            throw KithError(error, of: id.string)
        }
    }

    // MARK: Deleting

    /// Deletes a document everywhere: a tombstone takes its place, which reaches all nodes and stays.
    /// - Returns: false where nothing of that id lives.
    @discardableResult
    public func delete(_ id: String) throws(KithError) -> Bool {
        let id = try Self.documentID(id)
        guard try document(id.string) != nil else { return false }
        try home.requireWriter()
        _ = try carryOut { (transaction) throws(StoreError) in try transaction.delete(id) }
        return true
    }

    /// Deletes a document that was read.
    /// - Parameters:
    ///   - document: with the revision that it was read at.
    ///   - rule: what counts where it was changed since; `replace` is `lastWriteWins`.
    /// - Returns: false where it does not live any more.
    /// - Throws: `KithError`: `conflict` by the rule.
    @discardableResult
    public func delete(_ document: Document, _ rule: SaveRule = .lastWriteWins) throws(KithError) -> Bool {
        let present = try self.document(document.id)
        if case .failOnConflict = rule, present?.revision != document.revision {
            throw Self.conflict(document, present)
        }
        return try delete(document.id)
    }

    /// Deletes a document that was read; where it was changed since, if the handler says so.
    /// - Parameters:
    ///   - document: with the revision that it was read at.
    ///   - onConflict: is given both; false ends the call with `conflict`.
    @discardableResult
    public func delete(_ document: Document, onConflict: (SaveConflict) throws -> Bool) throws -> Bool {
        let present = try self.document(document.id)
        if let present, present.revision != document.revision {
            let conflict = SaveConflict(
                mine: document, base: JSONValue(.object(document.base.object)), stored: present)
            guard try onConflict(conflict) else { throw Self.conflict(document, present) }
        }
        return try delete(document.id)
    }

    /// Removes a document here only, without a tombstone, with all that is kept of it. What other nodes have stays, and what
    /// was removed does not come back from them until somebody edits it.
    /// - Returns: false where nothing is known of it.
    @discardableResult
    public func purge(_ id: String) throws(KithError) -> Bool {
        let id = try Self.documentID(id)
        let reader = try access.reader()
        guard try Database.store({ () throws(StoreError) in try reader.get(id) }) != nil else { return false }
        try carryOut { (transaction) throws(StoreError) in try transaction.purge(id) }
        return true
    }

    /// Ends a conflict: of the revisions that live this one stays.
    /// - Throws: `KithError`: `notFound`; `conflict` where the revision does not live.
    @discardableResult
    public func resolve(_ id: String, keeping revision: String) throws(KithError) -> Document {
        let document = try Self.documentID(id)
        guard let revision = RevisionID(revision) else {
            throw KithError(.invalid, id, "'\(revision)' is no revision; one is a number, - and 32 hex digits")
        }
        try home.requireWriter()
        // It may have changed something before it finds that it can't be.
        _ = try carryOut(isAllOrNothing: false) { (transaction) throws(StoreError) in
            try transaction.resolve(document, keep: revision)
        }
        guard let kept = try self.document(id) else { throw KithError(.notFound, id, "document \(id) is gone") }
        return kept
    }

    // MARK: Writing

    /// Does a part of the work. What fails before anything was changed leaves the rest of the batch as it is.
    /// - Parameter isAllOrNothing: whether what breaks a rule is found before anything is changed.
    package func carryOut<Value>(
        isAllOrNothing: Bool = true, _ work: (WriteTransaction) throws(StoreError) -> Value
    ) throws(KithError) -> Value {
        if let failure { throw KithError(failure) }
        let transaction = try lease.get()
        do throws(StoreError) { return try work(transaction) } catch {
            switch error.code {
            case .conflict, .notFound, .invalid, .clockBeyondRange: if !isAllOrNothing { failure = error }
            default: failure = error
            }
            throw KithError(error)
        }
    }

    private static func conflict(_ document: Document, _ present: Document?) -> KithError {
        let id = document.id
        let now = present?.revision.map { "it is at \($0)" } ?? "nothing of it lives"
        let read = document.revision.map { "was read at \($0)" } ?? "is new"
        return KithError(
            .conflict, id, "document \(id) \(read), and \(now): read it again, or save it by another rule")
    }
}
