import ExampleTodo
import Foundation
import Kith
import KithTesting
import Testing

/// What holds for the database alone: indexes, what does not decode, and migrations.
struct TodoDatabaseTests {
    private let database: Database

    init() throws { database = try Database.inMemory("todo") }

    @Test(arguments: TodoOrder.allCases)
    func `every order is that of an index, and nothing is sorted`(order: TodoOrder) async throws {
        let repository = try await DatabaseTodoRepository(database)
        let lines = try await repository.explain(TodoFilter(), by: order)
        #expect(lines.contains("index: todo-\(order.rawValue)"), "\(lines)")
        #expect(!lines.contains { $0.contains("TEMP B-TREE") }, "\(lines)")
        let filtered = try await repository.explain(TodoFilter(category: .work, text: "x"), by: order)
        #expect(filtered.contains("index: todo-\(order.rawValue)"), "\(filtered)")
        #expect(!filtered.contains { $0.contains("TEMP B-TREE") }, "\(filtered)")
    }

    @Test func `counts and what is overdue have an index`() async throws {
        _ = try await DatabaseTodoRepository(database)
        for condition in ["status = 'completed'", "status = 'pending' AND dueDate < '2026-12-01T00:00:00.000Z'"] {
            let lines = try await database.explain("SELECT COUNT(*) FROM _ WHERE type = 'todo' AND \(condition)")
            #expect(lines.contains("index: todo-status"), "\(lines)")
        }
    }

    @Test func `a status that nobody knows is an error with id and path, and is not overwritten`() async throws {
        let repository = try await DatabaseTodoRepository(database)
        try await repository.add(TodoItem(id: "a", title: "Milk", createdAt: Date(timeIntervalSince1970: 0)))
        try await database.update("a") { $0["status"] = "postponed" }
        for attempt in [
            { _ = try await repository.item("a") }, { _ = try await repository.items(TodoFilter(), by: .title) },
            { _ = try await repository.toggle("a") },
        ] as [() async throws -> Void] {
            let error = await #expect(throws: KithError.self) { try await attempt() }
            #expect(error?.code == .decoding && error?.message.contains("document a") == true)
            #expect(error?.message.contains("/status") == true, "\(error?.message ?? "")")
        }
        #expect(try await database.document("a")?.string("status") == "postponed")
    }

    @Test func `fields of a newer version survive a change`() async throws {
        let repository = try await DatabaseTodoRepository(database)
        try await repository.add(TodoItem(id: "a", title: "Milk", createdAt: Date(timeIntervalSince1970: 0)))
        try await database.update("a") { $0["colour"] = "red" }
        try await repository.toggle("a")
        #expect(try await database.document("a")?.string("colour") == "red")
    }

    // MARK: Migrations

    private static let made = "2026-11-30T07:15:00.000Z"

    /// What each version left in a database: an item to be done and one that is done, and a document of another kind.
    private func fill(asVersion version: Int) async throws {
        try await database.save(Document(id: "list", ["type": "list", "text": "not an item"]))
        try await database.save(
            Document(
                id: "a",
                [
                    "type": "todo", "text": "Milk", "done": false, "due": .string(Self.made),
                    "createdAt": .string(Self.made),
                ]))
        try await database.save(
            Document(id: "b", ["type": "todo", "text": "Bread", "done": true, "createdAt": .string(Self.made)]))
        try await TodoSchema.migrator(version: version).migrate(database)
    }

    @Test(arguments: 1...3) func `a database of every version ends as the newest has it`(version: Int) async throws {
        try await fill(asVersion: version)
        #expect(try await TodoSchema.migrator().due(in: database).count == 3 - version)
        let repository = try await DatabaseTodoRepository(database)
        #expect(try await TodoSchema.migrator().due(in: database).isEmpty)
        let time = try #require(JSONValue.string(Self.made).date)
        #expect(
            try await repository.item("a") == TodoItem(id: "a", title: "Milk", dueDate: time, createdAt: time))
        let done = try #require(try await repository.item("b"))
        #expect(done.status == .completed && done.completedAt == nil && done.updatedAt == time)
        #expect(try await repository.items(TodoFilter(), by: .title).map(\.id) == ["b", "a"])
        #expect(
            try await database.document("a")?.keys == [
                "category", "createdAt", "details", "dueDate", "isPinned", "priority", "status", "title", "type",
                "updatedAt",
            ])
        #expect(try await database.document("list")?.value == ["type": "list", "text": "not an item"])
    }

    @Test func `items of the second version keep what was chosen in it`() async throws {
        try await fill(asVersion: 2)
        try await database.update("b") { $0["completedAt"] = "2026-12-01T08:00:00.000Z" }
        try await database.update("a") { $0["details"] = "two litres" }
        let repository = try await DatabaseTodoRepository(database)
        let done = try #require(try await repository.item("b"))
        #expect(done.completedAt == JSONValue("2026-12-01T08:00:00.000Z").date && done.updatedAt == done.completedAt)
        #expect(try await repository.item("a")?.details == "two litres")
    }

    @Test func `an older version refuses what a newer one has migrated`() async throws {
        try await fill(asVersion: 3)
        let error = await #expect(throws: KithError.self) {
            try await TodoSchema.migrator(version: 2).migrate(database)
        }
        #expect(error?.code == .newerFile)
    }
}
