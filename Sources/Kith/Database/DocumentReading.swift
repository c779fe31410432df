import KithDocument
import KithStore

/// What can be read of a database as of one moment: in `read { }`, and in `write { }` with what was written before.
public protocol DocumentReading {
    /// What reads; only Kith makes one.
    var access: ReadAccess { get }
}

/// What a closure of `read { }` or `write { }` reads with, as long as it runs.
public struct ReadAccess {
    private let lease: () throws(KithError) -> StoreReader
    /// Whether who asks is not there any more; nil where that is not known.
    let isCancelled: (@Sendable () -> Bool)?

    init(
        isCancelled: (@Sendable () -> Bool)? = nil, _ lease: @escaping () throws(KithError) -> StoreReader
    ) {
        self.isCancelled = isCancelled
        self.lease = lease
    }

    /// - Throws: `KithError` `closed` after the closure has ended.
    package func reader() throws(KithError) -> StoreReader { try lease() }
}

extension DocumentReading {
    /// A document; nil where nothing of that id lives.
    /// - Throws: `KithError`: `invalid` for an id that is none, and what the disk gives.
    public func document(_ id: String) throws(KithError) -> Document? {
        let id = try Self.documentID(id)
        let reader = try access.reader()
        guard let found = try Database.store({ () throws(StoreError) in try reader.getWithTime(id) }),
            !found.document.isDeleted, !found.document.isExpired(at: reader.now())
        else { return nil }
        return Document(found.document, editTime: found.time)
    }

    /// A document as a value of a type; nil where nothing of that id lives.
    /// - Throws: `KithError`: `decoding` names the document, the path and what is wrong there.
    public func document<Value: Decodable>(_ id: String, as type: Value.Type) throws(KithError) -> Value? {
        try document(id)?.decode(type)
    }

    /// A revision of a document that is still here: one that lives, or one that a merge has overruled, for thirty days.
    /// - Returns: nil where there is none of that id, or its fields are not kept.
    public func document(_ id: String, revision: String) throws(KithError) -> Document? {
        let id = try Self.documentID(id)
        guard let revision = RevisionID(revision) else {
            throw KithError(.invalid, id.string, "'\(revision)' is no revision; one is a number, - and 32 hex digits")
        }
        let reader = try access.reader()
        let found = try Database.store { () throws(StoreError) in try reader.get(id, revision: revision) }
        return found.flatMap { $0.isDeleted ? nil : Document($0, editTime: nil) }
    }

    /// The documents that live, ascending by the bytes of their ids.
    /// - Parameters:
    ///   - id: begins behind this one; nil at the first.
    ///   - limit: at most so many.
    public func documents(after id: String? = nil, limit: Int = 1_000) throws(KithError) -> [Document] {
        let after = try id.map { (id) throws(KithError) in try Self.documentID(id) }
        let reader = try access.reader()
        let now = reader.now()
        return try Database.store { () throws(StoreError) in
            var page: [Document] = []
            var last = after
            // What is hidden counts for nothing.
            while page.count < limit {
                let found = try reader.documents(after: last, limit: limit - page.count)
                guard let end = found.last else { break }
                for document in found where !document.isExpired(at: now) {
                    page.append(Document(document, editTime: nil))
                }
                last = end.id
            }
            return page
        }
    }

    /// The documents in conflict, in the order of their last changes.
    public func conflicts(limit: Int = 1_000) throws(KithError) -> [Document] {
        let reader = try access.reader()
        let entries = try Database.store { () throws(StoreError) in try reader.conflicts(after: 0, limit: limit) }
        var documents: [Document] = []
        for entry in entries {
            if let document = try document(entry.document.string) { documents.append(document) }
        }
        return documents
    }

    static func documentID(_ id: String) throws(KithError) -> DocumentID {
        do throws(DocumentError) { return try DocumentID(id) } catch { throw KithError(error, of: id) }
    }
}

/// One moment of a database, in `read { }`: all that is read of it belongs together. Valid while the closure runs.
public struct ReadSnapshot: DocumentReading {
    private let lease: Lease<StoreReader>
    private let isCancelled: (@Sendable () -> Bool)?

    init(_ lease: Lease<StoreReader>, isCancelled: (@Sendable () -> Bool)?) {
        self.lease = lease
        self.isCancelled = isCancelled
    }

    /// What the snapshot is read with.
    public var access: ReadAccess { ReadAccess(isCancelled: isCancelled, lease.get) }
}

/// Lends something to a closure, and takes it back.
final class Lease<Value> {
    private var value: Value?

    init(_ value: Value) { self.value = value }

    func end() { value = nil }

    func get() throws(KithError) -> Value {
        if let value { return value }
        throw KithError(
            .closed, "read and write", "what read { } and write { } give is valid only until the closure ends")
    }
}
