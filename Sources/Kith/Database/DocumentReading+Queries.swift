import KithDocument
import KithQuery
import KithStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DocumentReading {
    /// The rows of a query in SQL++ (docs/query.md), of the moment that is read.
    ///
    ///     let titles = try snapshot.query(
    ///         "SELECT RAW title FROM _ WHERE type = $type ORDER BY title", ["type": "todo"])
    ///
    /// Every name in FROM is this database. Only documents that live are seen, each as a plain read shows it.
    /// - Parameter parameters: by their names without `$`; bound, never pasted into the text.
    /// - Returns: for each row an object of its columns, those apart that are MISSING; for SELECT RAW the value, null for MISSING.
    /// - Throws: `KithError` `invalid` with line and column and what was expected there: a text that is wrong, a parameter
    ///   without a value, an index that is not there; what the disk gives.
    /// - Complexity: all rows are held in memory; `explain` says how they are found.
    public func query(_ text: String, _ parameters: [String: JSONValue] = [:]) throws(KithError) -> [JSONValue] {
        let reader = try access.reader()
        let now = Date()
        let values = ParameterValues(JSONObject(parameters.map { ($0.key, $0.value.tree) }))
        return try Database.store { () throws(StoreError) in
            let cursor = try reader.query(
                text, parameters: values, now: Int64(now.timeIntervalSince1970 * 1_000),
                offset: TimeZone.current.secondsFromGMT(for: now) / 60)
            return try cursor.rows().map { JSONValue($0.value.element) }
        }
    }

    /// How a query would be run: the SQL, SQLite's plan, the indexes that are used, or one that would help. A line each, for
    /// people; parameters need no values.
    /// - Throws: `KithError` `invalid` as `query`.
    public func explain(_ text: String) throws(KithError) -> [String] {
        let reader = try access.reader()
        return try Database.store { () throws(StoreError) in try reader.explain(text).lines }
    }
}

extension Database {
    /// The rows of a query in SQL++ (`DocumentReading.query`), in a snapshot of its own.
    public func query(_ text: String, _ parameters: [String: JSONValue] = [:]) async throws -> [JSONValue] {
        try await read { try $0.query(text, parameters) }
    }

    /// The same, blocking.
    public func query(_ text: String, _ parameters: [String: JSONValue] = [:]) throws -> [JSONValue] {
        try read { try $0.query(text, parameters) }
    }

    /// How a query would be run (`DocumentReading.explain`).
    public func explain(_ text: String) async throws -> [String] { try await read { try $0.explain(text) } }

    /// The same, blocking.
    public func explain(_ text: String) throws -> [String] { try read { try $0.explain(text) } }
}
