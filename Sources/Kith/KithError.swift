import KithDocument
import KithNode
import KithStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What went wrong: a code for programs, what it happened to, and one sentence for people that says what to do. Never
/// carries the content of a document.
public struct KithError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure; the raw values are stable.
    public enum Code: String, Sendable, CaseIterable {
        /// The document, the revision, the database or the file is not there.
        case notFound = "not_found"
        /// The document is not at the revision that was read.
        case conflict
        /// What was given breaks a rule; the message says which.
        case invalid
        /// A document, or a part of one, is not what the type wants. The message names the document and the path.
        case decoding
        /// The database or the folder is in use, by this process or another; the message says by whom.
        case inUse = "in_use"
        /// The database or the node was closed.
        case closed
        /// A call that would wait for itself: a blocking call within `read { }` or `write { }`.
        case nested
        /// This node's role in its group does not allow it.
        case forbidden
        /// The folder holds no node of a group, or one of another; an invitation does not hold.
        case membership
        /// The disk is full. Nothing was written; reads go on.
        case storageFull = "storage_full"
        /// The disk failed, or the file can't be written, or it was moved or taken away.
        case disk
        /// The file is damaged, or no database of Kith.
        case damaged
        /// A newer Kith wrote the file, or a newer version of the program has migrated the database.
        case newerFile = "newer_file"
        /// This machine's clock, or one whose edit was taken in, is beyond the year 4000.
        case clockBeyondRange = "clock_beyond_range"
        /// The work was cancelled; what was there is as it was.
        case cancelled
        /// A fault of Kith.
        case internalError = "internal"
    }

    /// The kind of failure.
    public let code: Code
    /// A document's id, a database's name, or a path, shortened.
    public let subject: String
    /// One sentence: what happened, to what, and what to do.
    public let message: String

    /// For errors of a program's own that are to look like these.
    public init(_ code: Code, _ subject: String, _ message: String) {
        self.code = code
        self.subject = subject
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

extension KithError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}

extension KithError {
    init(_ error: StoreError) {
        let code: Code =
            switch error.code {
            case .notFound: .notFound
            case .conflict: .conflict
            case .invalid: .invalid
            case .locked: .inUse
            case .storageFull: .storageFull
            case .readOnly, .networkFileSystem, .moved, .missing, .cannotOpen, .inputOutput, .outOfMemory: .disk
            case .damaged, .foreignFile: .damaged
            case .newerFile: .newerFile
            case .clockBeyondRange: .clockBeyondRange
            case .cancelled: .cancelled
            case .closed: .closed
            case .internalError: .internalError
            }
        self.init(code, error.subject, error.message)
    }

    init(_ error: DocumentError, of document: String) {
        let code: Code = if case .clockBeyondRange = error { .clockBeyondRange } else { .invalid }
        self.init(code, Shown.name(document), "document \(Shown.name(document)): \(error.message)")
    }

    init(_ error: NodeError, of folder: String) {
        let code: Code =
            switch error.code {
            case "directory_in_use": .inUse
            case "identity", "invite_code": .membership
            case "usage", "address": .invalid
            default: .disk
            }
        self.init(code, folder, error.message)
    }

    init(_ error: ControlError, of subject: String) {
        let code: Code =
            switch error.code {
            case .notFound: .notFound
            case .conflict, .exists: .conflict
            case .invalid, .usage, .tooLarge, .methodNotAllowed: .invalid
            case .forbidden: .forbidden
            case .unavailable: .closed
            case .storageFull: .storageFull
            case .notYet: .cancelled
            case .failed: .internalError
            }
        self.init(code, subject, error.message)
    }
}
