import KithDocument

// A condition MATCH is a search in a table of FTS5. Where it is one of those that AND joins at the top of WHERE, the documents
// come by it, and RANK and HIGHLIGHT can be asked of it; anywhere else it is a list of documents.
extension SQLTranslator {
    func isMatch(_ expression: QueryExpression) -> Bool {
        if case .match = slot(expression) { true } else { false }
    }

    /// Chooses the MATCH that the documents of the first source come by: the one that RANK or HIGHLIGHT is about, or the first.
    mutating func chooseText(_ conjuncts: [QueryExpression], _ statement: QueryStatement) {
        let asked = statement.askedText
        var first: Int?
        for term in conjuncts {
            guard let number = term.slot, case .match(0, let index, _) = closer.table.slots[number] else { continue }
            if first == nil { first = number }
            if let asked, asked.hasSameBytes(as: index) || asked.utf8.elementsEqual("\(firstAlias).\(index)".utf8) {
                joinedMatch = number
                return
            }
        }
        joinedMatch = first
    }

    private var firstAlias: String { closer.variables.first?.name ?? "" }

    /// The table of the MATCH that documents come by, to stand before them.
    var textSource: String? {
        guard let joined = joinedMatch, case .match(_, let index, _) = closer.table.slots[joined],
            let text = texts.first(where: { $0.name.hasSameBytes(as: index) })
        else { return nil }
        // CROSS JOIN keeps SQLite from asking FTS5 about one document after the other.
        return "\(text.table) AS f0 CROSS JOIN "
    }

    mutating func match(_ expression: QueryExpression, isNegated: Bool) throws(QueryError) -> String {
        guard let number = expression.slot, case .match(let source, let index, let words) = closer.table.slots[number]
        else { preconditionFailure("no MATCH: \(expression)") }
        let text = try indexed(index, number)
        let bound = bind(.match(words, fields: text.fields))
        if !usedArrays.contains(text.name) { usedArrays.append(text.name) }
        let found = "SELECT rowid FROM \(text.table) WHERE \(text.table) MATCH \(Self.sought(bound))"
        let document = "\(sources[source].prefix)number"
        return isNegated ? "(\(bound) IS NOT NULL AND \(document) NOT IN (\(found)))" : "\(document) IN (\(found))"
    }

    /// The condition that documents come by.
    mutating func joinedCondition(_ number: Int) throws(QueryError) -> String {
        guard case .match(_, let index, let words) = closer.table.slots[number] else {
            preconditionFailure("no MATCH: \(closer.table.slots[number])")
        }
        let text = try indexed(index, number)
        if !usedArrays.contains(text.name) { usedArrays.append(text.name) }
        return "f0.\(text.table) MATCH \(Self.sought(bind(.match(words, fields: text.fields))))"
    }

    /// The canonical text of a slot that a full-text index fills.
    mutating func fullText(_ number: Int) throws(QueryError) -> String {
        switch closer.table.slots[number] {
        case .match(let source, let index, let words):
            let text = try indexed(index, number)
            let bound = bind(.match(words, fields: text.fields))
            if !usedArrays.contains(text.name) { usedArrays.append(text.name) }
            return """
                CASE WHEN \(bound) IS NULL THEN 'null' WHEN \(sources[source].prefix)number IN (SELECT rowid FROM \
                \(text.table) WHERE \(text.table) MATCH \(Self.sought(bound))) THEN 'true' ELSE 'false' END
                """
        case .rank(let source, let index):
            _ = try joined(source, index, number, "RANK")
            return "kq_double(-f0.rank)"
        case .highlight(let source, let index, let field, let before, let after):
            let text = try joined(source, index, number, "HIGHLIGHT")
            if joinsRows {
                throw .at(
                    closer.table.positions[number], "HIGHLIGHT can't be asked of groups, nor with DISTINCT")
            }
            guard let column = text.fields.firstIndex(where: { $0.hasSameBytes(as: field) }) else {
                throw .at(
                    closer.table.positions[number],
                    "the index \(text.name) has no field \(field): expected one of \(text.fields.joined(separator: ", "))"
                )
            }
            let marks = "\(bind(.string(before))), \(bind(.string(after)))"
            return "kq_quote(kith_highlight(f0.\(text.table), \(column), \(marks)))"
        default: preconditionFailure("no full text: \(closer.table.slots[number])")
        }
    }

    /// FTS5 takes no NULL; this finds nothing.
    private static func sought(_ bound: String) -> String { "coalesce(\(bound), '\"\"')" }

    /// What ORDER BY RANK(index) sorts by: the better, the lower. Nil for all else.
    mutating func rankOrder(_ expression: QueryExpression) throws(QueryError) -> String? {
        guard let number = expression.slot, case .rank(let source, let index) = closer.table.slots[number] else {
            return nil
        }
        _ = try joined(source, index, number, "RANK")
        return "f0.rank"
    }

    private func indexed(_ name: String, _ slot: Int) throws(QueryError) -> IndexedText {
        if let text = texts.first(where: { $0.name.hasSameBytes(as: name) }) { return text }
        let names = texts.map(\.name).joined(separator: ", ")
        throw .at(
            closer.table.positions[slot],
            "there is no full-text index named \(SQLWords.quoted(name))"
                + (names.isEmpty ? ": make one" : "; there are: \(names)"))
    }

    private func joined(
        _ source: Int, _ name: String, _ slot: Int, _ function: String
    ) throws(QueryError) -> IndexedText {
        let text = try indexed(name, slot)
        guard let joinedMatch, case .match(source, let index, _) = closer.table.slots[joinedMatch],
            index.hasSameBytes(as: name)
        else {
            throw .at(
                closer.table.positions[slot],
                "\(function) of \(name) needs MATCH(\(name), ...) of the first source in WHERE, joined by AND to what else"
                    + " stands there; a query asks it of one index")
        }
        return text
    }
}

extension QueryStatement {
    /// The index that RANK or HIGHLIGHT is about, as it is named in the query; nil without them.
    fileprivate var askedText: String? {
        var expressions: [QueryExpression] = []
        switch selection {
        case .raw(let value): expressions.append(value)
        case .columns(let columns):
            for column in columns {
                switch column {
                case .all: break
                case .members(let value), .value(let value, _): expressions.append(value)
                }
            }
        }
        expressions += bindings.map(\.value) + order.map(\.key) + (filter.map { [$0] } ?? [])
        var found: String?
        for expression in expressions {
            expression.visit { part in
                switch part.kind {
                case .rank(let index), .highlight(let index, _, _, _): if found == nil { found = index }
                default: break
                }
            }
        }
        return found
    }
}
