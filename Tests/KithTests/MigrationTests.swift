import Kith
import KithTesting
import Testing

struct MigrationTests {
    /// The first versions of a program's steps: `done` becomes `status`, tags become an object by name, each list gets a count.
    private static func migrator(steps: Int = 3) -> Migrator {
        var migrator = Migrator()
        if steps > 0 {
            migrator.addForEach("status") { document in
                guard let done = document.bool("done") else { return }
                document["status"] = done ? "completed" : "pending"
                document["done"] = nil
            }
        }
        if steps > 1 {
            migrator.addForEach("tags by name") { document in
                guard let tags = document.array("tags") else { return }
                document["tags"] = .object(
                    Dictionary(uniqueKeysWithValues: tags.compactMap(\.string).map { ($0, true) }))
            }
        }
        if steps > 2 {
            migrator.add("summary") { batch in
                let pending = try batch.query("SELECT RAW COUNT(*) FROM _ WHERE status = 'pending'").first ?? 0
                try batch.save(Document(id: "summary", ["pending": pending]))
                try batch.delete("obsolete")
            }
        }
        return migrator
    }

    private static func fill(_ database: Database) async throws {
        try await database.write { batch in
            for number in 0..<40 {
                try batch.save(
                    Document(
                        id: "t\(number)", ["done": .bool(number % 3 == 0), "tags": ["a", "b"], "n": .int(number)]))
            }
            try batch.save(Document(id: "obsolete"))
        }
    }

    private static func contents(_ database: Database) async throws -> [String] {
        try await database.read { try $0.documents().map { "\($0.id) \($0.json)" } }
    }

    private static func revisions(_ database: Database) async throws -> [String] {
        try await database.read { try $0.documents().map { "\($0.id) \($0.revision ?? "") \($0.conflicts)" } }
    }

    @Test func `every earlier version ends as the newest does`() async throws {
        var expected: [String]?
        for version in 0...3 {
            let database = try Database.inMemory()
            try await Self.fill(database)
            #expect(try await Self.migrator(steps: version).migrate(database).count == version)
            #expect(try await Self.migrator().due(in: database).count == 3 - version)
            #expect(try await Self.migrator().migrate(database).count == 3 - version)
            let contents = try await Self.contents(database)
            #expect(contents.count == 41 && contents.contains(#"summary {"pending":26}"#), "\(contents)")
            #expect(expected == nil || contents == expected)
            expected = contents
        }
    }

    @Test func `what has run does not run again`() async throws {
        let database = try Database.inMemory()
        try await Self.fill(database)
        try await Self.migrator().migrate(database)
        try await database.save(Document(id: "late", ["done": true]))
        let sequence = try database.summary().sequence
        #expect(try await Self.migrator().migrate(database) == [])
        #expect(try database.summary().sequence == sequence)
        #expect(try await database.document("late")?.bool("done") == true)
    }

    @Test(.timeLimit(.minutes(5)))
    func `three nodes that migrate apart write the same revisions`() async throws {
        try await TestGroup.with(nodes: 3) { group in
            var databases: [Database] = []
            for node in group.nodes { databases.append(try await node.database("todo")) }
            try await Self.fill(databases[0])
            #expect(await group.isInSync("todo"))
            try await group.part()
            for database in databases { #expect(try await Self.migrator().migrate(database).count == 3) }
            let apart = try await Self.revisions(databases[0])
            #expect(apart.count == 41 && apart.allSatisfy { $0.hasSuffix(" []") }, "\(apart)")
            for database in databases.dropFirst() { #expect(try await Self.revisions(database) == apart) }
            try await group.meet()
            #expect(await group.isInSync("todo"))
            for database in databases {
                #expect(try await Self.revisions(database) == apart)
                #expect(try await Self.migrator().migrate(database) == [])
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `an older version goes on and undoes nothing`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let (old, new) = (try await group[0].database("todo"), try await group[1].database("todo"))
            try await Self.fill(old)
            #expect(await group.isInSync("todo"))
            try await group.part()
            try await Self.migrator().migrate(new)
            // Meanwhile, and later, what it knows: fields that no step touches.
            try await old.update("t1") { $0["n"] = 100 }
            try await group.meet()
            #expect(await group.isInSync("todo"))
            try await old.update("t2") { $0["n"] = 200 }
            #expect(await group.isInSync("todo"))
            for database in [old, new] {
                let (one, two) = (try await database.document("t1"), try await database.document("t2"))
                #expect(one?.json == #"{"n":100,"status":"pending","tags":{"a":true,"b":true}}"#)
                #expect(two?.json == #"{"n":200,"status":"pending","tags":{"a":true,"b":true}}"#)
            }
        }
    }

    private struct Refusal: Error {}

    @Test func `where a step throws, nothing was changed and it is named`() async throws {
        let database = try Database.inMemory()
        try await Self.fill(database)
        let before = (try await Self.revisions(database), try database.summary().sequence)
        var migrator = Self.migrator(steps: 2)
        migrator.add("broken") { _ in throw Refusal() }
        let error = await #expect(throws: MigrationError.self) { try await migrator.migrate(database) }
        #expect(error?.step == "broken" && error?.error is Refusal)
        #expect(try await Self.revisions(database) == before.0)
        #expect(try database.summary().sequence == before.1)
        #expect(try await migrator.due(in: database) == ["status", "tags by name", "broken"])
    }

    @Test func `a step for each document keeps to it`() async throws {
        let database = try Database.inMemory()
        try await database.save(Document(id: "a", ["n": 1]))
        var migrator = Migrator()
        migrator.addForEach("other") { $0 = Document(id: "b", ["n": 2]) }
        let error = await #expect(throws: MigrationError.self) { try await migrator.migrate(database) }
        #expect((error?.error as? KithError)?.code == .invalid)
        #expect(try await database.document("b") == nil)
        #expect(try await migrator.due(in: database) == ["other"])
    }

    @Test func `a database of a newer version and steps out of order are refused`() async throws {
        let database = try Database.inMemory()
        try await Self.migrator(steps: 2).migrate(database)
        let newer = await #expect(throws: KithError.self) { try await Self.migrator(steps: 1).migrate(database) }
        #expect(newer?.code == .newerFile && newer?.message.contains("tags by name") == true)
        var inserted = Migrator()
        inserted.add("before") { _ in }
        for name in ["status", "tags by name"] { inserted.add(name) { _ in } }
        let order = await #expect(throws: KithError.self) { try await inserted.migrate(database) }
        #expect(order?.code == .invalid && order?.subject == "before")
        var twice = Self.migrator()
        twice.add("status") { _ in }
        let name = await #expect(throws: KithError.self) { try await twice.migrate(database) }
        #expect(name?.code == .invalid && name?.subject == "status")
        var nameless = Migrator()
        nameless.add("") { _ in }
        await #expect(throws: KithError.self) { try await nameless.migrate(database) }
    }

    /// What somebody wrote after all else counts more, however slow its clock.
    @Test func `an edit after a migration outranks it, and a migration after an edit that edit`() async throws {
        let database = try Database.inMemory()
        try await database.save(Document(id: "a", ["done": false]))
        try await Self.migrator(steps: 1).migrate(database)
        try await database.update("a") { $0["status"] = "completed" }
        #expect(try await database.document("a")?.json == #"{"status":"completed"}"#)
        #expect(try await database.document("a")?.conflicts == [])
    }
}
