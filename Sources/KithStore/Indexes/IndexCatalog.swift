import KithDocument
import KithQuery

/// The indexes of a database: what is written down of them in its settings.
struct IndexCatalog {
    struct Entry {
        let definition: IndexDefinition
        /// Part of the name that SQLite has for it.
        let number: Int
        /// When it was made, in milliseconds since 1970.
        let created: Int64

        var table: String { definition.table(number: number) }
        /// All that stands in the file of it by that name.
        var tables: [String] { [table] + definition.shadowTables(number: number) }

        var body: [UInt8] {
            guard var object = definition.json.object else { return [] }
            object["number"] = .number(number)
            object["functions"] = .number(IndexDefinition.functions)
            object["created"] = .number(created)
            return JSONValue.object(object).canonicalBytes
        }

        init(_ definition: IndexDefinition, number: Int, created: Int64) {
            self.definition = definition
            self.number = number
            self.created = created
        }

        /// - Throws: `StoreError` for what is no definition.
        init(_ body: [UInt8], of subject: String) throws(StoreError) {
            let json = JSONValue(canonical: body)
            guard let number = json.object?["number"]?.number?.integer.flatMap({ Int(exactly: $0) }), number > 0 else {
                throw StoreError(.damaged, subject, "an index of \(subject) can't be read: it has no number")
            }
            self.number = number
            do throws(QueryError) { definition = try IndexDefinition(json: json) } catch {
                throw StoreError(
                    .damaged, subject, "an index of \(subject) can't be read: \(error.message)", query: error)
            }
            created = json.object?["created"]?.number?.integer ?? 0
        }
    }

    /// Ascending by name.
    let entries: [Entry]
    /// Array indexes, as queries see them.
    let arrays: [IndexedArray]
    /// Full-text indexes, as queries see them.
    let texts: [IndexedText]
    /// Whether there were documents that expire.
    let hasExpiring: Bool
    /// Names whose definition can't be read here: of a newer kind, or damaged.
    let unreadable: [String]

    static let prefix = "index."
    /// When each was last used.
    static let usePrefix = "index-use."
    static let selection = "SELECT key, value FROM settings WHERE key >= '\(prefix)' AND key < 'index/' ORDER BY key"

    init(_ connection: Connection) throws(StoreError) {
        let row = try connection.prepare(Self.selection)
        var entries: [Entry] = []
        var arrays: [IndexedArray] = []
        var unreadable: [String] = []
        while try row.step() {
            do throws(StoreError) {
                let entry = try Entry(row.bytes(1), of: connection.subject)
                entries.append(entry)
                if let array = try? entry.definition.indexedArray(number: entry.number) { arrays.append(array) }
            } catch {
                unreadable.append(String(row.string(0).dropFirst(Self.prefix.count)))
            }
        }
        hasExpiring = try connection.number(Schema.expiryIndexCount) != 0
        self.entries = entries
        self.arrays = arrays
        texts = entries.compactMap { $0.definition.indexedText(number: $0.number) }
        self.unreadable = unreadable
    }

    subscript(_ name: String) -> Entry? { entries.first { $0.definition.name == name } }

    /// Makes the index itself, filled.
    static func build(_ entry: Entry, on connection: Connection, schema: String = "main") throws(StoreError) {
        let statements: [String]
        do throws(QueryError) {
            statements = try entry.definition.statements(number: entry.number, schema: schema)
        } catch {
            throw StoreError(error, connection.subject)
        }
        for statement in statements { try connection.run(statement) }
    }

    static func write(_ entry: Entry, on connection: Connection) throws(StoreError) {
        try write(entry.body, prefix + entry.definition.name, on: connection)
    }

    static func write(_ body: [UInt8], _ key: String, on connection: Connection) throws(StoreError) {
        let row = try connection.statement(.writeSetting)
        defer { row.reset() }
        row.bind(1, text: key)
        row.bind(2, blob: body)
        _ = try row.step()
    }
}
