/// Something that is wrong in a database's file, as a check finds it. Names a document, never shows its body.
package struct StoreFinding: Hashable, Sendable {
    /// What it is about; the raw values are stable and shown to programs.
    package enum Kind: String, Sendable {
        /// A document: its row, its revisions or their bodies.
        case document
        /// The file: pages, indexes, what can't be read.
        case file
        /// The running numbers: digest, counts, the last sequence.
        case numbers
        /// Timelines, checkpoints, markers of purges, records of refusal, settings.
        case records
    }

    package let kind: Kind
    /// The id of the document; nil where it is about none, or the id itself can't be read.
    package let document: String?
    /// What is wrong, without a full stop; at most `Limits.messageCharacters`.
    package let message: String

    init(_ kind: Kind, _ message: String, document: String? = nil) {
        self.kind = kind
        self.document = document
        self.message = StoreError.shortened(message, to: Limits.messageCharacters)
    }
}
