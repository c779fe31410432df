import Foundation

/// Which items are wanted: those for which all of it is true.
package struct TodoFilter: Hashable, Sendable {
    /// With this status; nil for any.
    package var status: TodoItem.Status?
    /// Of this category; nil for any.
    package var category: TodoItem.Category?
    /// With this in the title or the details, in whatever case: as it was typed, `%` and `_` too. Empty for any.
    package var text: String

    /// All items, but for what is named.
    package init(status: TodoItem.Status? = nil, category: TodoItem.Category? = nil, text: String = "") {
        self.status = status
        self.category = category
        self.text = text
    }
}

/// The orders of a list. In each of them pinned items come first, and items that are equal otherwise come by their ids.
package enum TodoOrder: String, CaseIterable, Sendable {
    /// The earliest first; without a due date last.
    case dueDate = "due"
    /// The highest first.
    case priority
    /// What was made last first.
    case newest
    /// What was changed last first.
    case changed
    /// From A to Z, in whatever case.
    case title
}

/// How many items there are, all at one moment.
package struct TodoCounts: Hashable, Sendable {
    /// All of them.
    package var all: Int
    /// Those to be done.
    package var pending: Int
    /// Those that are done.
    package var completed: Int
    /// Those to be done whose due date is over.
    package var overdue: Int

    /// All four.
    package init(all: Int, pending: Int, completed: Int, overdue: Int) {
        self.all = all
        self.pending = pending
        self.completed = completed
        self.overdue = overdue
    }
}
