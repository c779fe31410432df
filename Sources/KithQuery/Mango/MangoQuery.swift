import KithDocument

/// A Mango query, as CouchDB's `_find` takes it: a selector, and what is to be made of the documents that fit.
package struct MangoQuery: Sendable, Equatable {
    package let condition: QueryExpression
    private let fields: QueryExpression
    private let order: [QueryOrdering]
    /// 25 where none is given, as in CouchDB.
    package let limit: Int
    package let skip: Int

    /// The variable that the document is in the conditions.
    package static let alias = "document"
    package static let defaultLimit = 25

    /// Members that say how a query is answered and not what it asks for: whoever answers it looks at them.
    private static let others = [
        "use_index", "allow_fallback", "conflicts", "r", "bookmark", "update", "stable", "stale", "execution_stats",
    ]

    /// - Throws: `QueryError.selector` with the path.
    package init(_ query: JSONValue) throws(QueryError) {
        guard let members = query.object else { throw .selector("a query is an object", path: "the query") }
        let known = ["selector", "fields", "sort", "limit", "skip"] + Self.others
        if let key = members.keys.first(where: { !known.contains($0) }) {
            throw .selector("expected one of \(known.joined(separator: ", "))", path: key)
        }
        guard let selector = members["selector"] else { throw .selector("expected an object", path: "selector") }
        condition = try Self.condition(selector)
        fields = try MangoProjection(members["fields"]).expression
        order = try Self.order(members["sort"])
        limit = try Self.count(members["limit"], "limit") ?? Self.defaultLimit
        skip = try Self.count(members["skip"], "skip") ?? 0
    }

    /// The condition that a selector alone is.
    /// - Throws: `QueryError.selector` with the path.
    package static func condition(_ selector: JSONValue) throws(QueryError) -> QueryExpression {
        var reader = MangoSelector(alias: alias)
        return try reader.condition(selector)
    }

    /// The same as a condition to evaluate.
    package static func filter(_ selector: JSONValue) throws(QueryError) -> CheckedFilter {
        try condition(selector).checkedAsFilter(alias: alias)
    }

    /// The query over a source.
    package func statement(from source: String) -> QueryStatement {
        var statement = QueryStatement(selection: .raw(fields), from: QuerySource(source, alias: Self.alias))
        statement.filter = condition
        statement.order = order
        statement.limit = .literal(.number(limit))
        statement.offset = skip > 0 ? .literal(.number(skip)) : nil
        return statement
    }

    private static func count(_ value: JSONValue?, _ name: String) throws(QueryError) -> Int? {
        guard let value else { return nil }
        guard let count = value.number?.count, count >= 0 else {
            throw .selector("expected an integer from 0 on", path: name)
        }
        return count
    }

    private static func order(_ value: JSONValue?) throws(QueryError) -> [QueryOrdering] {
        guard let value else { return [] }
        guard let list = value.array else { throw .selector("expected an array of fields", path: "sort") }
        var order: [QueryOrdering] = []
        for (index, element) in list.enumerated() {
            let path = "sort[\(index)]"
            var (name, direction) = (element.string, "asc")
            if let member = element.object, member.count == 1 {
                (name, direction) = (member[0].key, member[0].value.string ?? "")
            }
            guard let name, direction == "asc" || direction == "desc" else {
                throw .selector(
                    "expected the name of a field, or {\"field\": \"asc\"} or {\"field\": \"desc\"}", path: path)
            }
            let key = try MangoSelector.expression(
                try MangoField(name, at: path).names, from: .identifier(alias), isDocument: true, at: path)
            order.append(QueryOrdering(key, isDescending: direction == "desc"))
        }
        return order
    }
}
