import KithDocument

/// What an index has, as it is written down: expressions are SQL++ over a document, whose fields are names.
package struct IndexDefinition: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The values of one or more expressions, in this order.
        case values([String])
        /// For UNNEST, ANY and IN: the elements of an array, or the values of a path within each of them.
        case elements(of: String, path: String?)
        /// The words of one or more expressions, for MATCH.
        case text([String], TextIndexOptions)
    }

    /// Goes up whenever a function, an operator, a collation or a key gives something else than before: what indexes have is
    /// what those gave when it was written.
    package static let functions = 1

    package let name: String
    package let kind: Kind
    /// The condition on documents that are in it; nil for all.
    package let filter: String?

    /// - Parameter filter: SQL++ as the expressions are. It has no parameters, and nothing that depends on the time.
    /// - Throws: `QueryError` with the place in the expression that is wrong.
    package init(_ name: String, _ kind: Kind, where filter: String? = nil) throws(QueryError) {
        guard Self.isName(name) else {
            throw .running("an index is named by up to 100 letters from a to z, digits, _ and -")
        }
        self.name = name
        switch kind {
        case .values(let expressions): self.kind = .values(try Self.written(all: expressions))
        case .text(let fields, let options): self.kind = .text(try Self.written(all: fields), options)
        case .elements(let array, let path):
            self.kind = .elements(of: try Self.written(array), path: try Self.written(orNil: path))
        }
        self.filter = try Self.written(orNil: filter)
        _ = try statements(number: 0)
        let names = fieldNames
        for (index, name) in names.enumerated() where names[..<index].contains(where: { $0.hasSameBytes(as: name) }) {
            throw .running("the index has the field \(name) twice")
        }
    }

    private static func written(all expressions: [String]) throws(QueryError) -> [String] {
        guard (1...QueryLimits.indexExpressions).contains(expressions.count) else {
            throw .running("an index has one to \(QueryLimits.indexExpressions) expressions")
        }
        var written: [String] = []
        for expression in expressions { written.append(try Self.written(expression)) }
        return written
    }

    /// The expression as it is always written.
    private static func written(_ text: String) throws(QueryError) -> String { try QueryExpression(parsing: text).sql }

    private static func written(orNil text: String?) throws(QueryError) -> String? {
        guard let text else { return nil }
        return try written(text)
    }

    private static func isName(_ name: String) -> Bool {
        (1...100).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                ("a"..."z").contains(Character(Unicode.Scalar(byte | 0x20))) || (0x30...0x39).contains(byte)
                    || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            }
    }

    // As JSON.

    package var json: JSONValue {
        var object: JSONObject = ["name": .string(name)]
        switch kind {
        case .values(let expressions):
            object["kind"] = "values"
            object["expressions"] = .array(expressions.map { .string($0) })
        case .elements(let array, let path):
            object["kind"] = "elements"
            object["array"] = .string(array)
            object["path"] = path.map { .string($0) }
        case .text(let fields, let options):
            object["kind"] = "text"
            object["fields"] = .array(fields.map { .string($0) })
            object["language"] = options.language.map { .string($0.rawValue) }
            if options.keepsDiacritics { object["diacritics"] = "kept" }
        }
        object["where"] = filter.map { .string($0) }
        return .object(object)
    }

    /// - Throws: `QueryError` for what is no definition, or one of a kind that is not known here.
    package init(json: JSONValue) throws(QueryError) {
        guard let object = json.object, let name = object["name"]?.string, let kind = object["kind"]?.string else {
            throw .running("what is written down of an index is none")
        }
        let filter = object["where"]?.string
        switch kind {
        case "values":
            let expressions = (object["expressions"]?.array ?? []).compactMap(\.string)
            try self.init(name, .values(expressions), where: filter)
        case "elements":
            try self.init(
                name, .elements(of: object["array"]?.string ?? "", path: object["path"]?.string), where: filter)
        case "text":
            let fields = (object["fields"]?.array ?? []).compactMap(\.string)
            var options = TextIndexOptions(keepsDiacritics: object["diacritics"]?.string == "kept")
            if let language = object["language"]?.string {
                guard let known = TextIndexOptions.Language(rawValue: language) else {
                    throw .running("the index \(name) is of a language that is not known here: \(language)")
                }
                options.language = known
            }
            try self.init(name, .text(fields, options), where: filter)
        default: throw .running("the index \(name) is of a kind that is not known here: \(kind)")
        }
    }
}

