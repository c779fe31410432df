import KithCrypto

/// The digest of a Kith revision: the first 16 bytes of SHA-256 over its parts, each with its length in four bytes
/// (big-endian) before it, in this order: the scheme, the parent, the other parents, the kind with its resolver, the
/// body, the attachments, the stamps, the version. docs/merge.md gives the encoding of each part and an example.
package enum RevisionHash {
    /// Names this encoding; another one gets another name.
    private static let scheme = Array("kith-revision-1".utf8)

    package static func digest(
        parent: RevisionID?, mergedParents: [RevisionID], kind: Revision.Kind, resolver: String, body: [UInt8],
        stamps: FieldStamps?, version: Version
    ) -> Digest128 {
        let hasher = SHA256()
        let versionBytes = 16 * version.entries.count
        var writer = ByteWriter(capacity: 128 + 24 * mergedParents.count + resolver.utf8.count + versionBytes)
        writer.appendLengthPrefixed(scheme)
        writer.appendLengthPrefixed { parent?.encode(into: &$0) }
        writer.appendLengthPrefixed { for parent in mergedParents { parent.encode(into: &$0) } }
        writer.appendLengthPrefixed {
            $0.append(kind.rawValue)
            $0.append(contentsOf: resolver.utf8)
        }
        writer.append(bigEndian: UInt32(body.count))
        hasher.update(writer.bytes)
        hasher.update(body)
        writer.removeAll()
        writer.appendLengthPrefixed { _ in }  // Attachments: none before blobs exist.
        writer.appendLengthPrefixed { stamps?.encode(into: &$0) }
        writer.appendLengthPrefixed { version.encode(into: &$0) }
        hasher.update(writer.bytes)
        let digest = hasher.finishLast()
        return Digest128(high: digest.words.0, low: digest.words.1)
    }
}
