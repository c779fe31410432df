import Foundation
import KithCoding
import KithDocument
import KithQuery
import KithQueryBuilder
import Testing

/// What queries of models find, by the evaluator.
@Suite struct ModelResultTests {
    private let tasks = try! ModelCollection(of: TodoItem.self, type: "todo")

    private static func item(
        _ id: String, _ title: String, due: Double?, pinned: Bool = false, tags: [String] = [], owner: String? = nil
    ) -> TodoItem {
        TodoItem(
            id: id, title: title, status: pinned ? .done : .pending, priority: title.count,
            dueDate: due.map { Date(timeIntervalSince1970: $0) }, isPinned: pinned, tags: tags,
            owner: owner.map { TodoItem.Person(name: $0) }, lines: [], createdAt: Date(timeIntervalSince1970: 0))
    }

    private let items = [
        item("a", "Save 100%", due: 2_000_000_000, tags: ["home", "x"]),
        item("b", "save 1000", due: nil, pinned: true, owner: "Ada"),
        item("c", "Milk", due: 999_999_999, tags: ["home"], owner: "Bob"),
        item("d", "it's", due: nil),
    ]

    private func rows(_ query: some BuiltQuery) throws -> [JSONValue] {
        var documents: [QueryDocument] = []
        for item in items {
            let (id, body) = try tasks.coding.document(of: item)
            documents.append(QueryDocument(DocumentMetadata(id: id, revision: "1-a", sequence: 1, edited: 0), body))
        }
        let other = try #require(try JSONValue(parsing: #"{"type":"note","status":"pending","title":"Milk"}"#).object)
        documents.append(QueryDocument(DocumentMetadata(id: "n", revision: "1-a", sequence: 1, edited: 0), other))
        let all = documents
        return try QueryEvaluator().rows(of: query.statement.checked()) { _ in all }.map(\.value.element)
    }

    private func found(_ query: ModelQuery<TodoItem>) throws -> String {
        try rows(query).map { row in
            let body = try #require(row["body"]?.object)
            return try tasks.coding.model(id: try #require(row["id"]?.string), body: body).id
        }.joined()
    }

    @Test func `Conditions find what they say`() throws {
        #expect(try found(tasks.all) == "abcd")
        #expect(try found(tasks.where(\.status == .pending)) == "acd")
        #expect(try found(tasks.where(\.id == "c")) == "c")
        #expect(try found(tasks.where(\.dueDate == nil)) == "bd")
        #expect(try found(tasks.where(\.dueDate != nil)) == "ac")
        #expect(try found(tasks.where(\.dueDate < Date(timeIntervalSince1970: 1_000_000_000))) == "c")
        #expect(try found(tasks.where(\.dueDate != Date(timeIntervalSince1970: 999_999_999))) == "a")
        #expect(try found(tasks.where { $0.title.contains("100%") }) == "a")
        #expect(try found(tasks.where { $0.title.ignoringCase.starts(with: "SAVE 1") }) == "ab")
        #expect(try found(tasks.where { $0.title == "it's" }) == "d")
        #expect(try found(tasks.where { $0.tags.contains("x") || $0.owner.name == "Bob" }) == "ac")
        #expect(try found(tasks.where { !$0.isPinned && $0.tags.any { $0.starts(with: "ho") } }) == "ac")
    }

    @Test func `Orders put what is pinned first and what has no date last`() throws {
        let query = tasks.order(\.isPinned, .descending).order(\.dueDate, nils: .last).order(\.title)
        #expect(try found(query) == "bcad")
        #expect(try found(query.limit(2).offset(1)) == "ca")
    }

    @Test func `Counts and groups`() throws {
        #expect(try rows(tasks.where(\.status == .pending).limit(1).counting) == [3])
        let groups = tasks.group { [$0.status] }.order { $0.status.rawValue }
            .select { [$0.status, Field.rowCount.named("n"), $0.priority.maximum().named("most")] }
        #expect(
            try rows(groups) == [["status": "done", "n": 1, "most": 9], ["status": "pending", "n": 3, "most": 9]])
        let tags = tasks.unnest(\.tags).group { [$1] }.order { $1 }.select {
            [$1.named("tag"), Field.rowCount.named("n")]
        }
        #expect(try rows(tags) == [["tag": "home", "n": 2], ["tag": "x", "n": 1]])
    }
}
