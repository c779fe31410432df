import KithCrypto
import KithDocument

/// How the log names a document: its id is content of the user's, so what stands there tells documents apart and no more.
package enum DocumentTag {
    /// `#` and the first eight hex digits of the id's SHA-256.
    package static func of(_ id: DocumentID) -> String {
        "#" + Hex.encode(SHA256.hash(Array(id.string.utf8)).bytes.prefix(4))
    }
}
