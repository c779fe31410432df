import KithDocument
import KithQuery

// Indexes that other functions have made.
extension IndexCatalog {
    /// Brings the indexes in step with what the functions of this program give: an index has of a document what they gave
    /// when it was written. Indexes of others are made anew. Of one whose definition can't be read here the definition
    /// stays alone, marked so that a program that knows it makes the index anew.
    /// - Complexity: O(1) where all are in step; otherwise as making those that are not.
    static func renew(_ connection: Connection) throws(StoreError) {
        let old = try records(connection).filter { $0.functions != IndexDefinition.functions }
        if old.isEmpty { return }
        try connection.run(.beginWriting)
        do throws(StoreError) {
            for record in old { try renew(record, connection) }
            try connection.run(.commit)
        } catch {
            if connection.isInTransaction { try? connection.run(.rollback) }
            throw error
        }
    }

    private static func renew(_ record: Record, _ connection: Connection) throws(StoreError) {
        if let entry = try? Entry(record.body, of: connection.subject) {
            for statement in entry.definition.removal(number: entry.number) { try connection.run(statement) }
            try build(entry, on: connection)
            try write(entry, on: connection)
        } else if record.functions != 0, var object = JSONValue(canonical: record.body).object {
            try dropObjects(of: record, connection)
            object["functions"] = 0
            try write(JSONValue.object(object).canonicalBytes, record.key, on: connection)
        }
    }

    /// Takes away an index whose definition can't be read here.
    static func drop(unreadable name: String, on connection: Connection) throws(StoreError) {
        for record in try records(connection) where record.key.hasSameBytes(as: prefix + name) {
            try dropObjects(of: record, connection)
        }
    }

    private static func dropObjects(of record: Record, _ connection: Connection) throws(StoreError) {
        guard let number = record.number, try !IndexCatalog(connection).entries.contains(where: { $0.number == number })
        else { return }
        for object in try objects("main", connection) where object.number == number {
            try connection.run("DROP \(object.type) IF EXISTS \(object.name)")
        }
    }

    /// What is written down of an index, also of one that can't be read.
    private struct Record {
        let key: String
        let body: [UInt8]

        private func member(_ name: String) -> Int? {
            JSONValue(canonical: body).object?[name]?.number?.integer.flatMap { Int(exactly: $0) }
        }

        var number: Int? { member("number") }
        var functions: Int? { member("functions") }
    }

    private static func records(_ connection: Connection) throws(StoreError) -> [Record] {
        let row = try connection.prepare(selection)
        var records: [Record] = []
        while try row.step() { records.append(Record(key: row.string(0), body: row.bytes(1))) }
        return records
    }
}
