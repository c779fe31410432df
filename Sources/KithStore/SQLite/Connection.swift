import CSQLite
import KithSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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

    let handle: OpaquePointer
    private var statements: [Statement?]
    private let faults = ConnectionFaults()
    private let log = LogFrames()
    /// What errors are about.
    let subject: String
    /// What SQL may call: indexes are kept with every write, so every connection has them.
    let functions = QueryFunctions()
    /// The queries that were asked, and the indexes that they may use.
    let queries = QueryCache()
    /// Asked now and then while statements run; see `watch`.
    private var watcher: Watcher?

    init(
        path: String, subject: String, access: Access, on fileSystem: any FileSystem = LocalFileSystem()
    ) throws(StoreError) {
        self.subject = subject
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (access == .create ? SQLITE_OPEN_CREATE : 0)
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(path, &handle, flags, fileSystem.layer)
        guard let handle, code == SQLITE_OK else {
            let error = StoreError.sqlite(handle, code, subject)
            sqlite3_close_v2(handle)
            throw error
        }
        // SQLite opens what can't be written for reading, and the connection stays so when it can be written again.
        if access != .read, sqlite3_db_readonly(handle, "main") == 1 {
            let error = StoreError.sqlite(handle, SQLITE_READONLY, subject)
            sqlite3_close_v2(handle)
            throw error
        }
        self.handle = handle
        statements = Array(repeating: nil, count: SQL.allCases.count)
        sqlite3_extended_result_codes(handle, 1)
        let known = functions.register(on: handle)
        if known != SQLITE_OK { throw failure(known) }
        sqlite3_busy_timeout(handle, Limits.busyMilliseconds)
        // Of a database that is there, the log is its writer's to empty.
        if access == .read || access == .write && fileSystem.size(of: path + "-wal") > 0 { setCheckpointOnClose(false) }
        if access == .read { try run("PRAGMA query_only=1") }
    }

    deinit {
        statements.removeAll()
        queries.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Whether a call has failed in such a way that the connection is better opened anew: what it holds in memory of a
    /// file that failed is not to be trusted.
    var isBroken: Bool { faults.isBroken }

    /// The failure of a call on this connection.
    private func failure(_ code: Int32) -> StoreError {
        faults.note(code)
        return StoreError.sqlite(handle, code, subject)
    }

    /// Asks the closure again and again while statements run, every few milliseconds of work; true ends the statement
    /// with an error of which `isInterruption` holds. Nil asks no more.
    func watch(_ isUnwanted: (() -> Bool)?) { watch(by: isUnwanted.map(AskingWatcher.init)) }

    /// The same with what may be used again.
    func watch(by watcher: Watcher?) {
        self.watcher = watcher
        guard let watcher else { return sqlite3_progress_handler(handle, 0, nil, nil) }
        sqlite3_progress_handler(
            handle, Limits.watchInstructions,
            { Unmanaged<Watcher>.fromOpaque($0!).takeUnretainedValue().isUnwanted() ? 1 : 0 },
            Unmanaged.passUnretained(watcher).toOpaque())
    }

    /// What is asked whether statements are still wanted.
    class Watcher {
        func isUnwanted() -> Bool { false }
    }

    private final class AskingWatcher: Watcher {
        private let ask: () -> Bool

        init(_ ask: @escaping () -> Bool) { self.ask = ask }

        override func isUnwanted() -> Bool { ask() }
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
        guard let pointer, code == SQLITE_OK else { throw failure(code) }
        return Statement(pointer, subject: subject, faults: faults)
    }

    /// Runs statements that give no rows, or whose rows nobody needs.
    func run(_ text: String) throws(StoreError) {
        let code = sqlite3_exec(handle, text, nil, nil, nil)
        if code != SQLITE_OK { throw failure(code) }
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

    /// The first text of the first row; nil without a row.
    func text(_ text: String) throws(StoreError) -> String? {
        let statement = try prepare(text)
        return try statement.step() ? statement.string(0) : nil
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

    // MARK: The write-ahead log

    /// How many pages the log held after the last commit of this connection.
    var logFrames: Int { log.count }

    /// How many commits of this connection have written to the log. One that changed nothing asked nothing of the disk.
    var logCommits: Int { log.commits }

    /// Counts the log's pages from now on, instead of SQLite's emptying it by itself.
    func countLog() {
        sqlite3_wal_hook(
            handle,
            { context, _, _, frames in
                if let context { Unmanaged<LogFrames>.fromOpaque(context).takeUnretainedValue().committed(Int(frames)) }
                return SQLITE_OK
            }, Unmanaged.passUnretained(log).toOpaque())
    }

    /// Whether the log is emptied into the file when the last connection closes.
    func setCheckpointOnClose(_ isOn: Bool) { _ = kith_set_checkpoint_on_close(handle, isOn ? 1 : 0) }

    /// Copies the log into the file as far as readers let it, without waiting for anybody.
    func copyLog() throws(StoreError) {
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        if code != SQLITE_OK, code & 0xFF != SQLITE_BUSY { throw failure(code) }
    }

    /// Copies the whole log into the file, so that the next write begins it anew; waits that long for readers.
    /// - Returns: whether all of it is in the file.
    func restartLog(waitingMilliseconds: Int32) throws(StoreError) -> Bool {
        try checkpoint(SQLITE_CHECKPOINT_RESTART, waitingMilliseconds)
    }

    /// Copies the log into the file and cuts it to nothing; waits that long for readers.
    /// - Returns: whether it could.
    @discardableResult
    func truncateLog(waitingMilliseconds: Int32 = Limits.busyMilliseconds) throws(StoreError) -> Bool {
        let isDone = try checkpoint(SQLITE_CHECKPOINT_TRUNCATE, waitingMilliseconds)
        if isDone { log.count = 0 }
        return isDone
    }

    private func checkpoint(_ mode: Int32, _ waitingMilliseconds: Int32) throws(StoreError) -> Bool {
        sqlite3_busy_timeout(handle, waitingMilliseconds)
        defer { sqlite3_busy_timeout(handle, Limits.busyMilliseconds) }
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, nil)
        if code & 0xFF == SQLITE_BUSY { return false }
        if code != SQLITE_OK { throw failure(code) }
        return true
    }

    // MARK: Copying

    /// Writes all that was committed into a file that is not there yet. Not on disk when this returns.
    func copy(to path: String, on fileSystem: any FileSystem) throws(StoreError) {
        let target = try Connection(path: path, subject: subject, access: .create, on: fileSystem)
        guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw target.failure(sqlite3_extended_errcode(target.handle))
        }
        let code = sqlite3_backup_step(backup, -1)
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else { throw target.failure(end == SQLITE_OK ? code : end) }
    }
}

/// Notes failures after which a connection is opened anew.
final class ConnectionFaults {
    private(set) var isBroken = false

    func note(_ code: Int32) {
        switch code & 0xFF {
        case SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PROTOCOL:
            isBroken = true
        default: break
        }
    }
}

/// What SQLite tells after each commit.
private final class LogFrames {
    var count = 0
    private(set) var commits = 0

    func committed(_ frames: Int) {
        count = frames
        commits += 1
    }
}
