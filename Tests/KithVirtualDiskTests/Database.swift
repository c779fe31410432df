import CSQLite

/// A connection of SQLite, as a test wants it.
final class Database {
    struct Failure: Error { let code: Int32 }

    enum Journal: String, CaseIterable { case wal, delete, truncate, persist }

    private var handle: OpaquePointer?

    init(_ path: String, _ journal: Journal, _ synchronous: String = "FULL", layer: String? = nil) throws {
        let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, layer)
        guard code == SQLITE_OK else { throw Failure(code: code) }
        try run("PRAGMA journal_mode=\(journal.rawValue); PRAGMA synchronous=\(synchronous); PRAGMA cache_size=5")
    }

    deinit { sqlite3_close_v2(handle) }

    func run(_ text: String) throws {
        let code = sqlite3_exec(handle, text, nil, nil, nil)
        if code != SQLITE_OK { throw Failure(code: code) }
    }

    func text(_ text: String) throws -> String {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        var code = sqlite3_prepare_v2(handle, text, -1, &statement, nil)
        guard code == SQLITE_OK else { throw Failure(code: code) }
        code = sqlite3_step(statement)
        guard code == SQLITE_ROW, let text = sqlite3_column_text(statement, 0) else { throw Failure(code: code) }
        return String(cString: text)
    }

    func number(_ text: String) throws -> Int { Int(try self.text(text)) ?? -1 }
}
