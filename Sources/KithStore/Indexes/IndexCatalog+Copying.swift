import KithQuery

// Indexes in a copy of a database, and in a file that is made anew.
extension IndexCatalog {
    /// Gives the attached copy the indexes of the database, those apart that both have: between the copying and now some may
    /// have been made or dropped. The tables of array indexes come with the records.
    static func reconcile(copy schema: String, on connection: Connection) throws(StoreError) {
        let (mine, its) = (try objects("main", connection), try objects(schema, connection))
        // Triggers and indexes go with their tables, and some by themselves.
        for object in its where !mine.contains(object) {
            try connection.run("DROP \(object.type) IF EXISTS \(schema).\(object.name)")
        }
        for entry in try IndexCatalog(connection).entries {
            let removal = entry.definition.textTriggerRemoval(number: entry.number, schema: schema)
            // The words come with the records: until then nothing keeps them.
            for statement in removal { try connection.run(statement) }
            guard let object = mine.first(where: { $0.name == entry.table }), !its.contains(object) else { continue }
            if removal.isEmpty {
                try build(entry, on: connection, schema: schema)
            } else {
                try run(connection) { () throws(QueryError) in
                    try entry.definition.textTable(number: entry.number, schema: schema)
                }
            }
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
    private struct Object: Equatable {
        let type: String
        let name: String
        let sql: String
    }

    private static func objects(_ schema: String, _ connection: Connection) throws(StoreError) -> [Object] {
        let row = try connection.prepare(
            """
            SELECT type, name, sql FROM \(schema).sqlite_schema
            WHERE (name GLOB 'index_[0-9]*' OR name GLOB 'elements_[0-9]*'
                OR name GLOB 'words_[0-9]*' AND (type <> 'table' OR sql LIKE 'CREATE VIRTUAL %'))
            AND sql IS NOT NULL ORDER BY type DESC, name
            """)
        var objects: [Object] = []
        while try row.step() { objects.append(Object(type: row.string(0), name: row.string(1), sql: row.string(2))) }
        return objects
    }
}
