extension QueryChecker {
    /// The expression with every name as a variable, or as a path from one.
    mutating func resolve(_ expression: QueryExpression, _ clause: Clause) throws(QueryError) -> QueryExpression {
        try resolve(expression, clause, locals: [], isInAggregate: false)
    }

    /// - Parameter locals: variables of ANY and EVERY.
    private mutating func resolve(
        _ expression: QueryExpression, _ clause: Clause, locals: [String], isInAggregate: Bool, beginsPath: Bool = false
    ) throws(QueryError) -> QueryExpression {
        if let leaf = try resolvedLeaf(expression, clause, locals, beginsPath) { return leaf }
        if case .quantified(let quantified) = expression.kind {
            try check(variable: quantified.variable, locals, at: expression.position)
        }
        let isAggregate = try enter(expression, clause, isInAggregate: isInAggregate)
        let within = isInAggregate || isAggregate
        let children = expression.children
        var resolved: [QueryExpression] = []
        for (index, child) in children.enumerated() {
            let inner = index == 1 ? locals + Self.variables(of: expression) : locals
            resolved.append(
                try resolve(
                    child, clause, locals: inner, isInAggregate: within, beginsPath: index == 0 && expression.isPath))
        }
        return Self.joined(expression, resolved)
    }

    /// The variable that the second child of ANY and EVERY, their condition, may use.
    private static func variables(of expression: QueryExpression) -> [String] {
        if case .quantified(let quantified) = expression.kind { [quantified.variable] } else { [] }
    }

    /// A name is that of one thing, so that nothing hides another.
    private func check(variable name: String, _ locals: [String], at position: SourcePosition) throws(QueryError) {
        if isVariable(name) || locals.contains(where: { $0.hasSameBytes(as: name) }) {
            throw .at(
                position,
                "two things are named \(SQLWords.quoted(name)): give the variable of ANY or EVERY another name")
        }
    }

    /// What has a name and nothing in it.
    private func resolvedLeaf(
        _ expression: QueryExpression, _ clause: Clause, _ locals: [String], _ beginsPath: Bool
    ) throws(QueryError) -> QueryExpression? {
        switch expression.kind {
        case .identifier(let name):
            if let alias = clause.alias(name, beginsPath: beginsPath),
                !locals.contains(where: { $0.hasSameBytes(as: name) })
            {
                return alias
            }
            return try resolve(name, locals, at: expression.position)
        case .metadata(let alias):
            return QueryExpression(
                .metadata(try documentAlias(alias, at: expression.position)), at: expression.position)
        default: return nil
        }
    }

    /// Looks at an expression before what is in it.
    /// - Returns: whether it is an aggregate.
    private mutating func enter(
        _ expression: QueryExpression, _ clause: Clause, isInAggregate: Bool
    ) throws(QueryError) -> Bool {
        switch expression.kind {
        case .path(let base, let steps): try checkMetadata(base, steps)
        case .call(let name, let arguments): try check(name, arguments, at: expression.position)
        case .aggregate(let function, _, _):
            try check(function, clause, isInAggregate: isInAggregate, at: expression.position)
            hasAggregates = true
            return true
        case .match(let index, _), .rank(let index), .highlight(let index, _, _, _):
            try checkIndex(index, at: expression.position)
        default: break
        }
        return false
    }

    /// The expression with its children; the field of a source and what is under it are one path.
    private static func joined(_ expression: QueryExpression, _ children: [QueryExpression]) -> QueryExpression {
        let joined = expression.replacing(children: children)
        guard case .path(let base, _) = expression.kind, case .identifier = base.kind,
            case .path(let inner, let rest) = joined.kind, case .path(let root, let first) = inner.kind,
            !first.contains(.each)
        else { return joined }
        return QueryExpression(.path(root, first + rest), at: expression.position)
    }

    /// What a name means that is no alias of a column or group: a variable, or a field of the only source.
    private func resolve(
        _ name: String, _ locals: [String], at position: SourcePosition
    ) throws(QueryError) -> QueryExpression {
        let itself = QueryExpression(.identifier(name), at: position)
        if locals.contains(where: { $0.hasSameBytes(as: name) }) { return itself }
        if isVariable(name) { return itself }
        if let source = renamed(name) {
            throw .at(position, "\(SQLWords.quoted(name)) is named \(SQLWords.quoted(source)) in this query")
        }
        switch documents.count {
        case 1:
            return QueryExpression(
                .path(QueryExpression(.identifier(documents[0]), at: position), [.member(name)]), at: position)
        case 0:
            throw .at(
                position,
                "there is nothing named \(SQLWords.quoted(name)): the query has no FROM (strings stand between ' or \")"
            )
        default:
            let choices = documents.map { "\(SQLWords.quoted($0)).\(SQLWords.quoted(name))" }.joined(separator: " or ")
            throw .at(position, "\(SQLWords.quoted(name)) could be a field of several sources: expected \(choices)")
        }
    }

