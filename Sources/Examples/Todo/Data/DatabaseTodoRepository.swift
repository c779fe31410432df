import Foundation
import Kith

/// The items of a database: typed queries over the documents of the type `todo`.
package struct DatabaseTodoRepository: TodoRepository {
    private let database: Database
    private let items: ModelCollection<TodoItem>
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - database: its documents are brought to the present version, and its indexes are made.
    ///   - now: the clock, for what is noted and for what is overdue.
    /// - Throws: `MigrationError` and `KithError`; `newerFile` where a newer version of this program was there.
    package init(_ database: Database, now: @escaping @Sendable () -> Date = { Date() }) async throws {
        try await TodoSchema.prepare(database)
        self.database = database
        items = try database.collection(of: TodoItem.self, type: TodoSchema.type)
        self.now = now
    }

    // MARK: Reading

    package func item(_ id: String) async throws -> TodoItem? { try await items.get(id) }

    package func items(_ filter: TodoFilter, by order: TodoOrder) async throws -> [TodoItem] {
        try await query(filter, by: order).fetch()
    }

    package func lists(_ filter: TodoFilter, by order: TodoOrder) -> AsyncThrowingStream<[TodoItem], any Error> {
        let query = query(filter, by: order)
        return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                do {
                    for try await result in try query.live() { continuation.yield(result.rows) }
                    continuation.finish()
                } catch { continuation.finish(throwing: error) }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    package func counts() async throws -> TodoCounts {
        let (items, overdueItems) = (items, overdueItems)
        // One reading, so that the numbers fit together.
        return try await database.read { snapshot in
            TodoCounts(
                all: try snapshot.count(items.all),
                pending: try snapshot.count(items.where(\.status == .pending)),
                completed: try snapshot.count(items.where(\.status == .completed)),
                overdue: try snapshot.count(overdueItems))
        }
    }

    package func overdue() async throws -> [TodoItem] {
        try await overdueItems.order(\.dueDate).order(\.id).fetch()
    }

    private var overdueItems: ModelQuery<TodoItem> {
        items.where(\.status == .pending).where(\.dueDate < now())
    }

    /// How a list is asked for, for tests and for the curious: it says which index serves it.
    package func explain(_ filter: TodoFilter, by order: TodoOrder) async throws -> [String] {
        try await query(filter, by: order).explain()
    }

    private func query(_ filter: TodoFilter, by order: TodoOrder) -> ModelQuery<TodoItem> {
        var query = items.all
        if let status = filter.status { query = query.where(\.status == status) }
        if let category = filter.category { query = query.where(\.category == category) }
        if !filter.text.isEmpty {
            query = query.where {
                $0.title.ignoringCase.contains(filter.text) || $0.details.ignoringCase.contains(filter.text)
            }
        }
        return ordered(query, by: order)
    }

    /// Each order is that of one index of `TodoSchema`, from its beginning or from its end: so all its terms go one way, and where
    /// others ascend, pinned items come first as those that are not unpinned.
    private func ordered(_ query: ModelQuery<TodoItem>, by order: TodoOrder) -> ModelQuery<TodoItem> {
        switch order {
        case .dueDate:
            query.order { !$0.isPinned }.order { $0.dueDate.isNotValued }.order(\.dueDate).order(\.id)
        case .title: query.order { !$0.isPinned }.order { $0.title.ignoringCase }.order(\.id)
        case .priority:
            query.order(\.isPinned, .descending).order(\.priority, .descending).order(\.id, .descending)
        case .newest: query.order(\.isPinned, .descending).order(\.createdAt, .descending).order(\.id, .descending)
        case .changed: query.order(\.isPinned, .descending).order(\.updatedAt, .descending).order(\.id, .descending)
        }
    }

    // MARK: Writing

    package func add(_ item: TodoItem) async throws { try await items.save(item) }

    @discardableResult
    package func update(_ id: String, _ change: @escaping @Sendable (inout TodoItem) -> Void) async throws -> TodoItem?
    {
        let time = now()
        return try await items.update(id) { $0 = $0.changed(at: time, change) }
    }

    @discardableResult
    package func toggle(_ id: String) async throws -> TodoItem? {
        let time = now()
        return try await items.update(id) { $0 = $0.toggled(at: time) }
    }

    @discardableResult
    package func delete(_ id: String) async throws -> Bool { try await items.delete(id) }

    @discardableResult
    package func deleteCompleted() async throws -> Int { try await items.where(\.status == .completed).delete() }
}
