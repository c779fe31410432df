import Foundation

/// Where the items are. What shows them knows this protocol alone: `DatabaseTodoRepository` keeps them, `MemoryTodoRepository` is
/// for previews and tests of views.
package protocol TodoRepository: Sendable {
    /// An item; nil where there is none of that id.
    func item(_ id: String) async throws -> TodoItem?

    /// The items that are wanted, in an order.
    func items(_ filter: TodoFilter, by order: TodoOrder) async throws -> [TodoItem]

    /// The same now, and again whenever it is another, whoever changed it. It ends with the task that reads it.
    func lists(_ filter: TodoFilter, by order: TodoOrder) -> AsyncThrowingStream<[TodoItem], any Error>

    /// How many there are.
    func counts() async throws -> TodoCounts

    /// The items to be done whose due date is over, the earliest first.
    func overdue() async throws -> [TodoItem]

    /// Adds an item. Where there is one of its id it is replaced.
    func add(_ item: TodoItem) async throws

    /// Changes an item, and notes the time. Nothing is written where nothing was changed.
    /// - Returns: the item as it is now; nil where there is none of that id.
    @discardableResult
    func update(_ id: String, _ change: @escaping @Sendable (inout TodoItem) -> Void) async throws -> TodoItem?

    /// Completes an item that is to be done, and reopens one that is done.
    /// - Returns: the item as it is now; nil where there is none of that id.
    @discardableResult
    func toggle(_ id: String) async throws -> TodoItem?

    /// Deletes an item.
    /// - Returns: false where there is none of that id.
    @discardableResult
    func delete(_ id: String) async throws -> Bool

    /// Deletes all items that are done.
    /// - Returns: how many there were.
    @discardableResult
    func deleteCompleted() async throws -> Int
}

extension TodoItem {
    /// Changed, with the time of the change; as it was where nothing was changed.
    func changed(at time: Date, _ change: (inout TodoItem) -> Void) -> TodoItem {
        var item = self
        change(&item)
        if item != self { item.updatedAt = time }
        return item
    }

    /// With the other status, at a time.
    func toggled(at time: Date) -> TodoItem {
        changed(at: time) { item in
            if item.status == .completed { item.reopen() } else { item.complete(at: time) }
        }
    }
}
