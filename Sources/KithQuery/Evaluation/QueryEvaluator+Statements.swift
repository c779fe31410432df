import KithDocument

/// A row of a result.
package struct QueryRow: Sendable, Equatable {
    package struct Column: Sendable, Equatable {
        package var name: String
        package var value: QueryValue

        package init(name: String, value: QueryValue) {
            self.name = name
            self.value = value
        }
    }

    package var columns: [Column]
    /// Whether it is a value and no object: RAW.
    package var isRaw: Bool

    package init(columns: [Column], isRaw: Bool = false) {
        self.columns = columns
        self.isRaw = isRaw
    }

    /// What makes it a row of its own.
    var key: ValueKey { ValueKey(columns.flatMap { [.string($0.name), $0.value] }) }

    /// The value, or the object of the columns, those apart that are MISSING.
    package var value: QueryValue {
        if isRaw { return columns[0].value }
        return .object(JSONObject(columns.compactMap { column in column.value.json.map { (column.name, $0) } }))
    }
}

extension QueryEvaluator {
    /// The rows of a query.
    /// - Parameter documents: those of a source by its name.
    package func rows(
        of query: CheckedQuery, documents: (String) throws(QueryError) -> [QueryDocument]
    ) throws(QueryError) -> [QueryRow] {
        let statement = query.statement
        var scopes = try self.scopes(statement, documents)
        if query.isGrouped { scopes = try groups(of: scopes, statement) }
        if let filter = statement.groupFilter { scopes = try kept(scopes, filter) }
        var sorted: [(row: QueryRow, keys: [QueryValue])] = []
        var seen: Set<ValueKey> = []
        for scope in scopes {
            let row = try self.row(query, scope)
            if statement.isDistinct, !seen.insert(row.key).inserted { continue }
            sorted.append((row, try orderKeys(statement.order, scope)))
        }
        let order = try self.order(sorted.map(\.keys), by: statement.order)
        let (limit, offset) = (try count(statement.limit, "LIMIT"), try count(statement.offset, "OFFSET"))
        return order.dropFirst(offset ?? 0).prefix(limit ?? .max).map { sorted[$0].row }
    }

    /// Whether a document is one that a condition is TRUE of.
    package func isTrue(_ filter: CheckedFilter, of document: QueryDocument) throws(QueryError) -> Bool {
        try evaluate(filter.condition, QueryScope().with(filter.alias, document)).isTrue
    }

    // FROM, JOIN, UNNEST, LET, WHERE.

    private func scopes(
        _ statement: QueryStatement, _ documents: (String) throws(QueryError) -> [QueryDocument]
    ) throws(QueryError) -> [QueryScope] {
        var scopes = [QueryScope()]
        if let source = statement.source {
            scopes = try documents(source.name).map { QueryScope().with(source.alias, $0) }
        }
        for join in statement.joins { scopes = try joined(scopes, join, documents) }
        for binding in statement.bindings {
            for index in scopes.indices {
                scopes[index] = scopes[index].with(binding.name, try evaluate(binding.value, scopes[index]))
            }
        }
        guard let filter = statement.filter else { return scopes }
        return try kept(scopes, filter)
    }

    private func kept(_ scopes: [QueryScope], _ condition: QueryExpression) throws(QueryError) -> [QueryScope] {
        var kept: [QueryScope] = []
        for scope in scopes where try evaluate(condition, scope).isTrue { kept.append(scope) }
        return kept
    }

    private func joined(
        _ scopes: [QueryScope], _ join: QueryJoin, _ documents: (String) throws(QueryError) -> [QueryDocument]
    ) throws(QueryError) -> [QueryScope] {
        var joined: [QueryScope] = []
        for scope in scopes {
            switch join {
            case .cross(let source):
                for document in try documents(source.name) { joined.append(scope.with(source.alias, document)) }
            case .inner(let source, let condition):
                joined += try matches(scope, source, condition, documents)
            case .left(let source, let condition):
                let found = try matches(scope, source, condition, documents)
                joined += found.isEmpty ? [scope.with(source.alias, .missing)] : found
            case .unnest(let array, let alias, let isLeft, _):
                let elements = try evaluate(array, scope).array ?? []
                for element in elements { joined.append(scope.with(alias, QueryValue(element))) }
                if elements.isEmpty, isLeft { joined.append(scope.with(alias, .missing)) }
            }
            if joined.count > QueryLimits.rows {
                throw .running("the query joins more than \(QueryLimits.rows) rows")
            }
        }
        return joined
    }

