extension SQLPrinter {
    mutating func write(_ statement: QueryStatement) {
        write(statement.isDistinct ? "SELECT DISTINCT " : "SELECT ")
        write(statement.selection)
        if let source = statement.source {
            write(" FROM ")
            write(source)
        }
        for join in statement.joins { write(join) }
        list(" LET ", statement.bindings) { printer, binding in
            printer.write("\(SQLWords.quoted(binding.name)) = ")
            printer.write(binding.value)
        }
        clause(" WHERE ", statement.filter)
        list(" GROUP BY ", statement.groups) { printer, group in
            printer.write(group.key)
            printer.write(alias: group.alias)
        }
        clause(" HAVING ", statement.groupFilter)
        list(" ORDER BY ", statement.order) { printer, ordering in
            printer.write(ordering.key)
            if ordering.isDescending { printer.write(" DESC") }
            if let first = ordering.nullsFirst { printer.write(first ? " NULLS FIRST" : " NULLS LAST") }
        }
        clause(" LIMIT ", statement.limit)
        clause(" OFFSET ", statement.offset)
    }

    private mutating func clause(_ word: String, _ expression: QueryExpression?) {
        guard let expression else { return }
        write(word)
        write(expression)
    }

    private mutating func list<Element>(
        _ word: String, _ elements: [Element], _ body: (inout SQLPrinter, Element) -> Void
    ) {
        for (index, element) in elements.enumerated() {
            write(index == 0 ? word : ", ")
            body(&self, element)
        }
    }

    private mutating func write(alias: String?) {
        if let alias { write(" AS \(SQLWords.quoted(alias))") }
    }

    private mutating func write(_ selection: QuerySelection) {
        switch selection {
        case .raw(let value):
            write("RAW ")
            // `RAW - 1` would be a difference.
            writeGuarded(value, .or) { $0 == "-" }
        case .columns(let columns):
            list("", columns) { printer, column in
                switch column {
                case .all: printer.write("*")
                case .members(let value):
                    printer.write(value, .primary)
                    printer.write(".*")
                case .value(let value, let alias):
                    printer.write(value)
                    printer.write(alias: alias)
                }
            }
        }
    }

    private mutating func write(_ source: QuerySource) {
        write(SQLWords.quoted(source.name))
        if !source.alias.hasSameBytes(as: source.name) { write(alias: source.alias) }
    }

    private mutating func write(_ join: QueryJoin) {
        switch join {
        case .inner(let source, let condition): write(" JOIN ", source, condition)
        case .left(let source, let condition): write(" LEFT JOIN ", source, condition)
        case .cross(let source): write(" CROSS JOIN ", source, nil)
        case .unnest(let array, let alias, let isLeft, _):
            write(isLeft ? " LEFT UNNEST " : " UNNEST ")
            write(array)
            write(alias: alias)
        }
    }

    private mutating func write(_ word: String, _ source: QuerySource, _ condition: QueryExpression?) {
        write(word)
        write(source)
        clause(" ON ", condition)
    }
}

extension QueryStatement {
    /// As SQL++, which reads as the same tree.
    package var sql: String {
        var printer = SQLPrinter()
        printer.write(self)
        return printer.text
    }
}
