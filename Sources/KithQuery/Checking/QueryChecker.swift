/// Finds what names mean, and what makes no sense.
struct QueryChecker {
    /// What a clause may have in it.
    struct Clause {
        let name: String
        var allowsAggregates = false
        /// Columns that can be called by their alias here, where no path begins with it: `city.name` is a field although
        /// a column may be named `city`.
        var columns: [Alias] = []
        /// What GROUP BY has given a name, which is a variable like others.
        var groups: [Alias] = []

        func alias(_ name: String, beginsPath: Bool) -> QueryExpression? {
            let aliases = beginsPath ? groups : columns + groups
            return aliases.first { $0.name.hasSameBytes(as: name) }?.value
        }
    }

    typealias Alias = (name: String, value: QueryExpression)

    let statement: QueryStatement
    /// The aliases of documents, and all variables, so far.
    var documents: [String] = []
    var variables: [String] = []
    /// Names of sources that have another alias.
    private var renamed: [(name: String, alias: String)] = []
    /// Set where an aggregate was found.
    var hasAggregates = false

    init(_ statement: QueryStatement) { self.statement = statement }

    mutating func check() throws(QueryError) -> CheckedQuery {
        var checked = statement
        try declareSources(in: &checked)
        for (index, binding) in statement.bindings.enumerated() {
            checked.bindings[index].value = try resolve(binding.value, Clause(name: "LET"))
            try declare(binding.name, at: binding.position)
        }
        if let filter = statement.filter { checked.filter = try resolve(filter, Clause(name: "WHERE")) }
        let names = try columnNames()
        checked.selection = try resolvedSelection(plainGroupAliases())
        try resolveGroups(in: &checked)
        try resolveOrder(in: &checked)
        checked.limit = try checkedCount(statement.limit, "LIMIT")
        checked.offset = try checkedCount(statement.offset, "OFFSET")
        let isGrouped = hasAggregates || !statement.groups.isEmpty || statement.groupFilter != nil
        if isGrouped { try GroupChecker(checked.groups.map(\.key)).check(&checked) }
        if statement.isDistinct { try checkDistinctOrder(of: checked) }
        return CheckedQuery(statement: checked, isGrouped: isGrouped, columnNames: names)
    }

    // FROM.

    private mutating func declareSources(in checked: inout QueryStatement) throws(QueryError) {
        guard let source = statement.source else { return }
        try declare(source)
        for (index, join) in statement.joins.enumerated() {
            switch join {
            case .inner(let source, let condition):
                try declare(source)
                checked.joins[index] = .inner(source, on: try resolve(condition, Clause(name: "ON")))
            case .left(let source, let condition):
                try declare(source)
                checked.joins[index] = .left(source, on: try resolve(condition, Clause(name: "ON")))
            case .cross(let source): try declare(source)
            case .unnest(let array, let alias, let isLeft, let position):
                let array = try resolve(array, Clause(name: "UNNEST"))
                try declare(alias, at: position)
                checked.joins[index] = .unnest(array, alias: alias, isLeft: isLeft, position)
            }
        }
    }

    private mutating func declare(_ source: QuerySource) throws(QueryError) {
        try declare(source.alias, at: source.position)
        documents.append(source.alias)
        if !source.alias.hasSameBytes(as: source.name) { renamed.append((source.name, source.alias)) }
    }

    private mutating func declare(_ name: String, at position: SourcePosition) throws(QueryError) {
        if isVariable(name) {
            throw .at(position, "two things are named \(SQLWords.quoted(name)): give one another name with AS")
        }
        variables.append(name)
    }

    /// The alias of a source that is called by its name.
    func renamed(_ name: String) -> String? { renamed.first { $0.name.hasSameBytes(as: name) }?.alias }

    func isVariable(_ name: String) -> Bool { variables.contains { $0.hasSameBytes(as: name) } }

    // SELECT.

    private mutating func resolvedSelection(_ groups: [Alias] = []) throws(QueryError) -> QuerySelection {
        let clause = Clause(name: "SELECT", allowsAggregates: true, groups: groups)
        switch statement.selection {
        case .raw(let value): return .raw(try resolve(value, clause))
        case .columns(let columns):
            var resolved: [QueryColumn] = []
            for column in columns {
                switch column {
                case .all(let position):
                    if statement.source == nil { throw .at(position, "* needs a source: expected FROM") }
                    resolved.append(column)
                case .members(let value): resolved.append(.members(try resolve(value, clause)))
                case .value(let value, let alias): resolved.append(.value(try resolve(value, clause), alias: alias))
                }
            }
            return .columns(resolved)
        }
    }

