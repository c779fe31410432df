import KithQuery

/// What failed in a store, to what, and why. Never carries the body of a document.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure; the raw values are stable and shown to programs.
    package enum Code: String, Sendable {
        /// The disk or the file's bound is full. Nothing was written; reads go on.
        case storageFull = "storage_full"
        /// The file is no database or its content contradicts itself.
        case damaged
        /// Another process, or another opening in this one, has the database.
        case locked
        /// The file or its file system can't be written.
        case readOnly = "read_only"
        /// A newer program wrote the file.
        case newerFile = "newer_file"
        /// The file is a database of another program.
        case foreignFile = "foreign_file"
        /// The directory is on a network file system, where SQLite's locks and shared memory can't be relied on.
        case networkFileSystem = "network_file_system"
        /// The file, or its log, is not the one any more that was opened: it was replaced, moved or removed.
        case moved = "file_moved"
        /// The file of a database that was here is not there any more.
        case missing = "file_missing"
        /// The file is not there or can't be opened.
        case cannotOpen = "cannot_open"
        /// The disk failed.
        case inputOutput = "io_error"
        case outOfMemory = "out_of_memory"
        /// The document or the revision is not there.
        case notFound = "not_found"
        /// The document has another revision than the one the caller names.
        case conflict
        /// What the caller gave breaks a rule; the message says which.
        case invalid
        /// The document was stamped with the highest time there is.
        case clockBeyondRange = "clock_beyond_range"
        /// Whoever asked for long work gave it up.
        case cancelled
        /// The database was closed in this process.
        case closed
        /// A fault of Kith.
        case internalError = "internal"
    }

    package let code: Code
    /// SQLite's extended result code; 0 where SQLite has no part in it.
    package let sqliteCode: Int32
    /// The database's name, a path, or a document's id, shortened.
    package let subject: String
    /// One sentence for people.
    package let message: String
    /// What is wrong with a query, and where.
    package let query: QueryError?

    package init(
        _ code: Code, _ subject: String, _ message: String, sqliteCode: Int32 = 0, query: QueryError? = nil
    ) {
        self.code = code
        self.sqliteCode = sqliteCode
        self.query = query
        self.subject = Self.shortened(subject, to: Limits.subjectCharacters)
        self.message = Self.shortened(message, to: Limits.messageCharacters)
    }

    /// Whether it may pass by itself, so that the work is worth trying again later.
    package var isTransient: Bool {
        switch code {
        case .outOfMemory, .locked: true
        default: isOfDisk
        }
    }

    /// Whether the disk, or what is above it, does not do what it should: no fault of what was asked, and gone when that
    /// is mended.
    package var isOfDisk: Bool {
        switch code {
        case .storageFull, .inputOutput, .readOnly, .cannotOpen, .moved, .missing: true
        default: false
        }
    }

    /// Whether SQLite found the file itself damaged, and not only what one row holds.
    package var isOfDamagedFile: Bool { code == .damaged && sqliteCode != 0 }

    package var description: String { "\(code.rawValue): \(message)" }

    /// The text on one line without control characters, cut in its middle when it is too long.
    static func shortened(_ text: String, to limit: Int) -> String {
        let scalars = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
        var short = String.UnicodeScalarView()
        if scalars.count <= limit {
            short.append(contentsOf: scalars)
        } else {
            short.append(contentsOf: scalars.prefix(limit / 2))
            short.append("…")
            short.append(contentsOf: scalars.suffix(limit - limit / 2 - 1))
        }
        return String(short)
    }
}
