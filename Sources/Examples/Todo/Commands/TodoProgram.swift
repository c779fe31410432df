import Foundation
import Kith

/// The program `example-todo`: what a command does, and what it prints.
package struct TodoProgram: Sendable {
    private let now: @Sendable () -> Date
    private let print: @Sendable (String) -> Void

    /// - Parameters:
    ///   - now: the clock.
    ///   - print: takes a line of the output.
    package init(
        now: @escaping @Sendable () -> Date = { Date() }, print: @escaping @Sendable (String) -> Void
    ) {
        self.now = now
        self.print = print
    }

    /// Runs a command.
    /// - Parameter arguments: without the program's name.
    /// - Throws: `TodoUsageError` for what can't be run; what the database gives.
    package func run(_ arguments: [String]) async throws {
        var words = arguments
        guard let place = words.firstIndex(of: "--data"), place + 1 < words.count else {
            throw TodoUsageError("--data FOLDER is missing")
        }
        let folder = URL(fileURLWithPath: words[place + 1])
        words.removeSubrange(place...place + 1)
        let command = try TodoCommand(words)

        if command == .sync { return try await synchronise(folder) }
        let database = try Database(TodoSchema.database, in: folder)
        defer { database.close() }
        try await run(command, DatabaseTodoRepository(database, now: now))
    }

    private func run(_ command: TodoCommand, _ repository: DatabaseTodoRepository) async throws {
        switch command {
        case .list(let filter, let order): show(try await repository.items(filter, by: order))
        case .overdue: show(try await repository.overdue())
        case .counts:
            let counts = try await repository.counts()
            print("\(counts.pending) to be done (\(counts.overdue) overdue), \(counts.completed) done")
        case .add(let title, let details, let priority, let category, let due, let isPinned):
            let item = TodoItem(
                title: title, details: details, priority: priority, category: category, dueDate: due,
                isPinned: isPinned, createdAt: now())
            try await repository.add(item)
            show([item])
        case .done(let id):
            let time = now()
            try await change(id, repository) { $0.complete(at: time) }
        case .reopen(let id): try await change(id, repository) { $0.reopen() }
        case .pin(let id): try await change(id, repository) { $0.isPinned = true }
        case .unpin(let id): try await change(id, repository) { $0.isPinned = false }
        case .delete(let id):
            let item = try await find(id, repository)
            try await repository.delete(item.id)
            print("deleted: \(item.title)")
        case .clear: print("deleted: \(try await repository.deleteCompleted())")
        case .sync: break
        }
    }

    private func change(
        _ id: String, _ repository: DatabaseTodoRepository, _ change: @escaping @Sendable (inout TodoItem) -> Void
    ) async throws {
        let item = try await repository.update(find(id, repository).id, change)
        show([item].compactMap { $0 })
    }

    /// The item whose id begins so.
    private func find(_ id: String, _ repository: DatabaseTodoRepository) async throws -> TodoItem {
        let found = try await repository.items(TodoFilter(), by: .newest).filter { $0.id.hasPrefix(id) }
        guard let item = found.first, found.count == 1 else {
            throw TodoUsageError("\(found.count) items have an id that begins with \(id): see list")
        }
        return item
    }

    private func show(_ items: [TodoItem]) {
        for item in items {
            let mark = item.status == .completed ? "x" : " "
            var notes = ["\(item.priority)", item.category.rawValue]
            if item.isPinned { notes.insert("pinned", at: 0) }
            if let due = item.dueDate { notes.append("due \(due.formatted(.iso8601.year().month().day()))") }
            if item.isOverdue(at: now()) { notes.append("overdue") }
            print("[\(mark)] \(item.id.prefix(8))  \(item.title)  (\(notes.joined(separator: ", ")))")
        }
    }

    /// Once with the other nodes that can be reached. The folder is a node of a group by `kith init` or `kith join`.
    private func synchronise(_ folder: URL) async throws {
        let node = try LocalNode(in: folder)
        do {
            try await node.start()
            let database = try await node.database(TodoSchema.database)
            try await TodoSchema.prepare(database)
            try await TodoSchema.setPolicy(on: node)
            _ = await node.waitUntilInSync(timeout: .seconds(10))
            let report = try await node.sync(TodoSchema.database)
            if report.peers.isEmpty { print("no other node was reached") }
            for peer in report.peers { print("\(peer.name ?? peer.id): \(peer.reason ?? peer.outcome.rawValue)") }
        } catch {
            await node.stop()
            throw error
        }
        await node.stop()
    }
}
