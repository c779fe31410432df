import CSQLite

/// How a database's file is built, without anything of its documents: for reports of trouble.
package struct StoreAnatomy: Sendable {
    /// The version of its format.
    package let format: Int64
    package let pageBytes: Int64
    package let pages: Int64
    package let freePages: Int64
    /// The tables, indexes and triggers of SQLite's schema, `TYPE NAME` each.
    package let schema: [String]
    /// Timelines that are remembered.
    package let timelines: Int64
    /// Names of indexes whose definition can't be read here.
    package let unreadableIndexes: [String]
}

extension StoreReader {
    package func anatomy() throws(StoreError) -> StoreAnatomy {
        let connection = connection
        return try connection.reading { () throws(StoreError) in
            var schema: [String] = []
            let row = try connection.prepare("SELECT type, name FROM sqlite_schema ORDER BY type, name")
            while try row.step() { schema.append("\(row.string(0)) \(row.string(1))") }
            return StoreAnatomy(
                format: try connection.number("PRAGMA user_version") ?? 0,
                pageBytes: try connection.number("PRAGMA page_size") ?? 0,
                pages: try connection.number("PRAGMA page_count") ?? 0,
                freePages: try connection.number("PRAGMA freelist_count") ?? 0, schema: schema,
                timelines: try connection.number("SELECT count(*) FROM timelines") ?? 0,
                unreadableIndexes: try IndexCatalog(connection).unreadable)
        }
    }
}

/// The library under the store.
package enum StoreLibrary {
    /// Its name and version.
    package static var version: String { "SQLite \(String(cString: sqlite3_libversion()))" }
}
