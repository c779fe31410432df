import KithDocument
import KithMerge
import KithQuery

/// A document that has changed, as queries see it now.
package struct ChangedDocument: Sendable {
    package let id: DocumentID
    /// Nil where nothing of it lives.
    package let document: QueryDocument?
}

extension StoreReader {
    /// The documents whose latest sequence is above `sequence`, ascending by it, at most `limit`; purged ones are not among
    /// them.
    /// - Returns: the documents, and up to where they were read.
    /// - Complexity: O(changes read).
    package func changedDocuments(
        after sequence: UInt64, limit: Int
    ) throws(StoreError) -> (documents: [ChangedDocument], through: UInt64, isAll: Bool) {
        let entries = try feed(after: sequence, limit: limit)
        var changed: [ChangedDocument] = []
        changed.reserveCapacity(entries.count)
        for entry in entries {
            changed.append(ChangedDocument(id: entry.document, document: try queryDocument(entry.document)))
        }
        return (changed, entries.last?.sequence ?? sequence, entries.count < max(1, limit))
    }

    /// A document as queries see it; nil where nothing of it lives.
    private func queryDocument(_ id: DocumentID) throws(StoreError) -> QueryDocument? {
        let row = try connection.statement(.readDocument)
        defer { row.reset() }
        row.bind(1, text: id.string)
        guard try row.step(), !row.isNull(3) else { return nil }
        let revision = try RevisionID(row, 2, of: id.string)
        let time = try RevisionTree(row, 4, of: id.string).version(of: revision)?.highestTime
        guard let body = row.withBytes(3, { JSONValue(canonical: $0) })?.object else {
            throw StoreError(
                .damaged, connection.subject, "a document of \(connection.subject) is no JSON: see kith verify")
        }
        return QueryDocument(
            DocumentMetadata(
                id: id.string, revision: revision.description, sequence: row.unsigned(0),
                expires: body[Expiry.key]?.integer, edited: time.map { Stamp.milliseconds(ofTime: $0) }), body)
    }
}
