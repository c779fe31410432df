import CSQLite

/// A prepared statement. Bind from 1, step, read columns from 0, reset.
///
/// Nothing here reads a column of another type than the schema gives it, but a damaged file may: SQLite converts then,
/// and the reader of the bytes reports what makes no sense.
final class Statement {
    private let pointer: OpaquePointer
    private let subject: String
    private let faults: ConnectionFaults
    private var failure: Int32 = SQLITE_OK

    init(_ pointer: OpaquePointer, subject: String, faults: ConnectionFaults) {
        self.pointer = pointer
        self.subject = subject
        self.faults = faults
    }

    deinit { sqlite3_finalize(pointer) }

    func bind(_ index: Int32, _ number: Int64) { note(sqlite3_bind_int64(pointer, index, number)) }

    /// Sixty-four bits as they are: SQLite knows signed numbers only, and none of ours is compared as one beyond them.
    func bind(_ index: Int32, _ number: UInt64) { bind(index, Int64(bitPattern: number)) }

    func bindNull(_ index: Int32) { note(sqlite3_bind_null(pointer, index)) }

    func bind(_ index: Int32, text: String) {
        var text = text
        text.withUTF8 { note(kith_bind_text_copy(pointer, index, $0.baseAddress, Int32($0.count))) }
    }

    func bind(_ index: Int32, text: [UInt8]) {
        text.withUnsafeBytes { note(kith_bind_text_copy(pointer, index, $0.baseAddress, Int32($0.count))) }
    }

    func bind(_ index: Int32, blob: [UInt8]) {
        blob.withUnsafeBytes { note(kith_bind_blob_copy(pointer, index, $0.baseAddress, Int32($0.count))) }
    }

    /// The bytes must stay where they are until the statement is reset.
    func bind(_ index: Int32, borrowedText bytes: UnsafeRawBufferPointer) {
        note(kith_bind_text_borrowed(pointer, index, bytes.baseAddress, Int32(bytes.count)))
    }

    /// The bytes must stay where they are until the statement is reset.
    func bind(_ index: Int32, borrowedBlob bytes: UnsafeRawBufferPointer) {
        note(kith_bind_blob_borrowed(pointer, index, bytes.baseAddress, Int32(bytes.count)))
    }

    /// The first failure to bind shows when the statement steps.
    private func note(_ code: Int32) { if code != SQLITE_OK, failure == SQLITE_OK { failure = code } }

    /// Whether there is a row. The statement stands on it until the next step or `reset`.
    func step() throws(StoreError) -> Bool {
        if failure != SQLITE_OK { throw StoreError.sqlite(sqlite3_db_handle(pointer), failure, subject) }
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            faults.note(code)
            let error = StoreError.sqlite(sqlite3_db_handle(pointer), code, subject)
            sqlite3_reset(pointer)
            throw error
        }
    }

    /// Ready to be bound and stepped again; what was bound is let go.
    func reset() {
        sqlite3_reset(pointer)
        sqlite3_clear_bindings(pointer)
        failure = SQLITE_OK
    }

    /// How often SQLite has prepared it anew, as it does where it steps and the schema is another.
    var preparations: Int32 { sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }

    func number(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }

    func unsigned(_ column: Int32) -> UInt64 { UInt64(bitPattern: sqlite3_column_int64(pointer, column)) }

    /// The bytes of a text or blob, valid until the statement moves on.
    func withBytes<Value, Failure: Error>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let start = sqlite3_column_blob(pointer, column)
        return try body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column))))
    }

    /// The bytes of a text or blob.
    func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

    func string(_ column: Int32) -> String { withBytes(column) { String(decoding: $0, as: UTF8.self) } }
}
