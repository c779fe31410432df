import ExampleTodo
import Foundation
import Kith
import KithTestSupport
import KithTesting
import Synchronization
import Testing

/// A clock that stands still until a test moves it.
final class TestClock: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 1_796_000_000))

    var now: Date { time.withLock { $0 } }

    func advance(by seconds: Double) { time.withLock { $0 += seconds } }
}

/// What holds for every repository: each test runs with both.
struct TodoRepositoryTests {
    enum Kind: CaseIterable { case database, memory }

    private let clock = TestClock()

    private func repository(_ kind: Kind) async throws -> any TodoRepository {
        let clock = clock
        switch kind {
        case .database: return try await DatabaseTodoRepository(Database.inMemory(), now: { clock.now })
        case .memory: return MemoryTodoRepository(now: { clock.now })
        }
    }

    private func days(_ count: Double) -> Date { clock.now + count * 86_400 }

    private func ids(
        _ repository: any TodoRepository, _ filter: TodoFilter = TodoFilter(), by order: TodoOrder = .dueDate
    ) async throws -> String { try await repository.items(filter, by: order).map(\.id).joined(separator: " ") }

    @Test(arguments: Kind.allCases)
    func `an item is added, read, changed and deleted`(kind: Kind) async throws {
        let repository = try await repository(kind)
        var item = TodoItem(
            id: "a", title: "Milk", details: "two litres", priority: .high, category: .shopping, dueDate: days(1),
            isPinned: true, createdAt: clock.now)
        try await repository.add(item)
        #expect(try await repository.item("a") == item)

        clock.advance(by: 60)
        item.title = "Oat milk"
        let changed = try await repository.update("a") { $0.title = "Oat milk" }
        #expect(changed?.title == "Oat milk" && changed?.createdAt == item.createdAt && changed?.updatedAt == clock.now)
        #expect(try await repository.item("a") == changed)

        // What changes nothing is no change.
        clock.advance(by: 60)
        #expect(try await repository.update("a") { $0.title = "Oat milk" } == changed)

        #expect(try await repository.delete("a"))
        #expect(try await !repository.delete("a"))
        #expect(try await repository.item("a") == nil)
        #expect(try await repository.update("a") { $0.title = "x" } == nil)
        #expect(try await repository.toggle("a") == nil)
    }

    @Test(arguments: Kind.allCases)
    func `toggling completes and reopens, with the time`(kind: Kind) async throws {
        let repository = try await repository(kind)
        try await repository.add(TodoItem(id: "a", title: "Milk", createdAt: clock.now))
        let made = clock.now
        clock.advance(by: 60)
        let done = try #require(try await repository.toggle("a"))
        #expect(done.status == .completed && done.completedAt == clock.now && done.updatedAt == clock.now)
        #expect(done.createdAt == made)
        clock.advance(by: 60)
        let reopened = try #require(try await repository.toggle("a"))
        #expect(reopened.status == .pending && reopened.completedAt == nil && reopened.updatedAt == clock.now)
        #expect(try await repository.item("a") == reopened)
    }

    /// Each differs from the others in what some order goes by; ids fall where dates rise.
    private func fill(_ repository: any TodoRepository) async throws {
        let start = clock.now
        let rows: [(String, String, TodoItem.Priority, Date?, Bool)] = [
            ("f", "banana", .low, start + 300, false), ("e", "Apple", .high, nil, false),
            ("d", "cherry", .medium, start + 100, false), ("c", "Date", .low, nil, true),
            ("b", "apricot", .high, start + 200, true), ("a", "Elder", .medium, nil, false),
        ]
        for (id, title, priority, due, isPinned) in rows {
            try await repository.add(
                TodoItem(
                    id: id, title: title, priority: priority, dueDate: due, isPinned: isPinned, createdAt: clock.now))
            clock.advance(by: 1)
        }
        try await repository.update("e") { $0.details = "red" }
        clock.advance(by: 1)
    }

    @Test(
        arguments: Kind.allCases,
        [
            (TodoOrder.dueDate, "b c d f a e"), (.priority, "b c e d a f"), (.newest, "b c a d e f"),
            (.changed, "b c e a d f"), (.title, "b c e f d a"),
        ])
    func `pinned items come first in every order, and without a due date last`(
        kind: Kind, expected: (order: TodoOrder, ids: String)
    ) async throws {
        let repository = try await repository(kind)
        try await fill(repository)
        #expect(try await ids(repository, by: expected.order) == expected.ids)
        #expect(TodoOrder.allCases.count == 5)
    }

