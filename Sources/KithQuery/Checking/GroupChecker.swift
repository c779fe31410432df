/// In a query with groups: every expression of a row is made of what GROUP BY has and of aggregates.
struct GroupChecker {
    private let keys: [QueryExpression]

    init(_ keys: [QueryExpression]) { self.keys = keys }

    func check(_ statement: inout QueryStatement) throws(QueryError) {
        switch statement.selection {
        case .raw(let value): statement.selection = .raw(try checked(value))
        case .columns(let columns):
            var checked: [QueryColumn] = []
            for column in columns {
                switch column {
                case .all(let position): throw .at(position, "* is not one value for a group: expected columns")
                case .members(let value): checked.append(.members(try self.checked(value)))
                case .value(let value, let alias): checked.append(.value(try self.checked(value), alias: alias))
                }
            }
            statement.selection = .columns(checked)
        }
        if let filter = statement.groupFilter { statement.groupFilter = try checked(filter) }
        for index in statement.order.indices { statement.order[index].key = try checked(statement.order[index].key) }
    }

    private func checked(_ expression: QueryExpression) throws(QueryError) -> QueryExpression {
        try checked(expression, locals: [])
    }

    private func checked(_ expression: QueryExpression, locals: [String]) throws(QueryError) -> QueryExpression {
        if let finished = try finished(expression, locals) { return finished }
        let split = split(expression) ?? expression
        var checked: [QueryExpression] = []
        for (index, child) in split.children.enumerated() {
            let inner = index == 1 ? locals + variables(of: split) : locals
            checked.append(keys.contains(child) ? child : try self.checked(child, locals: inner))
        }
        return split.replacing(children: checked)
    }

    private func variables(of expression: QueryExpression) -> [String] {
        if case .quantified(let quantified) = expression.kind { [quantified.variable] } else { [] }
    }

    /// What is as it should be, without a look at what is in it.
    private func finished(_ expression: QueryExpression, _ locals: [String]) throws(QueryError) -> QueryExpression? {
        if keys.contains(where: { $0.uncollated == expression.uncollated }) { return key(of: expression) }
        switch expression.kind {
        case .aggregate: return expression
        case .identifier(let name):
            if locals.contains(where: { $0.hasSameBytes(as: name) }) { return expression }
            throw ungrouped(expression)
        case .metadata, .match, .rank, .highlight: throw ungrouped(expression)
        case .path(let base, _):
            // The whole path says more than the alias at its beginning.
            guard case .identifier(let name) = base.kind, split(expression) == nil,
                !locals.contains(where: { $0.hasSameBytes(as: name) })
            else { return nil }
            throw ungrouped(expression)
        default: return nil
        }
    }

    /// What is grouped by, as it stands in GROUP BY.
    private func key(of expression: QueryExpression) -> QueryExpression {
        if keys.contains(expression) { return expression }
        let key = keys.first { $0.uncollated == expression.uncollated } ?? expression
        // A COLLATE of its own stays around it.
        if case .collated(_, let collation) = expression.kind { return QueryExpression(.collated(key, collation)) }
        return key
    }

    /// A path under something that is grouped by, as a path from that.
    private func split(_ expression: QueryExpression) -> QueryExpression? {
        guard case .path(let base, let steps) = expression.kind else { return nil }
        for count in steps.indices.reversed() where !steps[..<count].contains(.each) {
            let beginning =
                count == 0 ? base : QueryExpression(.path(base, Array(steps[..<count])), at: expression.position)
            if keys.contains(beginning) {
                return QueryExpression(.path(beginning, Array(steps[count...])), at: expression.position)
            }
        }
        return nil
    }

    private func ungrouped(_ expression: QueryExpression) -> QueryError {
        .at(
            expression.position,
            "\(expression.sql) is neither in GROUP BY nor within an aggregate: a group has no one value of it")
    }
}
