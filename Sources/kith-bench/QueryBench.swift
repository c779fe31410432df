import CSQLite
import KithDocument
import KithQuery
import KithStore

/// Queries over documents in this process, beside SQL written by hand over the same bodies in a table of its own.
struct QueryBench {
    private let count: Int
    private let reader: StoreReader
    private let store: Store
    private let raw: RawQueries
    private let now: () -> Double

    private(set) var equality: [(kith: Double, raw: Double)] = []
    private(set) var words: [(kith: Double, raw: Double)] = []
    private(set) var scan: [(kith: Double, raw: Double)] = []
    private(set) var group: [(kith: Double, raw: Double)] = []

    init(directory: String, samples: Samples, byProcessorTime: Bool) throws {
        now = { byProcessorTime ? Stopwatch.processorSeconds() : Stopwatch.seconds() }
        count = samples.ids.count
        let file = DatabaseFile(try DatabaseName("queries"), in: directory)
        var numbers = Numbers(state: 2)
        store = try Store(
            file, environment: StoreEnvironment(now: { 1_700_000_000_000 }, random: { numbers.next() }))
        raw = RawQueries(path: directory + "/raw-queries.sqlite3")
        var bodies: [[UInt8]] = []
        for index in 0..<count { bodies.append(Self.body(index)) }
        for start in stride(from: 0, to: count, by: 1_000) {
            try store.write { (transaction) throws(StoreError) in
                for index in start..<min(start + 1_000, bodies.count) {
                    _ = try transaction.put(samples.ids[index], bodies[index])
                }
            }
        }
        raw.write(zip(samples.ids, bodies).map { ($0.string, $1) })
        let definitions: [IndexDefinition]
        do {
            definitions = [
                try IndexDefinition("email", .values(["email"])),
                try IndexDefinition("words", .text(["name", "note"], TextIndexOptions())),
            ]
        } catch { throw BenchError(error.message) }
        for definition in definitions { try store.createIndex(definition) }
        try store.truncateLog()
        reader = try store.makeReader()
    }

    /// About 200 bytes.
    private static func body(_ number: Int) -> [UInt8] {
        let text = """
            {"age":\(number % 90),"city":"City \(number % 500)","email":"person\(number)@example.org","name":"Person \(number)",\
            "note":"Nothing in particular, but word\(number % 1_009) and other\(number % 97) as a note has them.","type":"person","visits":\(number / 7)}
            """
        return (try? CanonicalJSON.object(from: Array(text.utf8))) ?? []
    }

    mutating func run() throws {
        let lookups = 20_000
        let byEmail = reader.prepare(Self.byEmail)
        let mine = try Stopwatch.rate(of: lookups, by: now) {
            for number in 0..<lookups {
                let email = "person\(number &* 7919 % count)@example.org"
                let cursor = try reader.query(byEmail, parameters: ParameterValues(["email": .string(email)]))
                guard try cursor.next()?.value != nil else { throw BenchError("nothing has the address \(email)") }
            }
        }
        let its = Stopwatch.rate(of: lookups, by: now) {
            for number in 0..<lookups { raw.find("person\(number &* 7919 % count)@example.org") }
        }
        equality.append((mine, its))
        let searches = 2_000
        let bestWords = reader.prepare(Self.bestWords)
        words.append(
            (
                try Stopwatch.rate(of: searches, by: now) {
                    for number in 0..<searches {
                        let words = ParameterValues(["words": .string(Self.search(number))])
                        guard try reader.query(bestWords, parameters: words).rows().count > 10 else {
                            throw BenchError("nothing has the words \(Self.search(number))")
                        }
                    }
                },
                Stopwatch.rate(of: searches, by: now) {
                    for number in 0..<searches { raw.search(Self.search(number)) }
                }
            ))
        scan.append(
            (
                try Stopwatch.rate(of: count, by: now) { try read(Self.oneField) },
                Stopwatch.rate(of: count, by: now) {
                    raw.read(
                        "SELECT json_extract(body, '$.name') FROM documents WHERE json_extract(body, '$.city') = 'City 7'"
                    )
                }
            ))
        group.append(
            (
                try Stopwatch.rate(of: count, by: now) { try read(Self.grouped) },
                Stopwatch.rate(of: count, by: now) {
                    raw.read(
                        "SELECT json_extract(body, '$.city'), count(*), sum(json_extract(body, '$.age')) FROM documents GROUP BY 1"
                    )
                }
            ))
    }