extension IndexDefinition {
    /// By the bytes of their expressions: names in NFC and NFD are two.
    package static func == (left: Self, right: Self) -> Bool { left.json.canonicalBytes == right.json.canonicalBytes }
}

// As SQL.
extension IndexDefinition {
    /// How SQLite calls the index, or the table of the elements.
    package func table(number: Int) -> String {
        switch kind {
        case .values: "index_\(number)"
        case .elements: "elements_\(number)"
        case .text: "words_\(number)"
        }
    }

    /// What makes the index and fills it.
    /// - Parameter schema: the database of the connection that it is made in.
    package func statements(number: Int, schema: String = "main") throws(QueryError) -> [String] {
        switch kind {
        case .values(let expressions):
            var translator = Self.translator("")
            var keys: [String] = []
            for expression in expressions { keys.append(try translator.key(of: expression)) }
            let terms = try translator.terms(filter)
            return [
                "CREATE INDEX \(schema).\(table(number: number)) ON documents(\(keys.joined(separator: ", "))) WHERE "
                    + terms.joined(separator: " AND ")
            ]
        case .text:
            return try textTable(number: number, schema: schema)
                + [try textFilling(number: number, schema: schema)] + textTriggers(number: number, schema: schema)
        case .elements:
            let table = table(number: number)
            let added = try elements("new.", table)
            let removed = try elements("old.", table)
            let all = try elements("documents.", table, of: "\(schema).documents, ")
            let filled =
                "INSERT OR IGNORE INTO \(schema).\(table) SELECT \(all.key), \(all.source) WHERE \(all.condition)"
            return [
                """
                CREATE TABLE \(schema).\(table)(key BLOB NOT NULL, number INTEGER NOT NULL, PRIMARY KEY(key, number)) \
                WITHOUT ROWID
                """, filled,
                """
                CREATE TRIGGER \(schema).\(table)_insert AFTER INSERT ON documents WHEN new.body IS NOT NULL BEGIN \
                \(added.insertion) END
                """,
                """
                CREATE TRIGGER \(schema).\(table)_update AFTER UPDATE ON documents BEGIN \
                \(removed.deletion) \(added.insertion) END
                """,
                """
                CREATE TRIGGER \(schema).\(table)_delete AFTER DELETE ON documents WHEN old.body IS NOT NULL BEGIN \
                \(removed.deletion) END
                """,
            ]
        }
    }

    /// What takes it away.
    package func removal(number: Int, schema: String = "main") -> [String] {
        let table = "\(schema).\(table(number: number))"
        return switch kind {
        case .values: ["DROP INDEX IF EXISTS \(table)"]
        case .elements:
            Self.triggers.map { "DROP TRIGGER IF EXISTS \(table)_\($0)" } + ["DROP TABLE IF EXISTS \(table)"]
        case .text:
            textTriggerRemoval(number: number, schema: schema)
                + ["DROP TABLE IF EXISTS \(table)", "DROP VIEW IF EXISTS \(table)_rows"]
        }
    }

    /// The names of all that it is made of in the file.
    package func objects(number: Int) -> [String] {
        let table = table(number: number)
        return switch kind {
        case .values: [table]
        case .elements: [table] + Self.triggers.map { "\(table)_\($0)" }
        case .text: [table, "\(table)_rows"] + Self.triggers.map { "\(table)_\($0)" }
        }
    }

