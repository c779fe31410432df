import KithDocument

extension TranslatedQuery {
    /// Translates a query.
    /// - Parameters:
    ///   - arrays: the array indexes that there are.
    ///   - texts: the full-text indexes.
    ///   - hidesExpired: whether there may be documents that expire, which are hidden from their time on.
    /// - Throws: `QueryError` with the place, where the query has what SQLite has no room for, or asks for a full-text
    ///   index that is not there.
    package init(
        _ query: CheckedQuery, arrays: [IndexedArray] = [], texts: [IndexedText] = [], hidesExpired: Bool = false
    ) throws(QueryError) {
        var translator = SQLTranslator(QueryCloser())
        translator.hidesExpired = hidesExpired
        translator.texts = texts
        translator.arrays = arrays
        self = try translator.translate(query)
    }
}

extension SQLTranslator {
    fileprivate mutating func translate(_ query: CheckedQuery) throws(QueryError) -> TranslatedQuery {
        let statement = query.statement
        joinsRows = statement.isDistinct || query.isGrouped
        let (first, joins) = try from(statement)
        for binding in statement.bindings { try closer.declare(binding) }
        let filter = try filter(statement)
        var tail =
            first.map { " FROM \(textSource ?? "")\($0)\(textSource == nil ? "" : " ON d0.number = f0.rowid")" } ?? ""
        tail += joins + filter
        let names = variableNames()
        if query.isGrouped { tail += try groupBy(statement) }
        let selection = try self.selection(query, names)
        let columns = try columns(of: selection, statement)
        var sql = try select(selection, columns, statement, isGrouped: query.isGrouped, tail)
        sql += try limits(statement)
        let isArbitrary =
            statement.order.isEmpty && statement.source != nil && (statement.limit ?? statement.offset) != nil
            && !(query.isGrouped && statement.groups.isEmpty)
        return TranslatedQuery(
            sql: sql, bindings: bindings, expressions: expressions, table: closer.table, columns: columns,
            selection: selection, plainColumns: selection.plain(columns), wishes: wishes, usedArrays: usedArrays,
            isArbitrary: isArbitrary)
    }

    // FROM.

    /// The first source, and what is put beside it.
    private mutating func from(_ statement: QueryStatement) throws(QueryError) -> (first: String?, joins: String) {
        guard let source = statement.source else { return (nil, "") }
        let first = declare(document: source.alias)
        var sql = ""
        for join in statement.joins {
            switch join {
            case .cross(let source):
                sql += " JOIN \(declare(document: source.alias)) ON \(isLive(sources.count - 1))"
            case .inner(let source, let condition):
                sql += " JOIN " + (try joined(source, condition))
            case .left(let source, let condition):
                sql += " LEFT JOIN " + (try joined(source, condition))
            case .unnest(let array, let alias, let isLeft, _):
                let array = try closer.close(array)
                let text = try json(array)
                let number = closer.declareSource(alias)
                var source = Source(prefix: "u\(number).", isDocument: false)
                if !isLeft, case .field(let document, let way) = slot(array) { source.array = (document, way) }
                sources.append(source)
                sql += " \(isLeft ? "LEFT JOIN" : "JOIN") kq_each(\(text)) AS u\(number)\(isLeft ? " ON 1" : "")"
            }
        }
        return (first, sql)
    }

    private mutating func declare(document alias: String) -> String {
        let number = closer.declareSource(alias)
        sources.append(Source(prefix: "d\(number).", isDocument: true))
        return "documents AS d\(number)"
    }

    /// Of what is deleted there is no body; few documents expire, and the flag says which.
    private mutating func isLive(_ source: Int) -> String {
        let prefix = sources[source].prefix
        let live = "\(prefix)body IS NOT NULL"
        if !hidesExpired { return live }
        return "\(live) AND (NOT \(prefix)flags & 16 OR json_extract(\(prefix)body, '$._expires') > \(bind(.now)))"
    }

    private mutating func joined(
        _ source: QuerySource, _ condition: QueryExpression
    ) throws(QueryError) -> String {
        let name = declare(document: source.alias)
        let live = isLive(sources.count - 1)
        let closed = try closer.close(condition)
        return "\(name) ON \(SQLText.and([live] + (try conditions(of: closed))))"
    }