    @Test(arguments: Kind.allCases)
    func `filters go together, and a text is meant as it was typed`(kind: Kind) async throws {
        let repository = try await repository(kind)
        let rows: [(String, String, String, TodoItem.Category)] = [
            ("a", "100% sure", "", .work), ("b", "1000 things", "ask for 100%", .personal),
            ("c", "snake_case", "", .work),
            ("d", "snakeXcase", "", .work), ("e", "back\\slash", "", .other),
        ]
        for (id, title, details, category) in rows {
            try await repository.add(
                TodoItem(id: id, title: title, details: details, category: category, createdAt: clock.now))
        }
        try await repository.toggle("c")
        #expect(try await ids(repository, TodoFilter(text: "100%")) == "a b")
        #expect(try await ids(repository, TodoFilter(text: "%")) == "a b")
        #expect(try await ids(repository, TodoFilter(text: "e_c")) == "c")
        #expect(try await ids(repository, TodoFilter(text: "k\\s")) == "e")
        #expect(try await ids(repository, TodoFilter(text: "SNAKE")) == "c d")
        #expect(try await ids(repository, TodoFilter(category: .work)) == "a c d")
        #expect(try await ids(repository, TodoFilter(status: .completed)) == "c")
        #expect(try await ids(repository, TodoFilter(status: .pending, category: .work, text: "snake")) == "d")
        #expect(try await ids(repository, TodoFilter(status: .completed, category: .work, text: "100%")) == "")
    }

    @Test(arguments: Kind.allCases)
    func `counts, what is overdue, and all that is done deleted with its count`(kind: Kind) async throws {
        let repository = try await repository(kind)
        #expect(try await repository.counts() == TodoCounts(all: 0, pending: 0, completed: 0, overdue: 0))
        for (id, due) in [("a", days(2)), ("b", days(1)), ("c", nil), ("d", days(1)), ("e", days(9))] {
            try await repository.add(TodoItem(id: id, title: id, dueDate: due, createdAt: clock.now))
        }
        try await repository.toggle("d")
        #expect(try await repository.overdue() == [])
        clock.advance(by: 3 * 86_400)
        #expect(try await repository.overdue().map(\.id) == ["b", "a"])
        #expect(try await repository.counts() == TodoCounts(all: 5, pending: 4, completed: 1, overdue: 2))
        try await repository.toggle("a")
        #expect(try await repository.deleteCompleted() == 2)
        #expect(try await repository.deleteCompleted() == 0)
        #expect(try await repository.counts() == TodoCounts(all: 3, pending: 3, completed: 0, overdue: 1))
    }

    @Test(.timeLimit(.minutes(5)), arguments: Kind.allCases)
    func `a list is told when it is another, and only then`(kind: Kind) async throws {
        let repository = try await repository(kind)
        var lists = repository.lists(TodoFilter(text: "milk"), by: .title).makeAsyncIterator()
        #expect(try await lists.next() == [])
        try await repository.add(TodoItem(id: "x", title: "Bread", createdAt: clock.now))
        try await repository.add(TodoItem(id: "a", title: "Milk", createdAt: clock.now))
        #expect(try await lists.next()?.map(\.id) == ["a"])
        try await repository.delete("x")
        try await repository.toggle("a")
        #expect(try await lists.next()?.map(\.status) == [.completed])
    }

    @Test(arguments: Kind.allCases)
    func `every order of random items is that of a plain sort`(kind: Kind) async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let repository = try await repository(kind)
        var all: [TodoItem] = []
        for number in 0..<40 {
            let item = TodoItem(
                id: "i\(number)", title: ["Milk", "bread", "Tea", "apple"].randomElement(using: &random)!,
                priority: TodoItem.Priority.allCases.randomElement(using: &random)!,
                dueDate: [nil, days(1), days(2)].randomElement(using: &random)!,
                isPinned: Bool.random(using: &random), createdAt: clock.now)
            try await repository.add(item)
            clock.advance(by: Double(Int.random(in: 0...1, using: &random)))
            all.append(item)
        }
        func key(_ item: TodoItem, _ order: TodoOrder) -> String {
            switch order {
            case .dueDate: item.dueDate.map { "\($0.timeIntervalSince1970)" } ?? "~"
            case .priority: "\(item.priority.rawValue)"
            case .newest: "\(item.createdAt.timeIntervalSince1970)"
            case .changed: "\(item.updatedAt.timeIntervalSince1970)"
            case .title: item.title.lowercased()
            }
        }
        for order in TodoOrder.allCases {
            let isRising = order == .dueDate || order == .title
            let expected = all.sorted { one, other in
                if one.isPinned != other.isPinned { return one.isPinned }
                let (left, right) = ((key(one, order), one.id), (key(other, order), other.id))
                return isRising ? left < right : left > right
            }
            #expect(try await repository.items(TodoFilter(), by: order) == expected, "seed \(seed), \(order)")
        }
    }
}
