/// The bounds of documents and revisions; docs/limits.md lists them with those of other targets.
package enum DocumentLimits {
    /// Largest document in bytes of canonical JSON: 20 MiB; a document is held whole in memory on both ends of a link.
    package static let documentBytes = 20 << 20
    /// Largest body in bytes together with its encoded stamps, among them the values that it hides: what is larger is not
    /// written, since a revision has to fit one delivery with its version and ancestry.
    package static let revisionBytes = documentBytes + (3 << 20)
    /// Longest name of a database in bytes, as in CouchDB: with `.sqlite3-journal` it still is a file name (255 bytes).
    package static let databaseNameBytes = 238
    /// Deepest nesting of arrays and objects: far above real data, and small enough for a 512 KiB stack.
    package static let depth = 512
    /// Version entries that an edit keeps: a writer whom 256 others followed is forgotten.
    package static let versionEntries = 256
    /// Stamps of removed fields that an edit keeps.
    package static let absentStamps = 256
    /// More version entries, or more absent and hidden fields, than this are malformed: room for sixteen full leaves
    /// in one merge.
    package static let maximumEntries = 4096
    /// Ancestors kept per branch, for clients that need ancestry; a database may choose another number from 1 on.
    package static let ancestors = 20
    /// Closed leaves more generations below the winner than this are dropped, by every node alike.
    package static let closedGenerations: UInt64 = 20
    /// Leaves of one document taken from one delivery: far above what merging leaves behind.
    package static let leaves = 1024
    /// Longest name and version of a resolver in bytes.
    package static let resolverBytes = 255
}
