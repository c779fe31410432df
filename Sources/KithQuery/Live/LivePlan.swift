import KithDocument

/// How the result of a query is kept in step with the documents of its database.
///
/// The query is asked with columns in front of its own: what tells its rows apart, and where rows follow from one document
/// each, what they are ordered by. Rows that are equal in their order stand in the order of their documents' ids.
package struct LivePlan: Sendable {
    /// Whether each row follows from one document, and its place from that row: then documents that changed change their own
    /// rows, and nothing else has to be asked.
    package let isByDocument: Bool
    /// What is asked.
    package let query: CheckedQuery
    /// One of which a document that has part in the result is true; nil where any document may have part.
    package let conditions: [CheckedFilter]?
    /// Gives the ids of the documents that have part, a query for each source; none where the rows themselves name them all.
    package let participants: [CheckedQuery]
    /// What identifies a row.
    private let identity: Identity
    private let order: [QueryOrdering]

    private enum Identity: Sendable {
        /// The first columns, as they are compared.
        case columns([QueryCollation])
        /// The whole row, where it stands once only.
        case row
    }

    /// A row with what tells it from others.
    package struct Row: Sendable {
        /// The id of the document that it is of, or what else identifies it; the same in two rows where nothing does.
        package let identity: [UInt8]
        /// Bytes that stand as the rows do, those of equal order apart; empty unless `isByDocument`.
        package let place: [UInt8]
        package let value: JSONValue
        /// When its document expires, in milliseconds since 1970.
        package let expires: Int64?
    }

    package init(_ checked: CheckedQuery) {
        let statement = checked.statement
        let sources = statement.documentAliases
        let isPlain = !checked.isGrouped && !statement.isDistinct
        isByDocument =
            isPlain && statement.source != nil && statement.joins.isEmpty && statement.limit == nil
            && statement.offset == nil && !statement.usesTextIndex
        order = statement.order
        var hidden: [QueryExpression] = []
        if isPlain {
            hidden = sources.map { .metadata("id", of: $0) }
        } else if checked.isGrouped {
            hidden = statement.groups.map(\.key)
        }
        identity = statement.isDistinct ? .row : .columns(hidden.map(\.collation))
        if isByDocument { hidden += [.metadata("expires", of: sources[0])] + order.map(\.key.uncollated) }
        query = Self.asked(checked, with: hidden, orderedBy: isPlain ? sources : [])
        conditions = Self.conditions(statement, sources)
        let namesAll = isPlain && sources.count == 1 && statement.offset == nil
        participants = namesAll ? [] : (conditions ?? []).map { Self.participants($0) }
    }

    private static func asked(
        _ checked: CheckedQuery, with hidden: [QueryExpression], orderedBy sources: [String]
    ) -> CheckedQuery {
        if hidden.isEmpty, sources.isEmpty { return checked }
        var statement = checked.statement
        // A name that no text can have.
        let names = hidden.indices.map { "\0\($0)" }
        let front = zip(hidden, names).map { QueryColumn.value($0, alias: $1) }
        var own = checked.columnNames
        switch statement.selection {
        case .columns(let columns): statement.selection = .columns(front + columns)
        case .raw(let value):
            statement.selection = .columns(front + [.value(value, alias: Self.rawName)])
            own = [Self.rawName]
        }
        statement.order += sources.map { QueryOrdering(.metadata("id", of: $0)) }
        return CheckedQuery(statement: statement, isGrouped: checked.isGrouped, columnNames: names + own)
    }

    private static let rawName = "\0raw"

    // MARK: Rows

    /// The rows of documents, each by itself; only where `isByDocument`.
    package func rows(
        of documents: [QueryDocument], _ parameters: ParameterValues, _ context: FunctionContext
    ) throws(QueryError) -> [Row] {
        try QueryEvaluator(parameters: parameters, context: context).rows(of: query) { _ in documents }.map { row($0) }
    }

    /// A row of what is asked.
    package func row(_ row: QueryRow) -> Row {
        guard case .columns(let collations) = identity else {
            let value = row.value.element
            return Row(identity: ValueKey(QueryValue(value)).bytes, place: [], value: value, expires: nil)
        }
        let count = collations.count
        let hidden = count + (isByDocument ? 1 + order.count : 0)
        var own = QueryRow(columns: Array(row.columns.dropFirst(hidden)))
        own.isRaw = row.isRaw || own.columns.first?.name == Self.rawName
        return Row(
            identity: Self.identity(of: zip(collations, row.columns).map { $0.folded($1.value) }),
            place: isByDocument ? place(of: row.columns[(count + 1)..<hidden].map(\.value)) : [],
            value: own.value.element, expires: isByDocument ? row.columns[count].value.number?.integer : nil)
    }

    private static func identity(of values: [QueryValue]) -> [UInt8] {
        if values.count == 1, case .string(let id) = values[0] { return Array(id.utf8) }
        return ValueKey(values).bytes
    }

    /// Bytes that compare as the values are ordered: of what descends the opposite of each, which no key is the beginning of
    /// another's.
    private func place(of values: [QueryValue]) -> [UInt8] {
        var place: [UInt8] = []
        for (ordering, value) in zip(order, values) {
            if let nullsFirst = ordering.nullsFirst { place.append(value.isValued == nullsFirst ? 1 : 0) }
            let key = ValueKey(ordering.key.collation.folded(value)).bytes
            place += ordering.isDescending ? key.map { ~$0 } : key
        }
        return place
    }

    // MARK: Who has part

    /// Whether a document may have part in the result.
    package func concerns(
        _ document: QueryDocument, _ parameters: ParameterValues, _ context: FunctionContext
    ) throws(QueryError) -> Bool {
        guard let conditions else { return true }
        let evaluator = QueryEvaluator(parameters: parameters, context: context)
        for condition in conditions where try evaluator.isTrue(condition, of: document) { return true }
        return false
    }

    /// What is asked of each source alone.
    private static func conditions(_ statement: QueryStatement, _ sources: [String]) -> [CheckedFilter]? {
        var filters: [CheckedFilter] = []
        for alias in sources {
            var terms: [QueryExpression] = []
            // What a LEFT JOIN finds has part also where WHERE leaves it out, since it stands in the way of MISSING.
            if !statement.isLeftJoined(alias) { terms += statement.filter?.conjuncts ?? [] }
            for join in statement.joins {
                switch join {
                case .inner(_, let condition): if !statement.isLeftJoined(alias) { terms += condition.conjuncts }
                case .left(let source, let condition):
                    if source.alias.hasSameBytes(as: alias) { terms += condition.conjuncts }
                case .cross, .unnest: break
                }
            }
            let own = terms.filter { $0.isAbout(alias, of: sources.count, within: []) }
            if own.isEmpty { return nil }
            filters.append(CheckedFilter(condition: .all(own), alias: alias))
        }
        return filters
    }

    private static func participants(_ filter: CheckedFilter) -> CheckedQuery {
        var statement = QueryStatement(
            selection: .raw(.metadata("id", of: filter.alias)), from: QuerySource("_", alias: filter.alias))
        statement.filter = filter.condition
        return CheckedQuery(statement: statement, isGrouped: false, columnNames: [])
    }
}

