import CSQLite

/// What full-text indexes need of SQLite's FTS5, on one connection: a tokenizer, and a function that marks what was found.
enum FullText {
    /// Nothing where SQLite was built without FTS5: making an index says so.
    static func register(on handle: OpaquePointer) -> Int32 {
        guard let api = api(of: handle) else { return SQLITE_OK }
        var tokenizer = WordTokenizer.methods
        let code = api.pointee.xCreateTokenizer(api, "kith", UnsafeMutableRawPointer(api), &tokenizer, nil)
        if code != SQLITE_OK { return code }
        return api.pointee.xCreateFunction(
            api, "kith_highlight", nil, { Highlight.run($0, $1, $2, $3, $4) }, nil)
    }

    /// FTS5's own interface; it lives as long as the connection.
    static func api(of handle: OpaquePointer) -> UnsafeMutablePointer<fts5_api>? {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, "SELECT fts5(?1)", -1, &statement, nil) == SQLITE_OK else { return nil }
        defer { sqlite3_finalize(statement) }
        return withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<fts5_api>?.self, capacity: 1) { place in
            place.initialize(repeating: nil)
            sqlite3_bind_pointer(statement, 1, UnsafeMutableRawPointer(place.baseAddress!), "fts5_api_ptr", nil)
            sqlite3_step(statement)
            return place[0]
        }
    }
}
