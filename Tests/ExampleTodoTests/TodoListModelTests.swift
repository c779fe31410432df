import ExampleTodo
import Foundation
import Kith
import KithTestSupport
import KithTesting
import Testing

@MainActor
@Suite(.timeLimit(.minutes(5)))
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
        #expect(await model.comes { $0.titles == ["Bread", "Milk", "Mint"] })
        try await repository.delete("milk")
        #expect(await model.comes { $0.titles == ["Bread", "Mint"] })
        await model.toggle("mint")
        #expect(await model.comes { $0.items.last?.status == .completed })
        model.order = .newest
        #expect(await model.comes { $0.titles == ["Mint", "Bread"] })
    }

    @Test func `of searches as they are typed the last one shows`() async throws {
        let model = TodoListModel(repository, order: .title)
        for text in ["m", "mi", "min", "mint"] { model.filter.text = text }
        #expect(model.isLoading)
        #expect(await model.comes { $0.titles == ["Mint"] })
        // None of the others comes in any more, however much is written that they would have.
        for number in 1...10 {
            for title in ["Mint \(number)", "Millet \(number)"] {
                try await repository.add(TodoItem(title: title, createdAt: Date(timeIntervalSince1970: 0)))
            }
            #expect(await model.comes { $0.items.count == 1 + number })
            #expect(try await repository.items(TodoFilter(text: "mi"), by: .title).count == 2 + 2 * number)
            #expect(model.titles.allSatisfy { $0.hasPrefix("Mint") })
        }
    }

    @Test func `an item that does not decode is an error that shows, until somebody tries again`() async throws {
        let database = try Database.inMemory()
        let model = TodoListModel(try await DatabaseTodoRepository(database), order: .title)
        #expect(await model.comes { !$0.isLoading })
        try await database.save(Document(id: "bad", ["type": "todo", "title": 1]))
        #expect(await model.comes { $0.error != nil })
        #expect((model.error as? KithError)?.code == .decoding && model.items.isEmpty)
        try await database.delete("bad")
        model.retry()
        #expect(await model.comes { !$0.isLoading })
        #expect(model.error == nil)
    }

    @Test func `a model that nobody has any more follows nothing`() async throws {
        weak var gone: TodoListModel?
        do {
            let model = TodoListModel(repository)
            gone = model
            #expect(await model.comes { !$0.isLoading })
        }
        let deadline = Deadline(seconds: 30)
        while gone != nil, deadline.remaining > 0 { await Task.yield() }
        #expect(gone == nil)
    }
}

extension TodoListModel {
    fileprivate var titles: [String] { items.map(\.title) }

    /// Waits until it is as it should be.
    fileprivate func comes(to condition: @escaping @Sendable @MainActor (TodoListModel) -> Bool) async -> Bool {
        await eventually { @Sendable in await condition(self) }
    }
}