    private mutating func conditions(of closed: QueryExpression) throws(QueryError) -> [String] {
        notesWishes = true
        defer { notesWishes = false }
        var terms: [String] = []
        for part in closed.conjuncts {
            let isJoined = joinedMatch != nil && part.slot == joinedMatch
            terms.append(isJoined ? try joinedCondition(joinedMatch!) : try condition(part))
        }
        return terms
    }

    // WHERE.

    private mutating func filter(_ statement: QueryStatement) throws(QueryError) -> String {
        var terms = statement.source == nil ? [] : [isLive(0)]
        if let filter = statement.filter {
            let closed = try closer.close(filter)
            chooseText(closed.conjuncts, statement)
            // Partial array indexes hang on what else is asked, so that is known first.
            if !arrays.isEmpty { conditions = Set(try plainConditions(of: closed).map { Array($0.utf8) }) }
            terms += try conditions(of: closed)
            terms += try elementBounds(closed.conjuncts)
        }
        return terms.isEmpty ? "" : " WHERE \(SQLText.and(terms))"
    }

    private mutating func plainConditions(of closed: QueryExpression) throws(QueryError) -> [String] {
        let all = arrays
        arrays = []
        defer { arrays = all }
        var terms: [String] = []
        for part in closed.conjuncts { terms.append(try condition(part)) }
        return terms
    }

    // GROUP BY, HAVING.

    private mutating func groupBy(_ statement: QueryStatement) throws(QueryError) -> String {
        var keys: [String] = []
        for group in statement.groups {
            let closed = try closer.close(group.key)
            groups.append(closed)
            keys.append(try folded(closed, closed.collation))
        }
        closer.group(by: statement.groups.map(\.key))
        let sql = keys.isEmpty ? "" : " GROUP BY \(keys.joined(separator: ", "))"
        // An aggregate, so that there is one row also where nothing else is one.
        var terms = keys.isEmpty ? ["count(*) >= 0"] : []
        if let filter = statement.groupFilter { terms.append(try condition(closer.close(filter))) }
        return terms.isEmpty ? sql : "\(sql) HAVING \(terms.joined(separator: " AND "))"
    }

    // SELECT.

    /// The variables of a row, for `*`.
    private func variableNames() -> [(String, QueryExpression)] {
        closer.variables.map { ($0.name, $0.value.expression) }
    }

    private mutating func selection(
        _ query: CheckedQuery, _ variables: [(String, QueryExpression)]
    ) throws(QueryError) -> TranslatedQuery.Selection {
        switch query.statement.selection {
        case .raw(let value): return .raw(try closer.close(value))
        case .columns(let columns):
            var selected: [TranslatedQuery.Column] = []
            for (column, name) in zip(columns, query.columnNames) {
                switch column {
                case .all: selected += variables.map { .value($0.0, $0.1) }
                case .members(let value): selected.append(.members(try closer.close(value)))
                case .value(let value, _): selected.append(.value(name, try closer.close(value)))
                }
            }
            return .columns(selected)
        }
    }

    /// The slots that rows have to bring.
    private func columns(
        of selection: TranslatedQuery.Selection, _ statement: QueryStatement
    ) throws(QueryError) -> [Int] {
        var columns: [Int] = []
        for expression in selection.expressions {
            for slot in expression.slots where !closer.table.slots[slot].isConstant && !columns.contains(slot) {
                columns.append(slot)
            }
            if columns.count > QueryLimits.rowValues {
                throw .running("the query selects more than \(QueryLimits.rowValues) fields: select whole documents")
            }
        }
        return columns
    }

