import KithDocument

/// Closes expressions: every name of a row, parameter and aggregate becomes a slot, so that what is left can be evaluated
/// with the values of its slots and nothing else. What is the same for all rows is made once.
struct QueryCloser {
    struct Variable {
        let name: String
        /// The slot of a source, or what LET has given a name, closed.
        let value: Closed
    }

    /// A closed expression, and what it is made of.
    struct Closed {
        let expression: QueryExpression
        /// Whether it is the same for all rows.
        var isConstant: Bool
        /// Whether it has parameters, or depends on the time of the query.
        var isBound: Bool
        var depth: Int
        var size: Int
    }

    /// Whether there is something to bind: not where an index is defined.
    let allowsBinding: Bool
    var table = SlotTable()
    private(set) var variables: [Variable] = []
    private var sources = 0
    /// What rows are grouped by, as it was checked.
    private var groups: [QueryExpression] = []
    /// Whether expressions are those of groups now.
    private var isGrouped = false
    private var size = 0

    init(allowsBinding: Bool = true) { self.allowsBinding = allowsBinding }

    // Names.

    /// - Returns: the number of the source.
    mutating func declareSource(_ name: String) -> Int {
        let number = sources
        sources += 1
        let slot = table.expression(.field(source: number, []))
        variables.append(Variable(name: name, value: Closed(slot, isConstant: false)))
        return number
    }

    mutating func declare(_ binding: QueryBinding) throws(QueryError) {
        let value = try closed(binding.value, [])
        variables.append(Variable(name: binding.name, value: value))
    }

    /// From now on expressions are those of groups.
    mutating func group(by keys: [QueryExpression]) {
        groups = keys
        isGrouped = true
    }

    // Expressions.

    mutating func close(_ expression: QueryExpression) throws(QueryError) -> QueryExpression {
        try closed(expression, []).expression
    }

    /// - Parameter locals: variables of ANY and EVERY, which stay names.
    mutating func closed(_ expression: QueryExpression, _ locals: [String]) throws(QueryError) -> Closed {
        if isGrouped, let number = groups.firstIndex(of: expression) { return group(number) }
        let closed: Closed
        switch expression.kind {
        case .literal: closed = Closed(expression, isConstant: true)
        case .parameter(let parameter):
            guard allowsBinding else {
                throw .at(expression.position, "an index can't have parameters: expected a value")
            }
            closed = Closed(
                table.expression(.parameter(parameter), at: expression.position), isConstant: true, isBound: true)
        case .identifier(let name): closed = try variable(name, locals, at: expression.position)
        case .metadata(let alias):
            closed = Closed(
                table.expression(.metadata(source: try source(alias, at: expression.position), nil)), isConstant: false)
        case .path: closed = try path(expression, locals)
        case .aggregate: closed = try aggregate(expression)
        case .match, .rank, .highlight: closed = try fullText(expression, locals)
        default: closed = try folded(try whole(expression, locals))
        }
        try count(closed, at: expression.position)
        return closed
    }

    private mutating func count(_ closed: Closed, at position: SourcePosition) throws(QueryError) {
        size += 1
        if closed.depth > QueryLimits.closedDepth {
            throw .at(
                position, "with the variables of LET expressions are nested deeper than \(QueryLimits.closedDepth)")
        }
        if size > 2 * QueryLimits.expressions || closed.size > QueryLimits.expressions {
            throw .at(
                position, "with the variables of LET the query has more than \(QueryLimits.expressions) expressions")
        }
    }

    /// What is grouped by, with the COLLATE that it has.
    private mutating func group(_ number: Int) -> Closed {
        let slot = table.expression(.group(number))
        guard case .collated(_, let collation) = groups[number].kind else { return Closed(slot, isConstant: false) }
        return Closed(QueryExpression(.collated(slot, collation)), isConstant: false)
    }

    private func variable(
        _ name: String, _ locals: [String], at position: SourcePosition
    ) throws(QueryError) -> Closed {
        if locals.contains(where: { $0.hasSameBytes(as: name) }) {
            return Closed(QueryExpression(.identifier(name), at: position), isConstant: false)
        }
        guard let variable = variables.last(where: { $0.name.hasSameBytes(as: name) }) else {
            throw .at(position, "there is nothing named \(SQLWords.quoted(name)) here")
        }
        return variable.value
    }

    private func source(_ alias: String?, at position: SourcePosition) throws(QueryError) -> Int {
        let variable = variables.first { alias == nil || $0.name.hasSameBytes(as: alias!) }
        guard let slot = variable?.value.expression.slot, case .field(let source, _) = table.slots[slot] else {
            throw .at(position, "META() needs the alias of a source")
        }
        return source
    }

    /// An expression with all within it closed.
    private mutating func whole(_ expression: QueryExpression, _ locals: [String]) throws(QueryError) -> Closed {
        var inner = locals
        if case .quantified(let quantified) = expression.kind { inner.append(quantified.variable) }
        var children: [Closed] = []
        for (index, child) in expression.children.enumerated() {
            children.append(try closed(child, index == 1 ? inner : locals))
        }
        var whole = Closed(expression.replacing(children: children.map(\.expression)), of: children)
        if case .call(let name, _) = expression.kind, QueryFunction.named(name)?.isContextual == true {
            guard allowsBinding else {
                throw .at(expression.position, "an index can't have \(name), which depends on when it is asked")
            }
            whole.isBound = true
        }
        return whole
    }

