import KithDocument

#if KITH_MUTANTS
import KithSystem
#endif

/// One page of the changes feed.
package struct StoredChanges: Hashable, Sendable {
    package let changes: [Change]
    /// The page covers all changes up to here, read or skipped.
    package let through: Position
    /// Whether nothing follows at the moment of reading.
    package let isCaughtUp: Bool
    /// The digest of the database at that moment; it belongs to `through` when caught up.
    package let digest: Digest256
}

/// One entry of the feed as people and programs get it: a document's winner.
package struct FeedEntry: Hashable, Sendable {
    package let sequence: UInt64
    package let document: DocumentID
    package let revision: RevisionID
    package let isDeleted: Bool
}

/// A document with more than one live leaf.
package struct ConflictEntry: Hashable, Sendable {
    package let sequence: UInt64
    package let document: DocumentID
    package let winner: RevisionID
}

extension StoreReader {
    /// The documents whose latest sequence is above `sequence`, ascending, at most `limit`.
    /// - Parameter filter: which of them match; a page may be shorter with one.
    /// - Complexity: O(changes read).
    package func changes(
        after sequence: UInt64, limit: Int, matching filter: DocumentFilter? = nil
    ) throws(StoreError) -> StoredChanges {
        try connection.reading { () throws(StoreError) in
            let state = try StoreState.read(connection)
            var changes: [Change] = []
            changes.reserveCapacity(min(max(1, limit), 1024))
            let matcher = filter.map { DocumentMatcher($0) }
            let row = try connection.statement(filter == nil ? .feed : .feedWithBodies)
            defer { row.reset() }
            row.bind(1, min(sequence, state.sequence))
            row.bind(2, state.sequence)
            row.bind(3, bound(limit))
            while matcher?.isSpent != true, try row.step() { changes.append(try change(row, matcher)) }
            let isCaughtUp = changes.count < max(1, limit) && matcher?.isSpent != true
            let through = isCaughtUp ? state.sequence : changes[changes.count - 1].sequence
            return StoredChanges(
                changes: changes, through: try position(of: through, state),
                isCaughtUp: isCaughtUp || through == state.sequence, digest: state.digest)
        }
    }

    /// A row of sequence, id, flags, revision, tree, and body where there is a filter.
    func change(_ row: Statement, _ matcher: DocumentMatcher? = nil) throws(StoreError) -> Change {
        let id = DocumentID(unchecked: row.string(1))
        let leaves: [AnnouncedLeaf]
        if DocumentFlags(rawValue: row.number(2)).contains(.singleLeaf) {
            leaves = [AnnouncedLeaf(id: try RevisionID(row, 3, of: id.string))]
        } else {
            leaves = digests.announced(try RevisionTree(row, 4, of: id.string))
        }
        return Change(
            sequence: row.unsigned(0), document: id, leaves: leaves, isMatching: try matcher?.matches(row, id) ?? true)
    }

    /// A sequence with the timeline it was written in, which outlives a restore of an older copy; with the latest where
    /// its own was forgotten.
    private func position(of sequence: UInt64, _ state: StoreState) throws(StoreError) -> Position {
        let row = try connection.statement(.timelineAt)
        defer { row.reset() }
        row.bind(1, sequence)
        guard try row.step(), row.isNull(1) || row.unsigned(1) >= sequence else {
            return Position(timeline: state.timeline, sequence: sequence)
        }
        return Position(timeline: row.unsigned(0), sequence: sequence)
    }

    /// From where the feed goes on for a puller with this checkpoint: the lesser of its sequence and its timeline's end;
    /// nil when the timeline is not known here.
    package func resume(at checkpoint: Position?) throws(StoreError) -> UInt64? {
        guard let checkpoint, checkpoint.sequence > 0 else { return 0 }
        return try connection.reading { () throws(StoreError) in
            let row = try connection.statement(.timelineById)
            defer { row.reset() }
            row.bind(1, checkpoint.timeline)
            #if KITH_MUTANTS
            if Mutant.isActive(.acceptsForgottenCheckpoint) {
                return min(checkpoint.sequence, try StoreState.read(connection).sequence)
            }
            #endif
            guard try row.step() else { return nil }
            let end = row.isNull(0) ? try StoreState.read(connection).sequence : row.unsigned(0)
            return min(checkpoint.sequence, end)
        }
    }

    /// The winners of the documents whose latest sequence is above `sequence`, ascending, at most `limit`.
    package func feed(after sequence: UInt64, limit: Int) throws(StoreError) -> [FeedEntry] {
        let row = try connection.statement(.winners)
        defer { row.reset() }
        row.bind(1, min(sequence, UInt64(Int64.max)))
        row.bind(2, bound(limit))
        var entries: [FeedEntry] = []
        while try row.step() {
            let id = DocumentID(unchecked: row.string(1))
            entries.append(
                FeedEntry(
                    sequence: row.unsigned(0), document: id, revision: try RevisionID(row, 3, of: id.string),
                    isDeleted: DocumentFlags(rawValue: row.number(2)).contains(.deleted)))
        }
        return entries
    }

    /// The documents in conflict whose latest sequence is above `sequence`, ascending, at most `limit`.
    /// - Complexity: O(conflicts read).
    package func conflicts(after sequence: UInt64, limit: Int) throws(StoreError) -> [ConflictEntry] {
        let row = try connection.statement(.feedOfConflicts)
        defer { row.reset() }
        row.bind(1, min(sequence, UInt64(Int64.max)))
        row.bind(2, Int64.max)
        row.bind(3, bound(limit))
        var entries: [ConflictEntry] = []
        while try row.step() {
            let id = DocumentID(unchecked: row.string(1))
            entries.append(
                ConflictEntry(
                    sequence: row.unsigned(0), document: id, winner: try RevisionID(row, 2, of: id.string)))
        }
        return entries
    }
}
