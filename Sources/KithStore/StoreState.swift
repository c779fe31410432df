import KithDocument

/// The one row of table `state`: what is known of the database as a whole. The writer keeps it in memory and writes it
/// once a commit; a value, so that what fails is undone by putting the old one back.
struct StoreState: Equatable {
    var sequence: UInt64 = 0
    var digest = Digest256.zero
    /// Documents of any kind.
    var documents: UInt64 = 0
    /// Documents of which nothing lives.
    var deleted: UInt64 = 0
    /// Documents with more than one live leaf.
    var conflicts: UInt64 = 0
    /// Rows of the table `purged`: while there are none nobody looks there.
    var purged: UInt64 = 0
    /// Rows of the table `refused`.
    var refused: UInt64 = 0
    /// The latest timeline that was written to the file; 0 before the first.
    var timeline: TimelineID = 0
    /// Names the file for as long as it lives, copies of it too.
    var database: UInt64 = 0

    var position: Position { Position(timeline: timeline, sequence: sequence) }

    var summary: StoreSummary {
        StoreSummary(
            position: position, digest: digest, documents: documents, deleted: deleted, conflicts: conflicts,
            purged: purged, refused: refused)
    }
}

/// Where a database stands: one consistent reading.
package struct StoreSummary: Hashable, Sendable {
    /// The present timeline, or the last one before the first write since opening, and the last sequence.
    package let position: Position
    package let digest: Digest256
    /// Documents of any kind, deleted ones too.
    package let documents: UInt64
    /// Documents of which nothing lives.
    package let deleted: UInt64
    /// Documents with more than one live leaf.
    package let conflicts: UInt64
    /// Documents purged here, of which nothing has come since, and those of this timeline of which something has.
    package let purged: UInt64
    /// Documents of which some revision was refused.
    package let refused: UInt64
}

extension StoreState {
    static func read(_ connection: Connection) throws(StoreError) -> StoreState {
        let row = try connection.statement(.readState)
        defer { row.reset() }
        guard try row.step() else {
            throw StoreError(
                .damaged, connection.subject, "\(connection.subject) has no state row: put a copy of the file back")
        }
        let digest = row.bytes(1)
        guard digest.count == 32 else {
            throw StoreError(
                .damaged, connection.subject,
                "the digest of \(connection.subject) is damaged: put a copy of the file back")
        }
        return StoreState(
            sequence: row.unsigned(0), digest: Digest256(bytes: digest), documents: row.unsigned(2),
            deleted: row.unsigned(3), conflicts: row.unsigned(4), purged: row.unsigned(5), refused: row.unsigned(6),
            timeline: row.unsigned(7), database: row.unsigned(8))
    }

    func write(_ connection: Connection) throws(StoreError) {
        let row = try connection.statement(.writeState)
        defer { row.reset() }
        row.bind(1, sequence)
        row.bind(2, blob: digest.bytes)
        row.bind(3, documents)
        row.bind(4, deleted)
        row.bind(5, conflicts)
        row.bind(6, purged)
        row.bind(7, refused)
        row.bind(8, timeline)
        _ = try row.step()
    }
}
