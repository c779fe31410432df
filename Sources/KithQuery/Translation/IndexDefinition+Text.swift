import KithDocument

// Full-text indexes as SQL: a table of FTS5 that keeps no text of its own but reads it from the documents, by a view, and
// triggers that keep it. What is taken out must be what was put in, so only what has changed is written.
extension IndexDefinition {
    /// What the fields are called, in their order; empty for an index of another kind.
    package var fieldNames: [String] {
        guard case .text(let fields, _) = kind else { return [] }
        return fields.map { (try? QueryExpression(parsing: $0))?.fieldName ?? $0 }
    }

    /// As queries see it; nil for an index of another kind.
    package func indexedText(number: Int) -> IndexedText? {
        guard case .text = kind else { return nil }
        return IndexedText(name: name, table: table(number: number), fields: fieldNames)
    }

    /// The tables that FTS5 keeps, besides the one that it is asked for.
    package func shadowTables(number: Int) -> [String] {
        guard case .text = kind else { return [] }
        return ["data", "idx", "docsize", "config"].map { "\(table(number: number))_\($0)" }
    }

    /// What makes the table, empty, and the view that it reads from.
    func textTable(number: Int, schema: String) throws(QueryError) -> [String] {
        guard case .text(_, let options) = kind else { return [] }
        let table = table(number: number)
        let row = try textRow("")
        let values = zip(row.columns, row.values).map { "\($1) AS \($0)" }.joined(separator: ", ")
        let columns = row.columns.joined(separator: ", ")
        return [
            "CREATE VIEW \(schema).\(table)_rows AS SELECT number, \(values) FROM documents WHERE \(row.condition)",
            """
            CREATE VIRTUAL TABLE \(schema).\(table) USING fts5(\(columns), content='\(table)_rows', \
            content_rowid='number', tokenize='\(options.tokenizer)')
            """,
        ]
    }

    func textFilling(number: Int, schema: String) throws(QueryError) -> String {
        let table = table(number: number)
        let columns = try textRow("").columns.joined(separator: ", ")
        return """
            INSERT INTO \(schema).\(table)(rowid, \(columns)) SELECT number, \(columns) FROM \(schema).\(table)_rows \
            WHERE \(Self.anyOf(columns))
            """
    }

    func textTriggers(number: Int, schema: String) throws(QueryError) -> [String] {
        guard case .text = kind else { return [] }
        let table = table(number: number)
        let (new, old) = (try textRow("new."), try textRow("old."))
        let differs = zip(old.values, new.values).map { "\($0) IS NOT \($1)" }.joined(separator: " OR ")
        return [
            """
            CREATE TRIGGER \(schema).\(table)_insert AFTER INSERT ON documents WHEN new.body IS NOT NULL BEGIN \
            \(new.insertion(table)) END
            """,
            """
            CREATE TRIGGER \(schema).\(table)_update AFTER UPDATE ON documents \
            WHEN (\(old.condition)) IS NOT (\(new.condition)) OR \(differs) BEGIN \
            \(old.deletion(table)) \(new.insertion(table)) END
            """,
            """
            CREATE TRIGGER \(schema).\(table)_delete AFTER DELETE ON documents WHEN old.body IS NOT NULL BEGIN \
            \(old.deletion(table)) END
            """,
        ]
    }

    func textTriggerRemoval(number: Int, schema: String = "main") -> [String] {
        guard case .text = kind else { return [] }
        return Self.triggers.map {
            "DROP TRIGGER IF EXISTS \(schema).\(table(number: number))_\($0)"
        }
    }

    /// What is in it of one document.
    private struct TextRow {
        let prefix: String
        let columns: [String]
        let values: [String]
        let condition: String

        private var names: String { columns.joined(separator: ", ") }
        private var texts: String { values.joined(separator: ", ") }
        private var isThere: String { "(\(condition)) AND \(IndexDefinition.anyOf(texts))" }

        func insertion(_ table: String) -> String {
            "INSERT INTO \(table)(rowid, \(names)) SELECT \(prefix)number, \(texts) WHERE \(isThere);"
        }

        func deletion(_ table: String) -> String {
            "INSERT INTO \(table)(\(table), rowid, \(names)) SELECT 'delete', \(prefix)number, \(texts) WHERE \(isThere);"
        }
    }

    /// Whether one of them is there; what has none is not in the index.
    private static func anyOf(_ values: String) -> String { "coalesce(\(values), NULL) IS NOT NULL" }

    private func textRow(_ prefix: String) throws(QueryError) -> TextRow {
        guard case .text(let fields, _) = kind else { preconditionFailure("no full-text index: \(name)") }
        var translator = Self.translator(prefix)
        var values: [String] = []
        for field in fields { values.append("kq_words(\(try translator.text(of: field)))") }
        return TextRow(
            prefix: prefix, columns: fields.indices.map { "c\($0)" }, values: values,
            condition: try translator.terms(filter).joined(separator: " AND "))
    }
}

extension SQLTranslator {
    /// The text of what an index has of an expression, as JSON.
    fileprivate mutating func text(of text: String) throws(QueryError) -> String {
        let expression = try closed(text)
        if expression.slots.isEmpty { throw .running("\(text) is the same for all documents: an index has fields") }
        return try json(expression)
    }
}

extension QueryExpression {
    /// What a field of a full-text index is called: the names of its path with points between them, or else as it is written.
    var fieldName: String {
        switch kind {
        case .identifier(let name): return name
        case .path(let base, let steps):
            guard case .identifier(let name) = base.kind else { return sql }
            var names = [name]
            for step in steps {
                guard case .member(let member) = step else { return sql }
                names.append(member)
            }
            return names.joined(separator: ".")
        default: return sql
        }
    }
}