    private func matches(
        _ scope: QueryScope, _ source: QuerySource, _ condition: QueryExpression,
        _ documents: (String) throws(QueryError) -> [QueryDocument]
    ) throws(QueryError) -> [QueryScope] {
        try kept(try documents(source.name).map { scope.with(source.alias, $0) }, condition)
    }

    // GROUP BY.

    /// A scope for each group, in the order in which their first rows come.
    private func groups(of scopes: [QueryScope], _ statement: QueryStatement) throws(QueryError) -> [QueryScope] {
        var places: [ValueKey: Int] = [:]
        var groups: [(values: [QueryValue], rows: [QueryScope])] = []
        let collations = statement.groups.map { collation(of: $0.key) }
        for scope in scopes {
            let values = try evaluate(statement.groups.map(\.key), scope)
            let key = ValueKey(zip(values, collations).map { $1.folded($0) })
            if let place = places[key] {
                groups[place].rows.append(scope)
            } else {
                places[key] = groups.count
                groups.append((values, [scope]))
            }
        }
        if groups.isEmpty, statement.groups.isEmpty { groups.append(([], [])) }
        return groups.map { group in
            var scope = QueryScope()
            let keys = zip(statement.groups, group.values).map { (key: $0.key, value: $1) }
            scope.group = QueryScope.Group(keys: keys, rows: group.rows)
            return scope
        }
    }

    // SELECT.

    private func row(_ query: CheckedQuery, _ scope: QueryScope) throws(QueryError) -> QueryRow {
        switch query.statement.selection {
        case .raw(let value):
            return QueryRow(columns: [QueryRow.Column(name: "", value: try evaluate(value, scope))], isRaw: true)
        case .columns(let columns):
            var row = QueryRow(columns: [])
            for (column, name) in zip(columns, query.columnNames) {
                switch column {
                case .all:
                    row.columns += scope.variables.map { QueryRow.Column(name: $0.name, value: $0.value) }
                case .members(let value):
                    for (key, value) in try evaluate(value, scope).object ?? JSONObject() {
                        row.columns.append(QueryRow.Column(name: key, value: QueryValue(value)))
                    }
                case .value(let value, _):
                    row.columns.append(QueryRow.Column(name: name, value: try evaluate(value, scope)))
                }
            }
            return row
        }
    }

    // ORDER BY, LIMIT, OFFSET.

    private func orderKeys(_ order: [QueryOrdering], _ scope: QueryScope) throws(QueryError) -> [QueryValue] {
        var keys: [QueryValue] = []
        for ordering in order { keys.append(collation(of: ordering.key).folded(try evaluate(ordering.key, scope))) }
        return keys
    }

    /// The places of the rows in their order; equal ones keep theirs.
    private func order(_ keys: [[QueryValue]], by order: [QueryOrdering]) throws(QueryError) -> [Int] {
        keys.indices.sorted { one, other in
            for (index, ordering) in order.enumerated() {
                switch Self.order(keys[one][index], keys[other][index], by: ordering) {
                case .less: return true
                case .greater: return false
                case .equal: continue
                }
            }
            return one < other
        }
    }

    private static func order(_ one: QueryValue, _ other: QueryValue, by ordering: QueryOrdering) -> ValueOrder {
        if let nullsFirst = ordering.nullsFirst, one.isValued != other.isValued {
            return other.isValued == nullsFirst ? .less : .greater
        }
        let order = one.order(to: other)
        return ordering.isDescending ? order.reversed : order
    }

    private func count(_ expression: QueryExpression?, _ clause: String) throws(QueryError) -> Int? {
        guard let expression else { return nil }
        guard let count = try evaluate(expression, QueryScope()).number?.count, count >= 0 else {
            throw .at(expression.position, "\(clause) is not an integer from 0 on")
        }
        return count
    }
}
