import KithDocument
import KithMerge

/// One revision of a document, as a reader gets it.
package struct StoredDocument: Hashable, Sendable {
    package let id: DocumentID
    package let revision: RevisionID
    /// Canonical JSON; empty for a deletion.
    package let body: [UInt8]
    package let isDeleted: Bool
    /// The other live leaves, the highest first.
    package let conflicts: [RevisionID]
    /// The document's latest sequence.
    package let sequence: UInt64

    /// When it expires, in milliseconds since 1970; nil for never.
    package var expiresAt: Int64? { Expiry.time(of: body) }

    /// Whether it is to be hidden from who reads it: it is there for a while yet, so that its time can be put off.
    package func isExpired(at now: Int64) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

extension StoreReader {
    /// Reads a document, or one revision of it whose body is here: a leaf, or an overruled leaf that is still kept.
    /// - Parameter revision: nil for the winner.
    /// - Returns: nil when there is nothing of the kind; a deleted document is one with `isDeleted`.
    package func get(_ id: DocumentID, revision: RevisionID? = nil) throws(StoreError) -> StoredDocument? {
        let row = try connection.statement(.readDocument)
        defer { row.reset() }
        row.bind(1, text: id.string)
        guard let revision else { return try row.step() ? try document(row, id) : nil }
        return try connection.reading { () throws(StoreError) in
            guard try row.step() else { return nil }
            let winner = try document(row, id)
            return winner.revision == revision ? winner : try other(revision, of: winner, row)
        }
    }

    private func document(_ row: Statement, _ id: DocumentID) throws(StoreError) -> StoredDocument {
        let flags = DocumentFlags(rawValue: row.number(1))
        let revision = try RevisionID(row, 2, of: id.string)
        var conflicts: [RevisionID] = []
        if flags.contains(.conflict) {
            conflicts = try RevisionTree(row, 4, of: id.string).live.map(\.id).filter { $0 != revision }.reversed()
        }
        return StoredDocument(
            id: id, revision: revision, body: row.bytes(3), isDeleted: flags.contains(.deleted), conflicts: conflicts,
            sequence: row.unsigned(0))
    }

    private func other(
        _ revision: RevisionID, of winner: StoredDocument, _ row: Statement
    ) throws(StoreError) -> StoredDocument? {
        let body = try self.body(of: revision, winner.id)
        let node = try RevisionTree(row, 4, of: winner.id.string).leaves.first { $0.id == revision }
        let isDeleted = body == nil && node?.kind == .deleted
        guard body != nil || isDeleted else { return nil }
        return StoredDocument(
            id: winner.id, revision: revision, body: body ?? [], isDeleted: isDeleted, conflicts: [],
            sequence: winner.sequence)
    }

    private func body(of revision: RevisionID, _ id: DocumentID) throws(StoreError) -> [UInt8]? {
        let row = try connection.statement(.bodyOfRevision)
        defer { row.reset() }
        row.bind(1, text: id.string)
        row.bind(2, blob: revision.encoded)
        return try row.step() ? row.bytes(0) : nil
    }

    /// The documents after an id in byte order, with their winners: for exports, page by page.
    /// - Parameters:
    ///   - maximumBytes: a page ends with the document that passes it.
    ///   - deleted: whether deleted ones are among them.
    package func documents(
        after id: DocumentID?, limit: Int, maximumBytes: Int = .max, deleted: Bool = false
    ) throws(StoreError) -> [StoredDocument] {
        let row = try connection.statement(deleted ? .deletedToo : .documentsById)
        defer { row.reset() }
        row.bind(1, text: id?.string ?? "")
        row.bind(2, bound(limit))
        var page: [StoredDocument] = []
        var bytes = 0
        while bytes < maximumBytes, try row.step() {
            page.append(try document(row, DocumentID(unchecked: row.string(5))))
            bytes += page[page.count - 1].body.count
        }
        return page
    }

    /// All that is known of a document, with the bodies of its live leaves.
    func load(_ id: DocumentID) throws(StoreError) -> Document? {
        let row = try connection.statement(.loadDocument)
        defer { row.reset() }
        row.bind(1, text: id.string)
        guard try row.step() else { return nil }
        var bodies = RevisionBodies()
        if !row.isNull(4) { bodies[try RevisionID(row, 2, of: id.string)] = row.bytes(4) }
        if DocumentFlags(rawValue: row.number(1)).contains(.otherBodies) {
            let list = try connection.statement(.liveBodies)
            defer { list.reset() }
            list.bind(1, text: id.string)
            while try list.step() { bodies[try RevisionID(list, 0, of: id.string)] = list.bytes(1) }
        }
        return Document(id: id, tree: try RevisionTree(row, 3, of: id.string), bodies: bodies)
    }
}

extension StoreReader {
    /// A document's winner with the highest time in its version: that of its last edit; 0 for initial data.
    package func getWithTime(_ id: DocumentID) throws(StoreError) -> (document: StoredDocument, time: UInt64)? {
        let row = try connection.statement(.readDocument)
        defer { row.reset() }
        row.bind(1, text: id.string)
        guard try row.step() else { return nil }
        let document = try document(row, id)
        return (document, try RevisionTree(row, 4, of: id.string).version(of: document.revision)?.highestTime ?? 0)
    }

    /// Runs readings as one: all see the database as of one moment, and the write-ahead log can't be emptied beyond that
    /// meanwhile.
    /// - Throws: what the body throws, and `StoreError`.
    package func atOneMoment<Value>(_ body: () throws -> Value) throws -> Value {
        if connection.isInTransaction { return try body() }
        try connection.run(.begin)
        defer { if connection.isInTransaction { try? connection.run(.commit) } }
        // The moment is that of the first reading.
        _ = try summary()
        return try body()
    }
}
