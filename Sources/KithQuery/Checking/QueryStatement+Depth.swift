// Trees come from code, too, where nothing has counted how deep they go. Everything else goes down a tree level by level on
// the stack, so this is looked at first, and without one.
extension QueryStatement {
    /// - Throws: `QueryError` where an expression is nested deeper than `QueryLimits.treeDepth`.
    /// - Complexity: O(n) in the expressions.
    func requireDepth() throws(QueryError) {
        var rest = expressions.map { (expression: $0, depth: 1) }
        while let (expression, depth) = rest.popLast() {
            if depth > QueryLimits.treeDepth {
                throw .at(
                    expression.position, "expressions are nested deeper than \(QueryLimits.treeDepth) levels")
            }
            rest += expression.children.map { ($0, depth + 1) }
        }
    }

    /// All that stand in it directly.
    private var expressions: [QueryExpression] {
        let selected: [QueryExpression] =
            switch selection {
            case .raw(let value): [value]
            case .columns(let columns):
                columns.compactMap { column in
                    switch column {
                    case .all: nil
                    case .members(let value), .value(let value, _): value
                    }
                }
            }
        let joined = joins.compactMap { join in
            switch join {
            case .inner(_, let condition), .left(_, let condition): condition
            case .cross: nil
            case .unnest(let array, _, _, _): array
            }
        }
        return selected + joined + bindings.map(\.value) + groups.map(\.key) + order.map(\.key)
            + [filter, groupFilter, limit, offset].compactMap { $0 }
    }
}
