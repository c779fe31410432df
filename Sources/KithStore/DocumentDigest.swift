import KithCrypto
import KithDocument

/// What a document adds to the digest of its database: SHA-256 over its id and its leaves that are not closed, each with
/// its version. docs/storage.md gives the encoding and an example.
///
/// One hasher serves all documents of a connection, since making one costs more than hashing a document.
final class DocumentDigest {
    private let hasher = SHA256()

    /// Nil for a document with nothing but closed leaves, which adds nothing.
    func digest(of id: DocumentID, _ tree: RevisionTree) -> Digest256? {
        var writer = ByteWriter(capacity: id.string.utf8.count + 64)
        let length = id.string.utf8.count
        writer.append(bigEndian: UInt32(truncatingIfNeeded: length))
        writer.append(contentsOf: id.string.utf8)
        var isEmpty = true
        for leaf in tree.leaves where leaf.kind != .closed {
            guard let content = leaf.content else { continue }
            isEmpty = false
            leaf.id.encode(into: &writer)
            writer.append(bigEndian: UInt32(truncatingIfNeeded: 16 * content.version.entries.count))
            content.version.encode(into: &writer)
        }
        if isEmpty { return nil }
        hasher.update(writer.bytes)
        return Digest256(hasher.finish())
    }

    /// The range of the id hash a document lies in: the first 16 bits of SHA-256 of its id.
    func range(of id: DocumentID) -> UInt16 {
        var string = id.string
        string.withUTF8 { hasher.update(UnsafeRawBufferPointer($0)) }
        return UInt16(hasher.finish().words.0 >> 48)
    }

    /// What the feed says of a foreign leaf besides its id: the first 8 bytes of the hash of its version.
    func versionHash(_ version: Version) -> UInt64 {
        var writer = ByteWriter(capacity: 16 * version.entries.count)
        version.encode(into: &writer)
        hasher.update(writer.bytes)
        return hasher.finish().words.0
    }

    /// All leaves as the feed announces them.
    func announced(_ tree: RevisionTree) -> [AnnouncedLeaf] {
        tree.knownLeaves.map { leaf in
            AnnouncedLeaf(
                id: leaf.id, versionHash: leaf.isForeign ? versionHash(leaf.content?.version ?? Version()) : nil)
        }
    }
}

extension Digest256 {
    init(_ hash: SHA256Digest) { self.init(words: hash.words) }
}