    /// What is the same for all rows as one value, or as a slot.
    private mutating func folded(_ whole: Closed) throws(QueryError) -> Closed {
        switch whole.expression.kind {
        case .array, .object, .collated: return whole
        default: break
        }
        guard whole.isConstant else { return whole }
        if whole.isBound { return slot(whole) }
        // What fails does so where it is evaluated, if it is.
        guard let value = try? QueryEvaluator().constant(whole.expression) else { return whole }
        switch value {
        // As a tree it may be far larger than what makes it.
        case .array, .object: return allowsBinding ? slot(whole) : whole
        default: return Closed(QueryExpression(.literal(value)), isConstant: true)
        }
    }

    /// What is made once, when the query begins.
    private mutating func slot(_ whole: Closed) -> Closed {
        Closed(
            table.expression(.constant(whole.expression), at: whole.expression.position), isConstant: true,
            isBound: true)
    }

    // Paths.

    private mutating func path(_ expression: QueryExpression, _ locals: [String]) throws(QueryError) -> Closed {
        guard case .path(let base, let steps) = expression.kind else { preconditionFailure("no path: \(expression)") }
        // A path under what is grouped by, or one that is.
        let closedBase = try closed(base, locals)
        var rest = steps[...]
        var root = closedBase.expression
        if let slot = root.slot { root = extended(slot, by: &rest) ?? root }
        if rest.isEmpty { return Closed(root, isConstant: closedBase.isConstant, isBound: closedBase.isBound) }
        var parts = [closedBase]
        var closedSteps: [PathStep] = []
        for step in rest {
            guard case .element(let place) = step else {
                closedSteps.append(step)
                continue
            }
            let part = try closed(place, locals)
            parts.append(part)
            closedSteps.append(.element(part.expression))
        }
        return try folded(
            Closed(QueryExpression(.path(root, closedSteps), at: expression.position), of: parts))
    }

    /// The slot of a value within another slot's, as far as the steps are plain.
    private mutating func extended(_ slot: Int, by steps: inout ArraySlice<PathStep>) -> QueryExpression? {
        switch table.slots[slot] {
        case .field(let source, let way):
            var way = way
            while let step = steps.first?.plain {
                way.append(step)
                steps.removeFirst()
            }
            return table.expression(.field(source: source, way))
        case .metadata(let source, nil):
            guard case .member(let name) = steps.first?.plain else { return nil }
            steps.removeFirst()
            return table.expression(.metadata(source: source, name))
        default: return nil
        }
    }

    private mutating func fullText(_ expression: QueryExpression, _ locals: [String]) throws(QueryError) -> Closed {
        let slot: QuerySlot
        switch expression.kind {
        case .match(let index, let text):
            let (source, name) = try indexed(index, at: expression.position)
            var words = try constant(text, locals, "what MATCH looks for")
            words.position = text.position.line > 0 ? text.position : expression.position
            slot = .match(source: source, index: name, words)
        case .rank(let index):
            let (source, name) = try indexed(index, at: expression.position)
            slot = .rank(source: source, index: name)
        case .highlight(let index, let field, let before, let after):
            let (source, name) = try indexed(index, at: expression.position)
            slot = .highlight(
                source: source, index: name, field: field,
                before: try constant(before, locals, "what HIGHLIGHT sets before what was found"),
                after: try constant(after, locals, "what HIGHLIGHT sets after what was found"))
        default: preconditionFailure("no full text: \(expression)")
        }
        return Closed(table.expression(slot, at: expression.position), isConstant: false)
    }

    /// The source and the name of an index.
    private func indexed(
        _ name: String, at position: SourcePosition
    ) throws(QueryError) -> (source: Int, name: String) {
        guard allowsBinding else { throw .at(position, "an index can't have MATCH, RANK and HIGHLIGHT") }
        guard let point = name.lastIndex(of: ".") else { return (try source(nil, at: position), name) }
        return (
            try source(String(name[..<point]), at: position), String(name[name.index(after: point)...])
        )
    }

    private mutating func constant(
        _ expression: QueryExpression, _ locals: [String], _ what: String
    ) throws(QueryError) -> QueryExpression {
        let closed = try closed(expression, locals)
        guard closed.isConstant else {
            throw .at(expression.position, "\(what) is the same for all rows: expected a string or a parameter")
        }
        return closed.expression
    }

    private mutating func aggregate(_ expression: QueryExpression) throws(QueryError) -> Closed {
        guard case .aggregate(let function, let argument, let isDistinct) = expression.kind else {
            preconditionFailure("no aggregate: \(expression)")
        }
        // Its argument is one of the rows of the group.
        let wasGrouped = isGrouped
        isGrouped = false
        defer { isGrouped = wasGrouped }
        var closedArgument: QueryExpression?
        if let argument { closedArgument = try close(argument) }
        return Closed(
            table.expression(
                .aggregate(function, closedArgument, isDistinct: isDistinct), at: expression.position),
            isConstant: false)
    }
}

extension QueryCloser.Closed {
    init(_ expression: QueryExpression, isConstant: Bool, isBound: Bool = false) {
        self.init(expression: expression, isConstant: isConstant, isBound: isBound, depth: 1, size: 1)
    }

    init(_ expression: QueryExpression, of parts: [QueryCloser.Closed]) {
        self.init(
            expression: expression, isConstant: parts.allSatisfy(\.isConstant),
            isBound: parts.contains(where: \.isBound),
            depth: 1 + (parts.map(\.depth).max() ?? 0), size: parts.reduce(1) { $0 + $1.size })
    }
}

extension PathStep {
    /// Nil for what depends on the value.
    var plain: CanonicalStep? {
        switch self {
        case .member(let name): return .member(name)
        case .element(let place):
            switch place.literal {
            case .string(let name): return .member(name)
            case .number(let number): return number.count.map { .element($0) }
            default: return nil
            }
        case .each: return nil
        }
    }
}
