import Foundation
import Kith
import KithTesting
import Testing

struct QueryingTests {
    private func todos() async throws -> Database {
        let database = try Database.inMemory()
        try await database.write { batch in
            for number in 0..<20 {
                try batch.save(
                    Document(
                        id: "t\(number)",
                        [
                            "type": "todo", "title": .string("item \(number)"), "rank": .int(number),
                            "tags": ["a", .int(number % 3)],
                        ]))
            }
            try batch.save(Document(id: "n", ["type": "note", "title": "else"]))
        }
        return database
    }

    @Test func `rows are objects of their columns, or values`() async throws {
        let database = try await todos()
        let rows = try await database.query(
            "SELECT META().id, title, none FROM _ WHERE type = $type AND rank < $most ORDER BY rank DESC",
            ["type": "todo", "most": 2])
        #expect(rows.map(\.json) == [#"{"id":"t1","title":"item 1"}"#, #"{"id":"t0","title":"item 0"}"#])
        #expect(try await database.query("SELECT RAW COUNT(*) FROM _ WHERE type = 'todo'") == [20])
        #expect(try await database.query("SELECT RAW title FROM _ WHERE type = $t", ["t": "' OR 1=1 --"]).isEmpty)
    }

    @Test func `a batch sees what it has written, and others do not`() async throws {
        let database = try await todos()
        let count = try await database.write { batch in
            try batch.delete("t0")
            try batch.save(Document(id: "t99", ["type": "todo"]))
            try batch.save(Document(id: "t98", ["type": "todo"]))
            return try batch.query("SELECT RAW COUNT(*) FROM _ WHERE type = 'todo'")
        }
        #expect(count == [21])
    }

    @Test func `what is wrong is told with its place`() async throws {
        let database = try await todos()
        for (text, says) in [
            ("SELECT FROM _", "line 1"), ("SELECT title FROM _ WHERE rank > $least", "$least"),
            ("SELECT nosuch(title) FROM _", "NOSUCH"),
        ] {
            let error = await #expect(throws: KithError.self) { _ = try await database.query(text) }
            #expect(error?.code == .invalid && error?.message.contains(says) == true, "\(error?.message ?? "none")")
        }
    }

    @Test func `an index is used, listed and dropped`() async throws {
        let database = try await todos()
        let text = "SELECT RAW title FROM _ WHERE rank = 7"
        let before = try await database.query(text)
        #expect(try await database.explain(text).contains("index: none is used"))
        let index = try DatabaseIndex("by-rank", on: "rank", where: nil)
        try await database.createIndex(index)
        try await database.createIndex(index)
        #expect(try await database.explain(text).contains("index: by-rank"))
        try await database.save(Document(id: "t7b", ["type": "todo", "title": "another", "rank": 7]))
        #expect(try await database.query(text).count == before.count + 1)
        #expect(try await database.indexes().map(\.index) == [index])
        try await database.dropIndex("by-rank")
        #expect(try await database.indexes().isEmpty)
        let error = await #expect(throws: KithError.self) { try await database.dropIndex("by-rank") }
        #expect(error?.code == .notFound)
        #expect(throws: KithError.self) { try DatabaseIndex("x", on: "rank +") }
    }

    @Test func `elements of arrays are indexed`() async throws {
        let database = try await todos()
        let text = "SELECT RAW META().id FROM _ WHERE ANY tag IN tags SATISFIES tag = 2 END ORDER BY rank"
        let before = try await database.query(text)
        try await database.createIndex(DatabaseIndex("tags", onElementsOf: "tags"))
        #expect(before.count == 6)
        #expect(try await database.query(text) == before)
        #expect(try await database.explain(text).contains("index: tags"))
    }

    @Test func `words are found, ranked and shown`() async throws {
        let database = try Database.inMemory()
        try await database.save(Document(id: "a", ["title": "Shopping", "text": "今天去买鸡蛋 and milk"]))
        try await database.createIndex(DatabaseIndex("words", fullTextOf: "title", "text", language: .english))
        try await database.save(Document(id: "b", ["title": "Milk", "text": "Milk, shops"]))
        let query = "SELECT RAW META().id FROM _ WHERE MATCH(words, $words) ORDER BY RANK(words) DESC"
        #expect(try await database.query(query, ["words": "milk"]) == ["b", "a"])
        #expect(try await database.query(query, ["words": "鸡蛋"]) == ["a"])
        #expect(try await database.query(query, ["words": "shop"]).count == 2)
        let shown = "SELECT RAW HIGHLIGHT(words, text, '[', ']') FROM _ WHERE MATCH(words, '鸡蛋')"
        #expect(try await database.query(shown) == ["今天去买[鸡蛋] and milk"])
        #expect(try await database.indexes().map(\.index.name) == ["words"])
        let error = await #expect(throws: KithError.self) {
            _ = try await database.query(query, ["words": "milk AND"])
        }
        #expect(error?.code == .invalid && error?.message.contains("line 1, column 48: at character 9") == true)
        try await database.dropIndex("words")
    }
}
