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
        var head = ByteWriter(capacity: 80 + 24 * mergedParents.count)
        head.appendLengthPrefixed(scheme)
        head.appendLengthPrefixed { parent?.encode(into: &$0) }
        head.appendLengthPrefixed { for parent in mergedParents { parent.encode(into: &$0) } }
        head.appendLengthPrefixed {
            $0.append(kind.rawValue)
            $0.append(contentsOf: resolver.utf8)
        }
        head.append(bigEndian: UInt32(body.count))
        hasher.update(head.bytes)
        hasher.update(body)
        var tail = ByteWriter(capacity: 12 + 16 + 16 * version.entries.count)
        tail.appendLengthPrefixed { _ in }  // Attachments: none before blobs exist.
        tail.appendLengthPrefixed { stamps?.encode(into: &$0) }
        tail.appendLengthPrefixed { version.encode(into: &$0) }
        hasher.update(tail.bytes)
        let digest = hasher.finish()
        return Digest128(high: digest.words.0, low: digest.words.1)
    }
}
