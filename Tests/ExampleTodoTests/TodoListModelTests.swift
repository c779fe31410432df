import ExampleTodo
import Foundation
import Kith
import KithTesting
import Observation
import Testing

@MainActor
@Suite(.timeLimit(.minutes(1)))
struct TodoListModelTests {
    private let repository: DatabaseTodoRepository

    init() async throws {
        repository = try await DatabaseTodoRepository(Database.inMemory())
        for title in ["Milk", "Mint", "Bread"] {
            try await repository.add(
                TodoItem(id: title.lowercased(), title: title, createdAt: Date(timeIntervalSince1970: 0)))
        }
    }

    @Test func `a list follows what is written, by whomever`() async throws {
        let model = TodoListModel(repository, order: .title)
        #expect(model.isLoading && model.items.isEmpty)
        await model.wait { $0.titles == ["Bread", "Milk", "Mint"] }
        try await repository.delete("milk")
        await model.wait { $0.titles == ["Bread", "Mint"] }
        await model.toggle("mint")
        await model.wait { $0.items.last?.status == .completed }
        model.order = .newest
        await model.wait { $0.titles == ["Mint", "Bread"] }
    }

    @Test func `of searches as they are typed the last one shows`() async throws {
        let model = TodoListModel(repository, order: .title)
        for text in ["m", "mi", "min", "mint"] { model.filter.text = text }
        #expect(model.isLoading)
        await model.wait { $0.titles == ["Mint"] }
        // None of the others is awaited any more.
        try await repository.add(TodoItem(id: "x", title: "Millet", createdAt: Date(timeIntervalSince1970: 0)))
        try await repository.add(TodoItem(id: "y", title: "Mint tea", createdAt: Date(timeIntervalSince1970: 0)))
        await model.wait { $0.titles == ["Mint", "Mint tea"] }
    }

    @Test func `an item that does not decode is an error that shows, until somebody tries again`() async throws {
        let database = try Database.inMemory()
        let model = TodoListModel(try await DatabaseTodoRepository(database), order: .title)
        await model.wait { !$0.isLoading }
        try await database.save(Document(id: "bad", ["type": "todo", "title": 1]))
        await model.wait { $0.error != nil }
        #expect((model.error as? KithError)?.code == .decoding && model.items.isEmpty)
        try await database.delete("bad")
        model.retry()
        await model.wait { !$0.isLoading }
        #expect(model.error == nil)
    }

    @Test func `a model that nobody has any more follows nothing`() async throws {
        weak var gone: TodoListModel?
        do {
            let model = TodoListModel(repository)
            gone = model
            await model.wait { !$0.isLoading }
        }
        while gone != nil { await Task.yield() }
    }
}

extension TodoListModel {
    fileprivate var titles: [String] { items.map(\.title) }

    /// Waits until it is as it should be; the test's time limit ends it else. Nothing changes between the look and the
    /// tracking, since both are on the main actor.
    fileprivate func wait(_ condition: @MainActor (TodoListModel) -> Bool) async {
        while !condition(self) {
            await withCheckedContinuation { continuation in
                withObservationTracking {
                    _ = (items, isLoading, error == nil)
                } onChange: {
                    continuation.resume()
                }
            }
            // The change itself comes after it was announced.
            await Task.yield()
        }
    }
}
