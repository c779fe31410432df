/// The bounds of a store; docs/limits.md lists them with those of other targets.
enum Limits {
    /// Longest message of an error in characters: far above any of ours with the longest path in it; none is cut.
    static let messageCharacters = 10_000
    /// Longest subject of an error, and longest name in a message: leaves the sentence around it readable.
    static let subjectCharacters = 80
    /// Longest path in a message, in characters: the longest that the system takes, since half a path is of no use.
    static let pathCharacters = 4_096
    /// Pages of 4 KiB in the write-ahead log before SQLite copies them into the file: 16 MiB, so that a page written by
    /// many transactions in a row is copied once.
    static let walPages = 4096
    /// Above this size in bytes the log is cut to nothing, and who writes waits a moment for readers: there is always one
    /// at work then.
    static let walBytes = 64 << 20
    /// How long emptying a log that has grown beyond `walBytes` waits for readers, in milliseconds: writers wait as long.
    static let logWaitMilliseconds: Int32 = 250
    /// After a reader was in the way the log grows by so many pages before it is tried again: 8 MiB.
    static let logRetryPages = 2048
    /// How often SQLite may have begun the log anew since the last claim that is on disk, for it still to be taken for
    /// the same file's: claims are written at each commit and reach the disk within a minute.
    static let logsBetweenClaims: UInt32 = 1 << 16
    /// Page cache of the writing connection in KiB.
    static let writerCacheKiB = 16 << 10
    /// Page cache of a reading connection in KiB: there are several.
    static let readerCacheKiB = 4 << 10
    /// How long SQLite waits for its own locks in milliseconds: only a first reader's recovery ever holds one for long.
    static let busyMilliseconds: Int32 = 5_000
    /// Leaves of one document: above it a delivery to the document is refused. Merging leaves far fewer behind.
    static let leavesPerDocument = 1_024
    /// Ancestors taken with one revision: more than any node keeps by default, and bounded.
    static let ancestorsPerRevision = 1_024
    /// Documents recorded as refused; the oldest record goes beyond it, so that a hostile peer can't fill the disk.
    static let refusedDocuments = 10_000
    /// Longest reason in a record of refusal, in characters: it is made of a peer's bytes, and far above any of ours.
    static let refusalCharacters = 200
    /// Revisions named by one record of refusal.
    static let refusedLeaves = 1_024
    /// Goes up whenever a rule or a limit for received revisions changes: records of refusal made under another number
    /// no longer count, and what they refused is asked for again.
    static let refusalRules: Int64 = 1
    /// Documents that were dropped, as expired or as ones that no filter wants, and are remembered until the store is closed; with more of them every new
    /// document has a fresh writer.
    static let droppedDocuments = 65_536
    /// Looks at whether it is still wanted, some thousand steps each (`QueryLimits.stepsBetweenLooks`), after which a filter has
    /// cost enough: a document that needs more does not match, and a page of the feed ends.
    static let filterLooksPerDocument = 200
    static let filterLooksPerPage = 1_000
    /// Leaves written by fresh writers that are remembered; a forgotten one costs another fresh writer.
    static let onceWriters = 4_096
    /// How long the body of an overruled leaf is kept by default: 30 days in milliseconds.
    static let keptMilliseconds: Int64 = 30 * 24 * 3600 * 1000
    /// How long a document that expired stays, hidden, in milliseconds of running: a day, so that a clock that is ahead for
    /// an hour, or for most of a day, loses nothing.
    static let expiryDayMilliseconds: UInt64 = 24 * 3600 * 1000
    /// Milliseconds between two readings of the clock that are kept: an hour, so that a day of them is a few.
    static let expiryReadingMilliseconds: UInt64 = 3600 * 1000
    /// Longest body of a local document in bytes: they hold checkpoints and small settings.
    static let localDocumentBytes = 1 << 20
    /// Instructions of SQLite between two looks at whether a long statement is still wanted: about a millisecond.
    static let watchInstructions: Int32 = 20_000
    /// Statements of queries that one connection keeps prepared.
    static let preparedQueries = 64
    /// Plans of queries that are counted; further ones are not.
    static let plansCounted = 100
    /// Expressions that one connection keeps read, of those that SQLite has evaluated.
    static let compiledExpressions = 1_000
    /// From here on an argument that is the same for all rows is kept as a value between them: less is read again as soon as kept.
    static let keptArgumentBytes = 128
    /// Indexes of one database: each is kept with every write.
    static let indexes = 64
    /// Rows of a query that wait on the disk for a slow reader, in bytes: what an export of a large database has, and less than
    /// a query gone astray would fill a disk with.
    static let waitingRowBytes = 4 << 30
    /// Such rows leave so many bytes free on the disk: writers go before them.
    static let waitingRowReserveBytes = 64 << 20
    /// Documents that a check reads at once, and the bytes of their bodies with which a page ends: a page is one short
    /// reading, so that the write-ahead log can be emptied between two of them.
    static let pageDocuments = 200
    static let pageBytes = 4 << 20
    /// Findings that one check tells of; the others are counted.
    static let findings = 1_000
    /// How far the write-ahead log may grow in bytes during a reading of the whole file, before that is given up.
    static let longReadingLogBytes = 512 << 20
    /// Longest payload of a row that is taken from a damaged file, in bytes: a document of 20 MiB and its tree.
    static let salvagedRowBytes = 64 << 20
    /// Most bytes of a database's name in the names of the files beside it: with the longest ending they fit in 255.
    static let nameBytesAside = 180
    /// Damaged files of a database that stay after repairs, the newest: the first may still hold what the last has lost.
    static let damagedFilesKept = 3
    /// Bytes of a file that are read and handed on at once.
    static let filePartBytes = 256 << 10
}
