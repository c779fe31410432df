import CSQLite
import KithDocument

/// `kq_each(json)`: a row with the text of each element of a canonical array, and none for all else.
///
/// SQLite's own `json_each` rounds numbers.
enum ArrayElements {
    private static let arrayColumn: Int32 = 1

    static func register(on handle: OpaquePointer) -> Int32 {
        sqlite3_create_module_v2(handle, "kq_each", module, nil, nil)
    }

    /// Written once, before any connection has it, and only read from then on.
    nonisolated(unsafe) private static let module: UnsafePointer<sqlite3_module> = {
        let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        module.initialize(to: sqlite3_module())
        module.pointee.xConnect = { handle, _, _, _, table, _ in ArrayElements.connect(handle, table) }
        module.pointee.xBestIndex = { _, info in ArrayElements.plan(info) }
        module.pointee.xDisconnect = { table in
            sqlite3_free(table)
            return SQLITE_OK
        }
        module.pointee.xOpen = { _, cursor in ArrayElements.open(cursor) }
        module.pointee.xClose = { cursor in
            sqlite3_free(ArrayElements.own(cursor).pointee.text)
            sqlite3_free(cursor)
            return SQLITE_OK
        }
        module.pointee.xFilter = { cursor, _, _, count, values in ArrayElements.begin(cursor, count, values) }
        module.pointee.xNext = { cursor in
            ArrayElements.advance(ArrayElements.own(cursor))
            return SQLITE_OK
        }
        module.pointee.xEof = { cursor in ArrayElements.own(cursor).pointee.start < 0 ? 1 : 0 }
        module.pointee.xColumn = { cursor, context, column in ArrayElements.give(cursor, context, column) }
        module.pointee.xRowid = { cursor, number in
            number?.pointee = ArrayElements.own(cursor).pointee.place
            return SQLITE_OK
        }
        return UnsafePointer(module)
    }()

    private static func own(
        _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?
    ) -> UnsafeMutablePointer<kith_elements_cursor> {
        UnsafeMutableRawPointer(cursor!).assumingMemoryBound(to: kith_elements_cursor.self)
    }

    private static func connect(
        _ handle: OpaquePointer?, _ table: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?
    ) -> Int32 {
        let code = sqlite3_declare_vtab(handle, "CREATE TABLE elements(value TEXT, json HIDDEN)")
        guard code == SQLITE_OK else { return code }
        _ = kith_set_innocuous(handle)
        guard let memory = sqlite3_malloc64(UInt64(MemoryLayout<sqlite3_vtab>.size)) else { return SQLITE_NOMEM }
        let made = memory.bindMemory(to: sqlite3_vtab.self, capacity: 1)
        made.initialize(to: sqlite3_vtab())
        table?.pointee = made
        return SQLITE_OK
    }

    /// The array has to be known: there are no rows without it.
    private static func plan(_ info: UnsafeMutablePointer<sqlite3_index_info>?) -> Int32 {
        guard let info else { return SQLITE_ERROR }
        for index in 0..<Int(info.pointee.nConstraint) {
            let constraint = info.pointee.aConstraint[index]
            guard constraint.iColumn == arrayColumn, constraint.op == UInt8(SQLITE_INDEX_CONSTRAINT_EQ) else {
                continue
            }
            guard constraint.usable != 0 else { return SQLITE_CONSTRAINT }
            info.pointee.aConstraintUsage[index].argvIndex = 1
            info.pointee.aConstraintUsage[index].omit = 1
        }
        info.pointee.estimatedCost = 10
        info.pointee.estimatedRows = 10
        return SQLITE_OK
    }

    private static func open(
        _ cursor: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?
    ) -> Int32 {
        guard let memory = sqlite3_malloc64(UInt64(MemoryLayout<kith_elements_cursor>.size)) else {
            return SQLITE_NOMEM
        }
        let made = memory.bindMemory(to: kith_elements_cursor.self, capacity: 1)
        made.initialize(to: kith_elements_cursor())
        made.pointee.start = -1
        cursor?.pointee = memory.assumingMemoryBound(to: sqlite3_vtab_cursor.self)
        return SQLITE_OK
    }

    private static func begin(
        _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ count: Int32,
        _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) -> Int32 {
        let cursor = own(cursor)
        sqlite3_free(cursor.pointee.text)
        cursor.pointee.text = nil
        (cursor.pointee.count, cursor.pointee.start, cursor.pointee.end, cursor.pointee.place) = (0, -1, 0, 0)
        guard count > 0, let value = values?[0], sqlite3_value_type(value) == SQLITE_TEXT,
            let start = sqlite3_value_blob(value)
        else { return SQLITE_OK }
        let length = Int(sqlite3_value_bytes(value))
        guard let copy = sqlite3_malloc64(UInt64(max(1, length))) else { return SQLITE_NOMEM }
        copy.copyMemory(from: start, byteCount: length)
        cursor.pointee.text = copy.assumingMemoryBound(to: UInt8.self)
        cursor.pointee.count = length
        advance(cursor)
        return SQLITE_OK
    }

    private static func advance(_ cursor: UnsafeMutablePointer<kith_elements_cursor>) {
        let text = UnsafeRawBufferPointer(start: cursor.pointee.text, count: cursor.pointee.count)
        cursor.pointee.place += 1
        guard let next = CanonicalJSON.nextElement(after: cursor.pointee.end, of: text) else {
            cursor.pointee.start = -1
            return
        }
        (cursor.pointee.start, cursor.pointee.end) = (next.lowerBound, next.upperBound)
    }

    private static func give(
        _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ context: OpaquePointer?, _ column: Int32
    ) -> Int32 {
        let cursor = own(cursor)
        guard let context, let text = cursor.pointee.text else { return SQLITE_OK }
        if column == arrayColumn {
            kith_result_text_copy(context, text, Int32(cursor.pointee.count))
        } else if cursor.pointee.start >= 0 {
            let count = cursor.pointee.end - cursor.pointee.start
            kith_result_text_copy(context, text + cursor.pointee.start, Int32(count))
        }
        return SQLITE_OK
    }
}
