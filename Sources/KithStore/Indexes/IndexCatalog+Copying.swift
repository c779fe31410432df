import KithQuery

// Indexes in a copy of a database, and in a file that is made anew.
extension IndexCatalog {
    /// Gives the attached copy the indexes of the database, those apart that both have: between the copying and now some may
    /// have been made or dropped. Array indexes are kept in the copy by their triggers from then on.
    static func reconcile(copy schema: String, on connection: Connection) throws(StoreError) {
        let (mine, its) = (try objects("main", connection), try objects(schema, connection))
        // Triggers and indexes go with their tables, and some by themselves.
        for object in its where !mine.contains(object) {
            try connection.run("DROP \(object.type) IF EXISTS \(schema).\(object.name)")
        }
        for entry in try IndexCatalog(connection).entries {
            let definition = entry.definition
            let names = definition.objects(number: entry.number)
            func parts(_ objects: [Object]) -> [Object] { objects.filter { names.contains($0.name) } }
            let (wanted, present) = (parts(mine), parts(its))
            if wanted.isEmpty { continue }
            if case .text = definition.kind {
                // The words come with the records: until then nothing keeps them.
                let isThere = wanted.filter { !$0.isTrigger } == present.filter { !$0.isTrigger }
                let removal =
                    isThere
                    ? definition.textTriggerRemoval(number: entry.number, schema: schema)
                    : definition.removal(number: entry.number, schema: schema)
                for statement in removal { try connection.run(statement) }
                if isThere { continue }
                try run(connection) { () throws(QueryError) in
                    try definition.textTable(number: entry.number, schema: schema)
                }
                continue
            }
            // A number may be given to another index meanwhile: what differs in a part is that of another one.
            if wanted == present { continue }
            for statement in definition.removal(number: entry.number, schema: schema) { try connection.run(statement) }
            try build(entry, on: connection, schema: schema)
        }
    }

    /// Gives the copy what keeps its full-text indexes, once it has their words.
    static func finish(copy schema: String, on connection: Connection) throws(StoreError) {
        for entry in try IndexCatalog(connection).entries {
            try run(connection) { () throws(QueryError) in
                try entry.definition.textTriggers(number: entry.number, schema: schema)
            }
        }
    }

    private static func run(
        _ connection: Connection, _ make: () throws(QueryError) -> [String]
    ) throws(StoreError) {
        let statements: [String]
        do throws(QueryError) { statements = try make() } catch { throw StoreError(error, connection.subject) }
        for statement in statements { try connection.run(statement) }
    }

    /// Something of SQLite's schema that belongs to an index.
    struct Object: Equatable {
        let type: String
        let name: String
        let sql: String

        var isTrigger: Bool { type == "trigger" }

        /// The number of its index; nil where it is not called as parts of indexes are, to the letter.
        var number: Int? {
            let parts = name.split(separator: "_", omittingEmptySubsequences: false)
            guard (2...3).contains(parts.count), let number = Int(parts[1]), number > 0 else { return nil }
            var names = ["index_\(number)", "elements_\(number)", "words_\(number)", "words_\(number)_rows"]
            names += IndexDefinition.triggers.flatMap { ["elements_\(number)_\($0)", "words_\(number)_\($0)"] }
            return names.contains { $0.hasSameBytes(as: name) } ? number : nil
        }
    }

    /// - Throws: `StoreError` `damaged` for a name that Kith gives to nothing: a file may come from anywhere, and names stand
    ///   in SQL.
    static func objects(_ schema: String, _ connection: Connection) throws(StoreError) -> [Object] {
        let row = try connection.prepare(
            """
            SELECT type, name, sql FROM \(schema).sqlite_schema
            WHERE (name GLOB 'index_[0-9]*' OR name GLOB 'elements_[0-9]*'
                OR name GLOB 'words_[0-9]*' AND (type <> 'table' OR sql LIKE 'CREATE VIRTUAL %'))
            AND sql IS NOT NULL ORDER BY type DESC, name
            """)
        var objects: [Object] = []
        while try row.step() {
            let object = Object(type: row.string(0), name: row.string(1), sql: row.string(2))
            guard object.number != nil, ["index", "table", "trigger", "view"].contains(object.type),
                (object.type == "view") == object.name.hasSuffix("_rows")
            else {
                throw StoreError(
                    .damaged, connection.subject,
                    "\(connection.subject) has an index that Kith has not made: see kith help database-damaged")
            }
            objects.append(object)
        }
        return objects
    }
}
