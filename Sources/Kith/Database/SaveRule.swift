/// What becomes of a save, or a deletion, where the document is not at the revision that was read.
public enum SaveRule: Sendable {
    /// What was changed since it was read is written; fields that somebody else has changed meanwhile stay as they did.
    /// Where both changed one field the later write, this one, shows. A deletion deletes.
    case lastWriteWins
    /// Nothing is written, and the call throws `conflict`.
    case failOnConflict
    /// The document becomes what is given, without the fields that only the stored one has.
    case replace
}

/// What a handler of conflicts decides on: the document that was to be saved, and the stored one.
public struct SaveConflict: Sendable {
    /// As it was to be saved.
    public let mine: Document
    /// As it was read before it was changed; without fields for a new one.
    public let base: JSONValue
    /// As the database has it now; nil where it is deleted or purged.
    public let stored: Document?
}
