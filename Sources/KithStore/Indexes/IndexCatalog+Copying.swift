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
            let names = entry.definition.objects(number: entry.number)
            func parts(_ objects: [Object]) -> [Object] { objects.filter { names.contains($0.name) } }
            let wanted = parts(mine)
            // A number may be given to another index meanwhile: what differs in a part is that of another one.
            if wanted.isEmpty || wanted == parts(its) { continue }
            let removal = entry.definition.removal(number: entry.number, schema: schema)
            for statement in removal { try connection.run(statement) }
            try build(entry, on: connection, schema: schema)
        }
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
            WHERE (name GLOB 'index_[0-9]*' OR name GLOB 'elements_[0-9]*') AND sql IS NOT NULL ORDER BY type DESC, name
            """)
        var objects: [Object] = []
        while try row.step() { objects.append(Object(type: row.string(0), name: row.string(1), sql: row.string(2))) }
        return objects
    }
}