    private mutating func select(
        _ selection: TranslatedQuery.Selection, _ columns: [Int], _ statement: QueryStatement, isGrouped: Bool,
        _ tail: String
    ) throws(QueryError) -> String {
        var selected: [String] = []
        for column in columns {
            selected.append(try json(QueryExpression(.parameter(.positional(column + 1)))))
        }
        let order = try order(statement)
        if !statement.isDistinct {
            let list = selected.isEmpty ? "1" : selected.joined(separator: ", ")
            return "SELECT \(list)\(tail)" + Self.orderBy(order)
        }
        let keys = try distinctKeys(selection)
        if !isGrouped {
            // Of rows that are one, SQLite gives the columns of any.
            let list = selected.isEmpty ? "1" : selected.joined(separator: ", ")
            return "SELECT \(list)\(tail) GROUP BY \(keys.joined(separator: ", "))" + Self.orderBy(order)
        }
        let inner =
            selected.enumerated().map { "\($1) AS c\($0)" } + keys.enumerated().map { "\($1) AS k\($0)" }
            + order.enumerated().map { "\($1.key) AS o\($0)" }
        let list = selected.isEmpty ? "1" : selected.indices.map { "c\($0)" }.joined(separator: ", ")
        return "SELECT \(list) FROM (SELECT \(inner.joined(separator: ", "))\(tail)) GROUP BY "
            + keys.indices.map { "k\($0)" }.joined(separator: ", ")
            + Self.orderBy(order.enumerated().map { ("o\($0)", $1.isDescending) })
    }

    /// What makes a row one of its own.
    private mutating func distinctKeys(_ selection: TranslatedQuery.Selection) throws(QueryError) -> [String] {
        var keys: [String] = []
        switch selection {
        case .raw(let value): keys = [try self.value(value)]
        case .columns(let columns):
            for column in columns {
                switch column {
                case .value(_, let value): keys.append(try self.value(value))
                case .members(let value):
                    // What is no object has no members.
                    let isObject = QueryExpression.call("ISOBJECT", value)
                    let cases = CaseExpression(
                        operand: nil, branches: [CaseBranch(when: isObject, then: value)], otherwise: .literal(.null))
                    keys.append(try self.value(QueryExpression(.cases(cases))))
                }
            }
        }
        return keys.isEmpty ? ["x''"] : keys
    }

    // ORDER BY, LIMIT, OFFSET.

    private typealias Ordering = (key: String, isDescending: Bool)

    private mutating func order(_ statement: QueryStatement) throws(QueryError) -> [Ordering] {
        var order: [Ordering] = []
        for ordering in statement.order {
            let closed = try closer.close(ordering.key)
            if isConstant(closed) { continue }
            if let rank = try rankOrder(closed) {
                order.append((rank, !ordering.isDescending))
                continue
            }
            let key = try folded(closed, closed.collation)
            if let nullsFirst = ordering.nullsFirst {
                order.append(("coalesce(\(key) > \(SQLText.null), 0)", !nullsFirst))
            } else {
                notesWishes = true
                note(closed, closed.collation, .order)
                notesWishes = false
            }
            order.append((key, ordering.isDescending))
        }
        return order
    }

    private static func orderBy(_ order: [Ordering]) -> String {
        if order.isEmpty { return "" }
        return " ORDER BY " + order.map { $0.key + ($0.isDescending ? " DESC" : "") }.joined(separator: ", ")
    }

    private mutating func limits(_ statement: QueryStatement) throws(QueryError) -> String {
        var sql = ""
        if let limit = statement.limit {
            sql = " LIMIT \(bind(.count(limit, clause: "LIMIT")))"
        } else if statement.offset != nil {
            sql = " LIMIT -1"
        }
        if let offset = statement.offset { sql += " OFFSET \(bind(.count(offset, clause: "OFFSET")))" }
        return sql
    }
}

extension TranslatedQuery.Selection {
    /// - Parameter columns: the slots of SQLite's columns.
    func plain(_ columns: [Int]) -> [TranslatedQuery.PlainColumn]? {
        let named: [(name: String, value: QueryExpression)]
        switch self {
        case .raw(let value): named = [("", value)]
        case .columns(let columns):
            named = columns.compactMap { if case .value(let name, let value) = $0 { (name, value) } else { nil } }
            if named.count != columns.count { return nil }
        }
        let plain = named.compactMap { name, value in
            value.slot.flatMap { columns.firstIndex(of: $0) }.map { TranslatedQuery.PlainColumn(name: name, place: $0) }
        }
        return plain.count == named.count ? plain : nil
    }

    var expressions: [QueryExpression] {
        switch self {
        case .raw(let expression): [expression]
        case .columns(let columns):
            columns.map { column in
                switch column {
                case .members(let expression), .value(_, let expression): expression
                }
            }
        }
    }
}
