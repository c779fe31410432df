import KithCoding
import KithDocument
import KithQuery
import KithQueryBuilder
import KithStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A query that a database can be asked, however it was made.
struct RunnableQuery: Sendable {
    private enum Form {
        case text(String)
        case tree(CheckedQuery)
    }

    private let form: Form
    let parameters: ParameterValues

    init(_ text: String, _ parameters: [String: JSONValue]) {
        form = .text(text)
        self.parameters = Self.values(of: parameters)
    }

    init(_ query: CheckedQuery, _ parameters: ParameterValues) {
        form = .tree(query)
        self.parameters = parameters
    }

    /// - Throws: `KithError` `invalid` for what is wrong with the query.
    init(_ query: some BuiltQuery, _ parameters: [String: JSONValue] = [:]) throws(KithError) {
        let statement: QueryStatement
        do throws(QueryBuilderError) { statement = try query.statement } catch {
            throw KithError(.invalid, "query", "a query: \(error)")
        }
        self.init(try Self.checked(statement), Self.values(of: parameters))
    }

    private static func values(of parameters: [String: JSONValue]) -> ParameterValues {
        ParameterValues(JSONObject(parameters.map { ($0.key, $0.value.tree) }))
    }

    /// - Throws: `KithError` `invalid` with the place.
    static func checked(_ statement: @autoclosure () throws(QueryError) -> QueryStatement) throws(KithError)
        -> CheckedQuery
    {
        do throws(QueryError) { return try statement().checked() } catch {
            throw KithError(.invalid, "query", error.message)
        }
    }

    /// The tree.
    var checked: CheckedQuery {
        get throws(KithError) {
            switch form {
            case .text(let text): try Self.checked(QueryStatement(parsing: text))
            case .tree(let tree): tree
            }
        }
    }

    /// The time of a query and this machine's offset from UTC in minutes, as functions of dates take them.
    static var time: (now: Int64, offset: Int) {
        let now = Date()
        return (Int64(now.timeIntervalSince1970 * 1_000), TimeZone.current.secondsFromGMT(for: now) / 60)
    }

    func prepared(by reader: StoreReader) throws(StoreError) -> PreparedQuery {
        switch form {
        case .text(let text): try reader.prepare(text)
        case .tree(let tree): reader.prepare(tree)
        }
    }

    /// Asks the query, and hands over a row at a time.
    func forEachRow(by access: ReadAccess, _ body: (QueryRow) throws -> Void) throws {
        let run = try QueryRun(self, by: access, QueryOptions())
        while let row = try run.next() { try body(row) }
    }

    func values(
        by access: ReadAccess, _ options: QueryOptions = QueryOptions()
    ) throws(KithError) -> [KithDocument.JSONValue] {
        let run = try QueryRun(self, by: access, options)
        var values: [KithDocument.JSONValue] = []
        while let row = try run.next() { values.append(row.value.element) }
        return values
    }

    func explanation(by reader: StoreReader) throws(KithError) -> [String] {
        try Database.store { () throws(StoreError) in try reader.explain(try prepared(by: reader)).lines }
    }
}