    /// The alias, else the last name of a path, else `$` and the number of the column.
    private func columnNames() throws(QueryError) -> [String] {
        guard case .columns(let columns) = statement.selection else { return [] }
        var names: [String] = []
        for (index, column) in columns.enumerated() {
            guard case .value(let value, let alias) = column else {
                names.append("")
                continue
            }
            let name = alias ?? value.lastName ?? "$\(index + 1)"
            if names.contains(where: { $0.hasSameBytes(as: name) }), !name.isEmpty {
                throw .at(
                    value.position, "two columns are named \(SQLWords.quoted(name)): give one another name with AS")
            }
            names.append(name)
        }
        return names
    }

    /// Columns that were given a name, as what they are.
    private func columnAliases(_ selection: QuerySelection) -> [Alias] {
        guard case .columns(let columns) = selection else { return [] }
        return columns.compactMap { column in
            if case .value(let value, let alias?) = column { (alias, value) } else { nil }
        }
    }

    // GROUP BY, HAVING, ORDER BY.

    private mutating func resolveGroups(in checked: inout QueryStatement) throws(QueryError) {
        let columns = columnAliases(checked.selection)
        let hadAggregates = hasAggregates
        for (index, group) in statement.groups.enumerated() {
            checked.groups[index].key = try resolve(group.key, Clause(name: "GROUP BY", columns: columns))
            if checked.groups[index].key.hasAggregate {
                throw .at(group.key.position, "rows can't be grouped by an aggregate")
            }
        }
        hasAggregates = hadAggregates
        let groups = groupAliases(checked)
        // Again, with what GROUP BY has named.
        if !groups.isEmpty { checked.selection = try resolvedSelection(groups) }
        guard let filter = statement.groupFilter else { return }
        let clause = Clause(
            name: "HAVING", allowsAggregates: true, columns: columnAliases(checked.selection), groups: groups)
        checked.groupFilter = try resolve(filter, clause)
    }

    /// What GROUP BY has named, as far as it names no columns itself: no field, of whichever source.
    private mutating func plainGroupAliases() -> [Alias] {
        let hadAggregates = hasAggregates
        defer { hasAggregates = hadAggregates }
        var aliases: [Alias] = []
        for group in statement.groups {
            guard let alias = group.alias else { continue }
            aliases.append((alias, (try? resolve(group.key, Clause(name: "GROUP BY"))) ?? group.key))
        }
        return aliases
    }

    private func groupAliases(_ checked: QueryStatement) -> [Alias] {
        checked.groups.compactMap { group in group.alias.map { (name: $0, value: group.key) } }
    }

    private mutating func resolveOrder(in checked: inout QueryStatement) throws(QueryError) {
        let clause = Clause(
            name: "ORDER BY", allowsAggregates: true, columns: columnAliases(checked.selection),
            groups: groupAliases(checked))
        for (index, ordering) in statement.order.enumerated() {
            if case .literal(.number) = ordering.key.kind {
                throw .at(
                    ordering.key.position,
                    "ORDER BY takes expressions and no numbers of columns: expected the column's name")
            }
            checked.order[index].key = try resolve(ordering.key, clause)
        }
    }

    /// Of rows that are one, each could have another key.
    private func checkDistinctOrder(of checked: QueryStatement) throws(QueryError) {
        var selected: [QueryExpression] = []
        switch checked.selection {
        case .raw(let value): selected = [value.uncollated]
        case .columns(let columns):
            for column in columns {
                switch column {
                case .all: return
                case .members(let value), .value(let value, _): selected.append(value.uncollated)
                }
            }
        }
        for (ordering, written) in zip(checked.order, statement.order) where !selected.contains(ordering.key.uncollated)
        {
            throw .at(written.key.position, "with DISTINCT, ORDER BY takes only what is selected")
        }
    }

    private mutating func checkedCount(
        _ expression: QueryExpression?, _ clause: String
    ) throws(QueryError) -> QueryExpression? {
        guard let expression else { return nil }
        if case .literal(let value) = expression.kind, value.number?.count.map({ $0 >= 0 }) != true {
            throw .at(expression.position, "\(clause) is not an integer from 0 on")
        }
        if expression.hasNames {
            throw .at(
                expression.position, "\(clause) is one number for the whole query: expected a number or a parameter")
        }
        return try resolve(expression, Clause(name: clause))
    }
}

extension QueryExpression {
    /// The last name of a path.
    fileprivate var lastName: String? {
        switch kind {
        case .identifier(let name): return name
        case .path(_, let steps):
            if case .member(let name) = steps.last { return name }
            return nil
        case .collated(let operand, _): return operand.lastName
        default: return nil
        }
    }

    var uncollated: QueryExpression {
        if case .collated(let operand, _) = kind { operand.uncollated } else { self }
    }

    /// Whether it depends on rows.
    fileprivate var hasNames: Bool {
        switch kind {
        case .identifier, .metadata, .match, .rank, .highlight, .aggregate: true
        default: children.contains(where: \.hasNames)
        }
    }

    var hasAggregate: Bool {
        if case .aggregate = kind { return true }
        return children.contains(where: \.hasAggregate)
    }
}
