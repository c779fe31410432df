import Foundation
import Kith
import KithTesting
import Testing

/// The model of docs/querying.md.
struct TodoItem: Codable, Identifiable, Equatable, Sendable {
    enum Status: String, Codable, CaseIterable, Sendable { case pending, done }
    struct Person: Codable, Equatable, Sendable {
        var name: String
        var team: String?
    }

    var id: String
    var title: String
    var status = Status.pending
    var priority = 0
    var dueDate: Date?
    var isPinned = false
    var tags: [String] = []
    var owner: Person?
    var estimate: Int?
    var createdAt = Date(timeIntervalSince1970: 1_764_520_472)
}

struct CollectionTests {
    private let database: Database
    private let tasks: ModelCollection<TodoItem>

    init() throws {
        database = try Database.inMemory()
        tasks = try database.collection(of: TodoItem.self, type: "todo")
    }

    private static func day(_ number: Int) -> Date { Date(timeIntervalSince1970: Double(number) * 86_400) }

    private func fill() async throws {
        try await tasks.save([
            TodoItem(id: "a", title: "Save 100%", priority: 3, dueDate: Self.day(9), tags: ["home", "x"], estimate: 2),
            TodoItem(id: "b", title: "save 1000", status: .done, priority: 1, isPinned: true),
            TodoItem(id: "c", title: "Milk", priority: 2, dueDate: Self.day(3), tags: ["home"], estimate: 5),
            TodoItem(id: "d", title: "it's", status: .done, owner: TodoItem.Person(name: "Ada")),
        ])
        try await database.save(Document(id: "n", ["type": "note", "title": "Milk", "status": "pending"]))
    }

    @Test func `The document of a model is what saving it makes`() async throws {
        let item = TodoItem(id: "milk", title: "Milk", dueDate: Self.day(1), owner: TodoItem.Person(name: "Ada"))
        var document = try tasks.document(of: item)
        #expect(document.revision == nil && document.id == "milk" && document.string("type") == "todo")
        #expect(try await tasks.save(item).value == document.value)
        try await tasks.delete("milk")
        document.expiresAt = Date(timeIntervalSinceNow: 3_600)
        try await database.save(document)
        #expect(try await tasks.get("milk") == item)
    }

    @Test func `A model is saved, read, updated and deleted`() async throws {
        let item = TodoItem(id: "milk", title: "Milk", dueDate: Self.day(1), owner: TodoItem.Person(name: "Ada"))
        let document = try await tasks.save(item)
        #expect(document.string("type") == "todo" && document["id"] == nil)
        #expect(try await tasks.get("milk") == item)
        let updated = try await tasks.update("milk") { $0.status = .done }
        #expect(updated?.status == .done)
        #expect(try await tasks.get("milk")?.status == .done)
        #expect(try await tasks.delete("milk"))
        #expect(try await tasks.get("milk") == nil)
        #expect(try await tasks.update("milk") { $0.title = "none" } == nil)
        #expect(try await !tasks.delete("milk"))
    }

