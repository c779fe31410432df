import KithDocument

/// Lists of revision ids as they stand in the file: 24 bytes each.
enum RevisionList {
    static func encode(_ ids: some Sequence<RevisionID>) -> [UInt8] {
        var writer = ByteWriter(capacity: 24 * max(1, ids.underestimatedCount))
        for id in ids { id.encode(into: &writer) }
        return writer.bytes
    }

    static func decode(_ bytes: [UInt8], of subject: String) throws(StoreError) -> [RevisionID] {
        var reader = ByteReader(bytes)
        var ids: [RevisionID] = []
        ids.reserveCapacity(bytes.count / 24)
        do {
            while !reader.isAtEnd { ids.append(try RevisionID(from: &reader)) }
        } catch {
            throw StoreError.damaged(subject, error)
        }
        return ids
    }
}

extension RevisionID {
    var encoded: [UInt8] { RevisionList.encode(CollectionOfOne(self)) }

    /// The 24 bytes of a column.
    init(_ statement: Statement, _ column: Int32, of subject: String) throws(StoreError) {
        let words = statement.withBytes(column) { bytes -> (UInt64, UInt64, UInt64)? in
            guard bytes.count == 24 else { return nil }
            return (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
            )
        }
        guard let words, words.0 >= 1, words.0 <= RevisionID.maximumGeneration else {
            throw StoreError.damaged(subject, .malformed("a revision id is none"))
        }
        self.init(generation: words.0, digest: Digest128(high: words.1, low: words.2))
    }
}

extension RevisionTree {
    /// The tree of a column.
    init(_ statement: Statement, _ column: Int32, of subject: String) throws(StoreError) {
        do {
            try self.init(encoded: statement.bytes(column))
        } catch {
            throw StoreError.damaged(subject, error)
        }
    }
}

extension StoreError {
    /// What is stored of a document contradicts itself.
    static func damaged(_ subject: String, _ error: DocumentError) -> StoreError {
        let short = shortened(subject, to: Limits.subjectCharacters)
        return StoreError(
            .damaged, subject,
            "what is stored of \(short) is damaged: \(error.message); purge it here and a peer sends it again")
    }

    /// What a caller asks of a document can't be done.
    static func document(_ id: DocumentID, _ error: DocumentError) -> StoreError {
        let short = shortened(id.string, to: Limits.subjectCharacters)
        let code: Code = error == .clockBeyondRange ? .clockBeyondRange : .invalid
        return StoreError(code, id.string, "document \(short): \(error.message)")
    }
}
