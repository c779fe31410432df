import KithDocument
import KithNode
import KithStore

/// That a document was changed, by this program or by a peer.
public struct DocumentChange: Hashable, Sendable {
    /// The document.
    public let id: String
    /// The document's place in the order of changes of this database, on this node alone.
    public let sequence: UInt64
    /// The revision that a plain read shows.
    public let revision: String
    /// Whether it is a deletion.
    public let isDeleted: Bool
}

/// The changes of a database, each document with its latest one, in the order of their sequences.
///
///     for try await change in database.changes() { print(change.id) }
///
/// A document that was changed again before its change was read comes once, at its latest. So a reader that is slow or does not
/// ask costs nothing, and misses nothing that stands in the end; what was purged does not come. The iteration ends with its task,
/// and when the database is closed.
public struct DatabaseChanges: AsyncSequence, Sendable {
    /// A change.
    public typealias Element = DocumentChange

    let database: Database
    let start: UInt64

    /// Begins where the sequence does.
    public func makeAsyncIterator() -> Iterator { Iterator(database, after: start) }

    /// One reader of the changes.
    public struct Iterator: AsyncIteratorProtocol {
        private let database: Database
        private var follower: DatabaseFollower
        private var sequence: UInt64
        private var page: ArraySlice<FeedEntry> = []
        private var moment: DatabaseMoment?

        init(_ database: Database, after sequence: UInt64) {
            self.database = database
            self.sequence = sequence
            follower = DatabaseFollower(database)
        }

        /// The next change; nil when the task was cancelled or the database closed.
        /// - Throws: `KithError`: what the disk gives.
        public mutating func next() async throws -> DocumentChange? {
            while page.isEmpty {
                guard let now = try await follower.moment(after: moment) else { return nil }
                // Another file has other sequences: all its documents are told of.
                if follower.isOther, now.sequence < sequence { sequence = 0 }
                let after = sequence
                let found = try await database.reading { snapshot in
                    let reader = try snapshot.access.reader()
                    return try Database.store { () throws(StoreError) in
                        try reader.feed(after: after, limit: Limits.livePage)
                    }
                }
                page = found[...]
                // A full page may not be all.
                moment = found.count < Limits.livePage ? now : nil
            }
            let entry = page.removeFirst()
            sequence = entry.sequence
            return DocumentChange(
                id: entry.document.string, sequence: entry.sequence, revision: entry.revision.description,
                isDeleted: entry.isDeleted)
        }
    }
}

extension Database {
    /// Follows the changes of the database.
    /// - Parameter sequence: begins behind this one, as a program remembers it from the last change that it has dealt with;
    ///   0 for all documents; nil for what changes from now on.
    public func changes(since sequence: UInt64? = nil) -> DatabaseChanges {
        DatabaseChanges(database: self, start: sequence ?? ((try? home.executor())?.moment.sequence ?? 0))
    }
}