    package static let triggers = ["insert", "update", "delete"]

    /// For an array index: what its table should have.
    package func expectedElements(number: Int) throws(QueryError) -> String? {
        guard case .elements = kind else { return nil }
        let all = try elements("documents.", table(number: number), of: "documents, ")
        return "SELECT DISTINCT \(all.key) AS key, \(all.source) WHERE \(all.condition)"
    }

    /// As queries see it; nil for what they don't need to know.
    package func indexedArray(number: Int) throws(QueryError) -> IndexedArray? {
        guard case .elements = kind else { return nil }
        var translator = Self.translator(IndexedArray.prefix)
        let (array, element) = try ways(&translator)
        return IndexedArray(
            name: name, table: table(number: number), array: array, element: element,
            conditions: try Array(translator.terms(filter).dropFirst()))
    }

    private struct Elements {
        let key: String
        /// The number of the document, and from where the elements are.
        let source: String
        let condition: String
        let insertion: String
        let deletion: String
    }

    /// - Parameter documents: the table that the prefix stands for, and a comma; nothing in a trigger, which has its row.
    private func elements(
        _ prefix: String, _ table: String, of documents: String = ""
    ) throws(QueryError) -> Elements {
        var translator = Self.translator(prefix)
        let (array, element) = try ways(&translator)
        let json = try translator.json(translator.closer.table.expression(.field(source: 0, array)))
        let key = "kq_get(e.value, \(SQLText.literal(CanonicalJSON.way(element))))"
        let condition = SQLText.and(["\(key) IS NOT NULL"] + (try translator.terms(filter)))
        let source = "\(prefix)number FROM \(documents)kq_each(\(json)) AS e"
        return Elements(
            key: key, source: source, condition: condition,
            insertion: "INSERT OR IGNORE INTO \(table) SELECT \(key), \(source) WHERE \(condition);",
            deletion: """
                DELETE FROM \(table) WHERE number = \(prefix)number AND key IN \
                (SELECT \(key) FROM kq_each(\(json)) AS e WHERE \(condition));
                """)
    }

    private func ways(
        _ translator: inout SQLTranslator
    ) throws(QueryError) -> (array: [CanonicalStep], element: [CanonicalStep]) {
        guard case .elements(let array, let path) = kind else { preconditionFailure("no array index: \(name)") }
        let way = try translator.way(of: array, "the array of an index")
        guard let path else { return (way, []) }
        return (way, try translator.way(of: path, "the path of an index"))
    }

    static func translator(_ prefix: String) -> SQLTranslator {
        var translator = SQLTranslator(QueryCloser(allowsBinding: false))
        _ = translator.closer.declareSource("document")
        translator.sources = [SQLTranslator.Source(prefix: prefix, isDocument: true)]
        return translator
    }
}

extension SQLTranslator {
    mutating func closed(_ text: String) throws(QueryError) -> QueryExpression {
        try closer.close(QueryExpression(parsing: text).checkedAsFilter().condition)
    }

    /// What an index has of an expression.
    fileprivate mutating func key(of text: String) throws(QueryError) -> String {
        let expression = try closed(text)
        if expression.slots.isEmpty { throw .running("\(text) is the same for all documents: an index has fields") }
        return try folded(expression, expression.collation)
    }

    /// The conditions on documents that are in an index: there is something of them, and those of the filter.
    mutating func terms(_ filter: String?) throws(QueryError) -> [String] {
        var terms = ["\(sources[0].prefix)body IS NOT NULL"]
        guard let filter else { return terms }
        for part in try closed(filter).conjuncts { terms.append(try condition(part)) }
        return terms
    }

    fileprivate mutating func way(of text: String, _ what: String) throws(QueryError) -> [CanonicalStep] {
        let expression = try closed(text)
        guard case .field(_, let way) = slot(expression), !way.isEmpty else {
            throw .running("\(what) is a path, such as tags or a.b: found \(text)")
        }
        return way
    }
}
