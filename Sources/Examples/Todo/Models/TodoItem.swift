import Foundation
import Kith

/// Something to do. In the database it is a document of the type `todo`; docs/example-todo.md says why its fields are as they are.
package struct TodoItem: Codable, Identifiable, Hashable, Sendable {
    /// Whether it is done.
    package enum Status: String, Codable, CaseIterable, Sendable { case pending, completed }

    /// How much it matters. Kept as a number, so that the database can order by it.
    package enum Priority: Int, Codable, CaseIterable, Sendable, QueryOrdered { case low = 1, medium, high }

    /// Where it belongs.
    package enum Category: String, Codable, CaseIterable, Sendable { case personal, work, shopping, other }

    /// Made once, and never the same on two nodes.
    package let id: String
    /// What is to be done, in a line.
    package var title: String
    /// Whatever else there is to say of it.
    package var details: String
    /// How much it matters.
    package var priority: Priority
    /// Where it belongs.
    package var category: Category
    /// When it has to be done; nil for any time.
    package var dueDate: Date?
    /// Whether it stands before all that are not.
    package var isPinned: Bool
    /// Whether it is done. Changed with `completedAt` alone: the two make one statement.
    package private(set) var status: Status
    /// When it was done; nil while it is not.
    package private(set) var completedAt: Date?
    /// When it was made; it never changes.
    package let createdAt: Date
    /// When it was last changed.
    package internal(set) var updatedAt: Date

    /// A new one, which is to be done.
    package init(
        id: String = UUID().uuidString.lowercased(), title: String, details: String = "", priority: Priority = .medium,
        category: Category = .personal, dueDate: Date? = nil, isPinned: Bool = false, createdAt: Date
    ) {
        self.id = id
        self.title = title
        self.details = details
        self.priority = priority
        self.category = category
        self.dueDate = dueDate
        self.isPinned = isPinned
        status = .pending
        completedAt = nil
        self.createdAt = createdAt
        updatedAt = createdAt
    }

    /// It was done, then; of one that was done already the date is corrected.
    package mutating func complete(at time: Date) {
        status = .completed
        completedAt = time
    }

    /// It is to be done again.
    package mutating func reopen() {
        status = .pending
        completedAt = nil
    }

    /// Whether it should have been done by a time, and is not.
    package func isOverdue(at time: Date) -> Bool {
        guard status == .pending, let dueDate else { return false }
        return dueDate < time
    }
}
