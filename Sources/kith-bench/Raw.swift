import CSQLite
import KithDocument

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// SQLite used directly: one table with the rows and indexes of a Kith database, one prepared statement.
final class Raw {
    struct Row {
        let sequence: Int64
        let id: [UInt8]
        let flags: Int64
        let revision: [UInt8]
        let tree: [UInt8]
        let body: [UInt8]
    }

    private var handle: OpaquePointer?

    /// An empty database at the path, in the place of what was there.
    init(path: String) {
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        Self.check(sqlite3_open(path, &handle))
        run(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=4096; PRAGMA cache_size=-16384"
        )
        run(
            """
            CREATE TABLE documents(number INTEGER PRIMARY KEY, sequence INTEGER NOT NULL UNIQUE, id TEXT NOT NULL UNIQUE, flags INTEGER NOT NULL,
            revision BLOB NOT NULL, tree BLOB NOT NULL, body TEXT);
            CREATE INDEX conflicts ON documents(sequence) WHERE flags & 2
            """)
    }

    deinit { sqlite3_close(handle) }

    /// All rows of a Kith database, in order.
    static func rows(of path: String) throws -> [Row] {
        var handle: OpaquePointer?
        check(sqlite3_open(path, &handle))
        defer { sqlite3_close(handle) }
        var statement: OpaquePointer?
        let text = "SELECT sequence, id, flags, revision, tree, body FROM documents ORDER BY sequence"
        check(sqlite3_prepare_v2(handle, text, -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        func bytes(_ column: Int32) -> [UInt8] {
            Array(
                UnsafeRawBufferPointer(
                    start: sqlite3_column_blob(statement, column), count: Int(sqlite3_column_bytes(statement, column))))
        }
        var rows: [Row] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            rows.append(
                Row(
                    sequence: sqlite3_column_int64(statement, 0), id: bytes(1),
                    flags: sqlite3_column_int64(statement, 2),
                    revision: bytes(3), tree: bytes(4), body: bytes(5)))
        }
        return rows
    }

    func write(_ rows: [Row], batch: Int) {
        var statement: OpaquePointer?
        Self.check(
            sqlite3_prepare_v2(
                handle, "INSERT INTO documents VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6)", -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        for start in stride(from: 0, to: rows.count, by: batch) {
            run("BEGIN IMMEDIATE")
            for row in rows[start..<min(start + batch, rows.count)] { insert(row, statement) }
            run("COMMIT")
        }
    }

    private func insert(_ row: Row, _ statement: OpaquePointer?) {
        row.id.withUnsafeBytes { id in
            row.revision.withUnsafeBytes { revision in
                row.tree.withUnsafeBytes { tree in
                    row.body.withUnsafeBytes { body in
                        sqlite3_bind_int64(statement, 1, row.sequence)
                        _ = kith_bind_text_borrowed(statement, 2, id.baseAddress, Int32(id.count))
                        sqlite3_bind_int64(statement, 3, row.flags)
                        _ = kith_bind_blob_borrowed(statement, 4, revision.baseAddress, Int32(revision.count))
                        _ = kith_bind_blob_borrowed(statement, 5, tree.baseAddress, Int32(tree.count))
                        _ = kith_bind_text_borrowed(statement, 6, body.baseAddress, Int32(body.count))
                        Self.check(sqlite3_step(statement), SQLITE_DONE)
                        sqlite3_reset(statement)
                    }
                }
            }
        }
    }

    /// The bytes of the bodies read.
    func read(_ ids: [DocumentID]) -> Int {
        var statement: OpaquePointer?
        Self.check(sqlite3_prepare_v2(handle, "SELECT body FROM documents WHERE id = ?1", -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        var total = 0
        for id in ids {
            var text = id.string
            text.withUTF8 { _ = kith_bind_text_copy(statement, 1, $0.baseAddress, Int32($0.count)) }
            Self.check(sqlite3_step(statement), SQLITE_ROW)
            let body = Array(
                UnsafeRawBufferPointer(
                    start: sqlite3_column_blob(statement, 0), count: Int(sqlite3_column_bytes(statement, 0))))
            total += body.count
            sqlite3_reset(statement)
        }
        return total
    }

    private func run(_ text: String) { Self.check(sqlite3_exec(handle, text, nil, nil, nil)) }

    private static func check(_ code: Int32, _ expected: Int32 = SQLITE_OK) {
        precondition(code == expected, "raw SQLite failed with \(code)")
    }
}