extension QueryStatement {
    /// The aliases of documents, in the order in which they are named.
    fileprivate var documentAliases: [String] {
        (source.map { [$0.alias] } ?? [])
            + joins.compactMap { join in
                if case .unnest = join { nil } else { join.alias }
            }
    }

    fileprivate func isLeftJoined(_ alias: String) -> Bool {
        joins.contains { join in
            if case .left(let source, _) = join { source.alias.hasSameBytes(as: alias) } else { false }
        }
    }

    /// Whether something in it asks a full-text index, which only the database has.
    fileprivate var usesTextIndex: Bool {
        var all = bindings.map(\.value) + groups.map(\.key) + order.map(\.key)
        all += [filter, groupFilter].compactMap(\.self)
        switch selection {
        case .raw(let value): all.append(value)
        case .columns(let columns):
            for case .value(let value, _) in columns { all.append(value) }
            for case .members(let value) in columns { all.append(value) }
        }
        return all.contains(where: \.usesTextIndex)
    }
}

extension QueryExpression {
    fileprivate static func metadata(_ name: String, of alias: String) -> QueryExpression {
        QueryExpression(.path(QueryExpression(.metadata(alias)), [.member(name)]))
    }

    fileprivate var usesTextIndex: Bool {
        switch kind {
        case .match, .rank: true
        default: children.contains(where: \.usesTextIndex)
        }
    }

    /// Whether it says something of one source alone.
    /// - Parameters:
    ///   - count: how many sources there are: META() without a name is of the only one.
    ///   - variables: of what is quantified around it.
    fileprivate func isAbout(_ alias: String, of count: Int, within variables: [String]) -> Bool {
        switch kind {
        case .identifier(let name):
            return name.hasSameBytes(as: alias) || variables.contains { $0.hasSameBytes(as: name) }
        case .metadata(let name): return name.map { $0.hasSameBytes(as: alias) } ?? (count == 1)
        case .match, .rank, .aggregate: return false
        case .quantified(let quantified):
            return quantified.array.isAbout(alias, of: count, within: variables)
                && quantified.condition.isAbout(alias, of: count, within: variables + [quantified.variable])
        default: return children.allSatisfy { $0.isAbout(alias, of: count, within: variables) }
        }
    }
}
