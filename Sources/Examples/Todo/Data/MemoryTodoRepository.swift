import Foundation

/// Items in memory, that go with it: what a view is shown and tested with.
package actor MemoryTodoRepository: TodoRepository {
    private struct Reader {
        let filter: TodoFilter
        let order: TodoOrder
        var last: [TodoItem]
        let continuation: AsyncThrowingStream<[TodoItem], any Error>.Continuation
    }

    private var items: [String: TodoItem] = [:]
    private var readers: [UUID: Reader] = [:]
    private let now: @Sendable () -> Date

    /// - Parameter now: the clock, for what is noted and for what is overdue.
    package init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    // MARK: Reading

    package func item(_ id: String) -> TodoItem? { items[id] }

    package func items(_ filter: TodoFilter, by order: TodoOrder) -> [TodoItem] {
        items.values.filter { filter.includes($0) }.sorted { order.places($0, before: $1) }
    }

    package nonisolated func lists(
        _ filter: TodoFilter, by order: TodoOrder
    ) -> AsyncThrowingStream<[TodoItem], any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = UUID()
            continuation.onTermination = { _ in Task { await self.forget(id) } }
            Task { await self.follow(id, filter, order, continuation) }
        }
    }

    package func counts() -> TodoCounts {
        let completed = items.values.count { $0.status == .completed }
        return TodoCounts(
            all: items.count, pending: items.count - completed, completed: completed, overdue: overdue().count)
    }

    package func overdue() -> [TodoItem] {
        let time = now()
        return items.values.filter { $0.isOverdue(at: time) }
            .sorted { ($0.dueDate ?? time, $0.id) < ($1.dueDate ?? time, $1.id) }
    }

    // MARK: Writing

    package func add(_ item: TodoItem) { put(item, at: item.id) }

    @discardableResult
    package func update(_ id: String, _ change: @escaping @Sendable (inout TodoItem) -> Void) -> TodoItem? {
        put(items[id]?.changed(at: now(), change), at: id)
    }

    @discardableResult
    package func toggle(_ id: String) -> TodoItem? { put(items[id]?.toggled(at: now()), at: id) }

    @discardableResult
    package func delete(_ id: String) -> Bool {
        defer { put(nil, at: id) }
        return items[id] != nil
    }

    @discardableResult
    package func deleteCompleted() -> Int {
        let completed = items.values.filter { $0.status == .completed }
        for item in completed { put(nil, at: item.id) }
        return completed.count
    }

    @discardableResult
    private func put(_ item: TodoItem?, at id: String) -> TodoItem? {
        items[id] = item
        for id in readers.keys { tell(id) }
        return item
    }

    // MARK: Readers

    private func follow(
        _ id: UUID, _ filter: TodoFilter, _ order: TodoOrder,
        _ continuation: AsyncThrowingStream<[TodoItem], any Error>.Continuation
    ) {
        let list = items(filter, by: order)
        readers[id] = Reader(filter: filter, order: order, last: list, continuation: continuation)
        if case .terminated = continuation.yield(list) { forget(id) }
    }

    private func tell(_ id: UUID) {
        guard let reader = readers[id] else { return }
        let list = items(reader.filter, by: reader.order)
        guard list != reader.last else { return }
        readers[id]?.last = list
        reader.continuation.yield(list)
    }

    private func forget(_ id: UUID) { readers[id] = nil }
}

extension TodoFilter {
    /// Whether an item is wanted.
    func includes(_ item: TodoItem) -> Bool {
        if let status, item.status != status { return false }
        if let category, item.category != category { return false }
        let text = text.lowercased()
        return text.isEmpty || item.title.lowercased().contains(text) || item.details.lowercased().contains(text)
    }
}

extension TodoOrder {
    /// Whether an item stands before another.
    func places(_ one: TodoItem, before other: TodoItem) -> Bool {
        if one.isPinned != other.isPinned { return one.isPinned }
        switch self {
        case .dueDate:
            let never = Date.distantFuture
            return (one.dueDate ?? never, one.id) < (other.dueDate ?? never, other.id)
        case .priority: return (one.priority.rawValue, one.id) > (other.priority.rawValue, other.id)
        case .newest: return (one.createdAt, one.id) > (other.createdAt, other.id)
        case .changed: return (one.updatedAt, one.id) > (other.updatedAt, other.id)
        case .title: return (one.title.lowercased(), one.id) < (other.title.lowercased(), other.id)
        }
    }
}