    /// About one document in a thousand has it.
    private static func search(_ number: Int) -> String { "particular word\(number &* 7919 % 1_009)" }

    private func read(_ query: CheckedQuery) throws {
        guard try !reader.query(query).rows().isEmpty else { throw BenchError("a query found nothing") }
    }

    private static let byEmail = checked("SELECT name FROM people WHERE email = $email")
    private static let bestWords = checked(
        "SELECT name FROM people WHERE MATCH(words, $words) ORDER BY RANK(words) DESC LIMIT 20")
    private static let oneField = checked("SELECT name FROM people WHERE city = 'City 7'")
    private static let grouped = checked("SELECT city, COUNT(*) AS n, SUM(age) AS years FROM people GROUP BY city")

    private static func checked(_ text: String) -> CheckedQuery {
        do { return try QueryStatement(parsing: text).checked() } catch { preconditionFailure(error.message) }
    }
}

/// The same by hand: a table of ids and bodies, an index on what is looked for, one prepared statement.
final class RawQueries {
    private var handle: OpaquePointer?
    private var lookup: OpaquePointer?
    private var matching: OpaquePointer?

    init(path: String) {
        Self.check(sqlite3_open(path, &handle))
        run(
            """
            PRAGMA journal_mode=WAL; PRAGMA cache_size=-4096;
            CREATE TABLE documents(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body TEXT);
            CREATE INDEX email ON documents(json_extract(body, '$.email'));
            CREATE VIRTUAL TABLE words USING fts5(name, note, content='')
            """)
        let text = "SELECT json_extract(body, '$.name') FROM documents WHERE json_extract(body, '$.email') = ?1"
        Self.check(sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &lookup, nil))
        let search = """
            SELECT json_extract(body, '$.name') FROM words JOIN documents ON number = words.rowid
            WHERE words MATCH ?1 ORDER BY rank LIMIT 20
            """
        Self.check(sqlite3_prepare_v3(handle, search, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &matching, nil))
    }

    deinit {
        sqlite3_finalize(lookup)
        sqlite3_finalize(matching)
        sqlite3_close(handle)
    }

    func write(_ rows: [(id: String, body: [UInt8])]) {
        var statement: OpaquePointer?
        Self.check(sqlite3_prepare_v2(handle, "INSERT INTO documents(id, body) VALUES (?1, ?2)", -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        run("BEGIN")
        for row in rows {
            Self.bind(statement, 1, Array(row.id.utf8))
            Self.bind(statement, 2, row.body)
            Self.check(sqlite3_step(statement), SQLITE_DONE)
            sqlite3_reset(statement)
        }
        run(
            """
            INSERT INTO words(rowid, name, note)
            SELECT number, json_extract(body, '$.name'), json_extract(body, '$.note') FROM documents;
            COMMIT
            """)
    }

    /// The names of those that fit the words best.
    func search(_ words: String) {
        Self.bind(matching, 1, Array(words.utf8))
        var rows = 0
        while sqlite3_step(matching) == SQLITE_ROW { rows += Self.text(matching).isEmpty ? 0 : 1 }
        precondition(rows > 10)
        sqlite3_reset(matching)
    }

    /// The name of who has the address, as a text of Swift's.
    func find(_ email: String) {
        Self.bind(lookup, 1, Array(email.utf8))
        Self.check(sqlite3_step(lookup), SQLITE_ROW)
        precondition(!Self.text(lookup).isEmpty)
        sqlite3_reset(lookup)
    }

    /// Reads all rows of a statement that is prepared for it.
    func read(_ text: String) {
        var statement: OpaquePointer?
        Self.check(sqlite3_prepare_v2(handle, text, -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        var rows = 0
        while sqlite3_step(statement) == SQLITE_ROW { rows += Self.text(statement).isEmpty ? 0 : 1 }
        precondition(rows > 0)
    }

    private static func text(_ statement: OpaquePointer?) -> String {
        let start = sqlite3_column_text(statement, 0)
        return String(
            decoding: UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, 0))), as: UTF8.self)
    }

    private static func bind(_ statement: OpaquePointer?, _ index: Int32, _ text: [UInt8]) {
        text.withUnsafeBytes { _ = kith_bind_text_copy(statement, index, $0.baseAddress, Int32($0.count)) }
    }

    private func run(_ text: String) { Self.check(sqlite3_exec(handle, text, nil, nil, nil)) }

    private static func check(_ code: Int32, _ expected: Int32 = SQLITE_OK) {
        precondition(code == expected, "raw SQLite failed with \(code)")
    }
}