    // META().

    /// Of several sources it says which.
    private func checkIndex(_ name: String, at position: SourcePosition) throws(QueryError) {
        if documents.isEmpty {
            throw .at(position, "MATCH, RANK and HIGHLIGHT need a source: expected FROM")
        }
        if let point = name.lastIndex(of: ".") {
            _ = try documentAlias(String(name[..<point]), at: position)
        } else if documents.count > 1 {
            let names = documents.map { "\(SQLWords.quoted($0)).\(SQLWords.quoted(name))" }
            throw .at(
                position, "the index \(name) needs the alias of a source: expected \(names.joined(separator: " or "))")
        }
    }

    private func documentAlias(_ alias: String?, at position: SourcePosition) throws(QueryError) -> String {
        let names = documents.map { SQLWords.quoted($0) }.joined(separator: ", ")
        guard let alias else {
            guard documents.count == 1 else {
                throw .at(
                    position,
                    documents.isEmpty
                        ? "META() needs a source: expected FROM"
                        : "META() needs the alias of a source: expected one of \(names)")
            }
            return documents[0]
        }
        guard documents.contains(where: { $0.hasSameBytes(as: alias) }) else {
            throw .at(
                position,
                "no source has the alias \(SQLWords.quoted(alias))"
                    + (documents.isEmpty ? ": expected FROM" : ": expected one of \(names)"))
        }
        return alias
    }

    private func checkMetadata(_ base: QueryExpression, _ steps: [PathStep]) throws(QueryError) {
        guard case .metadata = base.kind, case .member(let name) = steps.first else { return }
        if !DocumentMetadata.names.contains(name) {
            throw .at(
                base.position,
                "META() has no \(SQLWords.quoted(name)): expected one of \(DocumentMetadata.names.joined(separator: ", "))"
            )
        }
    }

    // Calls.

    private func check(_ name: String, _ arguments: [QueryExpression], at position: SourcePosition) throws(QueryError) {
        guard let function = QueryFunction.named(name) else { throw Self.unknownFunction(name, at: position) }
        guard function.arity.contains(arguments.count) else {
            throw Self.wrongArguments(function, arguments.count, at: position)
        }
        // A pattern that is written there is looked at now.
        guard function.group == .pattern, case .literal(.string(let pattern)) = arguments[1].kind else { return }
        do throws(QueryError) {
            _ = try RegularExpression(pattern)
        } catch {
            throw .at(arguments[1].position, error.message)
        }
    }

    static func unknownFunction(_ name: String, at position: SourcePosition) -> QueryError {
        let near = QueryFunction.nearMiss(to: name)
        return .at(position, "there is no function \(name)" + (near.map { "; did you mean \($0)?" } ?? ""))
    }

    static func wrongArguments(_ function: QueryFunction, _ count: Int, at position: SourcePosition) -> QueryError {
        let arity = function.arity
        let expected =
            arity.count == 1
            ? "\(arity.lowerBound)"
            : arity.upperBound == QueryLimits.expressions
                ? "\(arity.lowerBound) or more" : "\(arity.lowerBound) to \(arity.upperBound)"
        return .at(
            position,
            "\(function.name)(\(function.parameters)) takes \(expected) argument\(expected == "1" ? "" : "s"), found \(count)"
        )
    }

    private func check(
        _ function: AggregateFunction, _ clause: Clause, isInAggregate: Bool, at position: SourcePosition
    ) throws(QueryError) {
        if isInAggregate {
            throw .at(position, "\(function.rawValue) is an aggregate within an aggregate")
        }
        if !clause.allowsAggregates, clause.name != "GROUP BY" {
            throw .at(
                position,
                "\(function.rawValue) is an aggregate, which \(clause.name) can't have"
                    + (clause.name == "WHERE" ? ": a condition on groups belongs in HAVING" : ""))
        }
    }
}

extension QueryExpression {
    fileprivate var isPath: Bool {
        if case .path = kind { true } else { false }
    }
}
