import KithCrypto
import KithDocument

#if KITH_MUTANTS
import KithSystem
#endif

/// What a document adds to the digest of its database: SHA-256 over its id and the leaves that count, each with its
/// version. docs/storage.md gives the encoding and an example.
///
/// Closed leaves do not count, nor do deletions of which another leaf knows all: they are replaced where the history that
/// says so is known, and leaves where it was cut, and no node can tell which.
///
/// One hasher serves all documents of a connection, since making one costs more than hashing a document.
final class DocumentDigest {
    private let hasher = SHA256()
    /// What is hashed, in memory that serves one document after the other.
    private var writer = ByteWriter(capacity: 256)

    /// Nil for a document with nothing but closed leaves, which adds nothing.
    func digest(of id: DocumentID, _ tree: RevisionTree) -> Digest256? {
        guard Self.write(id, tree, into: &writer) else { return nil }
        hasher.update(writer.bytes)
        return Digest256(hasher.finish())
    }

    /// - Returns: whether there is something to hash.
    private static func write(_ id: DocumentID, _ tree: RevisionTree, into writer: inout ByteWriter) -> Bool {
        writer.removeAll()
        let length = id.string.utf8.count
        writer.append(bigEndian: UInt32(truncatingIfNeeded: length))
        writer.append(contentsOf: id.string.utf8)
        let leaves = tree.leaves
        var isEmpty = true
        for index in leaves.indices where leaves[index].kind != .closed {
            guard let version = leaves[index].knownVersion, !Self.isOvertaken(index, in: leaves) else { continue }
            isEmpty = false
            leaves[index].id.encode(into: &writer)
            // What one node has as Kith's own and another as foreign is not the same: its id says nothing of its content there.
            #if KITH_MUTANTS
            let mark: UInt32 = leaves[index].isForeign && !Mutant.isActive(.trustsForeignCopies) ? 1 << 31 : 0
            #else
            let mark: UInt32 = leaves[index].isForeign ? 1 << 31 : 0
            #endif
            writer.append(bigEndian: UInt32(truncatingIfNeeded: 16 * version.entries.count) | mark)
            version.encode(into: &writer)
        }
        return !isEmpty
    }

    /// Whether a leaf is a deletion whose version is within another leaf's; of deletions with equal versions the highest
    /// counts.
    private static func isOvertaken(_ index: Int, in leaves: [RevisionTree.Node]) -> Bool {
        guard leaves.count > 1, leaves[index].kind == .deleted, let version = leaves[index].knownVersion else {
            return false
        }
        let id = leaves[index].id
        return leaves.contains { other in
            guard other.id != id, other.kind != .closed, let known = other.knownVersion, version.isWithin(known) else {
                return false
            }
            return other.kind != .deleted || !known.isWithin(version) || other.id > id
        }
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