    @Test func `Queries with key paths and closures find what they say`() async throws {
        try await fill()
        func found(_ query: ModelQuery<TodoItem>) async throws -> String { try await query.fetch().map(\.id).joined() }
        #expect(try await found(tasks.where(\.status == .pending).order(\.dueDate)) == "ca")
        #expect(try await found(tasks.where { $0.title.contains("100%") }) == "a")
        #expect(
            try await found(tasks.order(\.isPinned, .descending).order(\.dueDate, nils: .last).order(\.id)) == "bcad")
        #expect(try await found(tasks.where { $0.owner.name == "Ada" || $0.tags.contains("x") }.order(\.id)) == "ad")
        #expect(try await found(tasks.order(\.title).limit(2).offset(1)) == "ad")
        #expect(try await tasks.where(\.dueDate != nil).order(\.dueDate).first()?.id == "c")
        #expect(try await tasks.where(\.id == "nobody").first() == nil)
    }

    @Test func `Counts and aggregates`() async throws {
        try await fill()
        #expect(try await tasks.count() == 4)
        #expect(try await tasks.where(\.status == .pending).limit(1).count() == 2)
        #expect(try await tasks.all.sum(\.priority) == 6)
        #expect(try await tasks.all.sum(\.estimate) == 7)
        #expect(try await tasks.where(\.id == "b").sum(\.estimate) == 0)
        #expect(try await tasks.all.average(\.priority) == 1.5)
        #expect(try await tasks.all.minimum(\.dueDate) == Self.day(3))
        #expect(try await tasks.all.maximum(\.title) == "save 1000")
        #expect(try await tasks.where(\.id == "b").maximum(\.dueDate) == nil)
        #expect(try await tasks.where(\.id == "c").value { $0.tags.collected() } == [["home"]])
    }

    private struct Group: Decodable, Equatable, Sendable {
        var status: TodoItem.Status
        var number: Int
    }

    @Test func `Rows of groups, joins and queries without a model come as values of a type`() async throws {
        try await fill()
        let groups = tasks.all.group { [$0.status] }.order { $0.status.rawValue }
            .select { [$0.status, Field.rowCount.named("number")] }
        let expected = [Group(status: .done, number: 2), Group(status: .pending, number: 2)]
        #expect(try await database.query(groups, as: Group.self) == expected)
        let sameTitle = DocumentQuery(from: "_", as: "a")
            .join("_", as: "b", on: Field("a.title") == Field("b.title") && Field("a.type") < Field("b.type"))
            .select(value: Field.metadata(.id, of: "b"))
        #expect(try await database.query(sameTitle, as: String.self) == ["c"])
        let minimum = DocumentQuery(from: "_").where(Field("priority") >= .parameter("minimum"))
            .order(Field("priority")).select(value: Field("title"))
        #expect(try await database.query(minimum, ["minimum": 2]) == ["Milk", "Save 100%"])
        let text = "SELECT status, COUNT(*) AS number FROM _ WHERE type = 'todo' GROUP BY status ORDER BY status"
        #expect(try await database.query(text, as: Group.self) == expected)
    }

    @Test func `Fields that the model does not know survive, and what did not change is not written`() async throws {
        try await tasks.save(TodoItem(id: "a", title: "Milk", tags: ["x"]))
        try await database.update("a") { document in
            document["colour"] = "red"
            document["dueDate"] = "2026-11-30"
        }
        try await tasks.update("a") { $0.title = "Bread" }
        let document = try #require(try await database.document("a"))
        #expect(document.string("colour") == "red" && document.string("title") == "Bread")
        #expect(document.string("dueDate") == "2026-11-30", "a date in another form stays as it is")
        let same = try await tasks.update("a") { $0.title = "Bread" }
        #expect(same != nil)
        #expect(try await database.document("a")?.revision == document.revision)
        try await tasks.save(TodoItem(id: "a", title: "Butter"))
        #expect(try await database.document("a")?.string("colour") == "red")
    }

    @Test func `What is no such model is an error with id and path, and is not overwritten`() async throws {
        try await database.save(Document(id: "bad", ["type": "todo", "title": 5]))
        let failures: [@Sendable () async throws -> Void] = [
            { _ = try await tasks.get("bad") }, { _ = try await tasks.all.fetch() },
            { try await tasks.save(TodoItem(id: "bad", title: "x")) }, { try await tasks.update("bad") { _ in } },
        ]
        for failure in failures {
            let error = await #expect(throws: KithError.self) { try await failure() }
            #expect(error?.code == .decoding && error?.subject == "bad")
            #expect(error?.message.contains("/title is a number, expected a string") == true, "\(error?.message ?? "")")
        }
        #expect(try await database.document("bad")?.int("title") == 5)
        // A document of another type is none of the collection's.
        try await database.save(Document(id: "n", ["type": "note"]))
        #expect(try await tasks.get("n") == nil)
        #expect(try await !tasks.delete("n"))
        let error = await #expect(throws: KithError.self) { try await tasks.save(TodoItem(id: "n", title: "x")) }
        #expect(error?.message.contains("/type is not todo") == true)
    }

    @Test func `All that a query finds is changed or deleted in one transaction, with its count`() async throws {
        try await fill()
        #expect(try await tasks.where(\.status == .pending).update { $0.priority += 10 } == 2)
        #expect(try await tasks.all.sum(\.priority) == 26)
        struct Refusal: Error {}
        await #expect(throws: Refusal.self) {
            try await tasks.all.order(\.id).update { item in
                if item.id == "c" { throw Refusal() }
                item.title = "changed"
            }
        }
        #expect(try await tasks.where(\.title == "changed").count() == 0)
        #expect(try await tasks.where(\.status == .done).delete() == 2)
        #expect(try await tasks.all.order(\.id).fetch().map(\.id) == ["a", "c"])
    }

    @Test func `A batch sees what it has written, and a snapshot is of one moment`() async throws {
        try await fill()
        let counts = try await database.write { batch in
            try batch.save(TodoItem(id: "e", title: "new"), in: tasks)
            try batch.update("a", in: tasks) { $0.status = .done }
            try batch.delete("b", in: tasks)
            return (try batch.count(tasks.all), try batch.fetch(tasks.where(\.status == .done).order(\.id)).map(\.id))
        }
        #expect(counts.0 == 4 && counts.1 == ["a", "d"])
        let (one, all) = try await database.read { (try $0.get("e", in: tasks), try $0.count(tasks.all)) }
        #expect(one?.title == "new" && all == 4)
    }

    @Test func `Explain names the index that serves a query`() async throws {
        try await fill()
        let query = tasks.where(\.status == .pending).order(\.dueDate)
        #expect(try await query.explain().contains("index: none is used"))
        try await database.createIndex(DatabaseIndex("by-status", on: "type", "status", "dueDate"))
        #expect(try await query.explain().contains("index: by-status"))
        #expect(try await query.fetch().map(\.id) == ["c", "a"])
    }

    private struct Record: Codable, Identifiable, Equatable, Sendable {
        var id: UUID
        var text: String
    }

    @Test func `Ids may be other values whose text is the document's id, and a collection may have no type`()
        async throws
    {
        let records = try database.collection(of: Record.self, type: nil)
        let record = Record(id: UUID(), text: "x")
        try await records.save(record)
        #expect(try await records.get(record.id) == record)
        #expect(try await database.document(record.id.uuidString)?.keys == ["text"])
        #expect(try await records.where(\.id == record.id).count() == 1)
    }

    private struct Figure: Codable, Identifiable, Sendable {
        enum Shape: Codable, Sendable { case circle(Double), none }
        var id: String
        var shape: Shape
    }

    @Test func `What can't be a model, and a query that can't be, say why`() async throws {
        let error = #expect(throws: KithError.self) { try database.collection(of: Figure.self, type: "figure") }
        #expect(error?.code == .invalid && error?.message.contains("/shape") == true)
        let loose = try ModelCollection(of: TodoItem.self, type: "todo")
        let homeless = await #expect(throws: KithError.self) { try await loose.all.fetch() }
        #expect(homeless?.message.contains("has no database") == true)
        let wrong = DocumentQuery(from: "_").where(RowTerm<Bool>.function("NO_SUCH", Field("a")))
        let unknown = await #expect(throws: KithError.self) { try await database.query(wrong) }
        #expect(unknown?.code == .invalid && unknown?.message.contains("NO_SUCH") == true)
        let missing = DocumentQuery(from: "_").where(Field("a") == .parameter("x"))
        let parameter = await #expect(throws: KithError.self) { try await database.query(missing) }
        #expect(parameter?.message.contains("$x") == true)
    }
}
