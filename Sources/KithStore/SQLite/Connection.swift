import CSQLite

/// One connection to a SQLite file: the only wrapper of SQLite's handle.
///
/// Any thread may use it, one at a time. Statements are prepared once and kept until the connection closes.
final class Connection {
    enum Access {
        /// Reads and writes; makes the file when it is not there.
        case create
        /// Reads and writes.
        case write
        /// Reads, and refuses to write.
        case read
    }

    private let handle: OpaquePointer
    private var statements: [Statement?]
    /// What errors are about.
    let subject: String
    /// Asked now and then while statements run; see `watch`.
    private var watcher: Watcher?

    init(path: String, subject: String, access: Access) throws(StoreError) {
        self.subject = subject
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (access == .create ? SQLITE_OPEN_CREATE : 0)
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard let handle, code == SQLITE_OK else {
            let error = StoreError.sqlite(handle, code, subject)
            sqlite3_close_v2(handle)
            throw error
        }
        self.handle = handle
        statements = Array(repeating: nil, count: SQL.allCases.count)
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, Limits.busyMilliseconds)
        if access == .read { try run("PRAGMA query_only=1") }
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Asks the closure again and again while statements run, every few milliseconds of work; true ends the statement
    /// with an error of which `isInterruption` holds. Nil asks no more.
    func watch(_ isUnwanted: (() -> Bool)?) {
        watcher = isUnwanted.map(Watcher.init)
        guard let watcher else { return sqlite3_progress_handler(handle, 0, nil, nil) }
        sqlite3_progress_handler(
            handle, Limits.watchInstructions,
            { Unmanaged<Watcher>.fromOpaque($0!).takeUnretainedValue().isUnwanted() ? 1 : 0 },
            Unmanaged.passUnretained(watcher).toOpaque())
    }

    private final class Watcher {
        let isUnwanted: () -> Bool

        init(_ isUnwanted: @escaping () -> Bool) { self.isUnwanted = isUnwanted }
    }

    /// The statement, reset and without values.
    func statement(_ sql: SQL) throws(StoreError) -> Statement {
        if let statement = statements[sql.rawValue] { return statement }
        let statement = try prepare(sql.text)
        statements[sql.rawValue] = statement
        return statement
    }

    /// A statement that is used once.
    func prepare(_ text: String) throws(StoreError) -> Statement {
        var pointer: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        guard let pointer, code == SQLITE_OK else { throw StoreError.sqlite(handle, code, subject) }
        return Statement(pointer, subject: subject)
    }

    /// Runs statements that give no rows, or whose rows nobody needs.
    func run(_ text: String) throws(StoreError) {
        let code = sqlite3_exec(handle, text, nil, nil, nil)
        if code != SQLITE_OK { throw StoreError.sqlite(handle, code, subject) }
    }

    /// Runs a kept statement without values and rows.
    func run(_ sql: SQL) throws(StoreError) {
        let statement = try statement(sql)
        defer { statement.reset() }
        _ = try statement.step()
    }

    /// The first number of the first row; nil without a row.
    func number(_ text: String) throws(StoreError) -> Int64? {
        let statement = try prepare(text)
        return try statement.step() ? statement.number(0) : nil
    }

    /// Whether a transaction is open; some failures end it.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// One consistent reading: what `body` reads is of one moment. Within a transaction it is that one's.
    func reading<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        if isInTransaction { return try body() }
        try run(.begin)
        defer { if isInTransaction { try? run(.commit) } }
        return try body()
    }

    /// Copies the write-ahead log into the file and cuts it to nothing where no reader is in the way.
    func truncateLog() throws(StoreError) {
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if code != SQLITE_OK, code & 0xFF != SQLITE_BUSY { throw StoreError.sqlite(handle, code, subject) }
    }
}
