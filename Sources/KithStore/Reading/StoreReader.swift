import KithDocument

/// Reads a database. Any thread may use it, one at a time; several readers and the writer work beside each other.
///
/// Each call is one consistent reading of what was committed last, and holds nothing afterwards, so that no reader keeps
/// the write-ahead log from being emptied.
package final class StoreReader {
    let connection: Connection
    let digests = DocumentDigest()
    /// The wall clock in milliseconds since 1970: what has expired by it is hidden.
    package let now: () -> Int64

    init(_ connection: Connection, now: @escaping () -> Int64) {
        self.connection = connection
        self.now = now
    }

    /// Where the database stands.
    package func summary() throws(StoreError) -> StoreSummary { try StoreState.read(connection).summary }

    /// How far this database has durably taken the source's changes; nil before the first batch.
    /// - Parameter filter: with which they were; a checkpoint holds for one, or for none.
    package func checkpoint(
        of source: NodeID, filter: DocumentFilter? = nil
    ) throws(StoreError) -> Position? {
        try Checkpoints.read(of: source, filter, connection)
    }

    /// How far it has taken those of every source, without a filter.
    /// - Complexity: O(n) in the sources.
    package func checkpoints() throws(StoreError) -> [NodeID: Position] { try Checkpoints.read(connection) }

    /// How the database merges.
    package func policy() throws(StoreError) -> StoredPolicy { try StoredPolicy.read(connection) }

    /// The body of a local document.
    package func local(_ id: String) throws(StoreError) -> [UInt8]? {
        let row = try connection.statement(.readLocal)
        defer { row.reset() }
        row.bind(1, text: id)
        return try row.step() ? row.bytes(0) : nil
    }

    func bound(_ limit: Int) -> Int64 { Int64(max(1, limit)) }
}
