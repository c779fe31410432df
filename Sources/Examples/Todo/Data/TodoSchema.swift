import Foundation
import Kith

/// What the database of the items needs: the steps from earlier versions of the program, the indexes, and the policy by which
/// the edits of several nodes become one.
package enum TodoSchema {
    /// The name of the database, the same on all nodes.
    package static let database = "todo"
    /// What the member `type` of an item's document is.
    package static let type = "todo"

    /// A status and its date are one statement: of two nodes that change them at once one shows, whole. All else merges field by field.
    package static let policy: JSONValue = ["default": "latest", "together": [["/status", "/completedAt"]]]

    /// Brings the documents to the present version and makes the indexes that are not there. To be called at each start.
    package static func prepare(_ database: Database) async throws {
        try await migrator().migrate(database)
        for index in try indexes() { try await database.createIndex(index) }
    }

    /// Says the policy for the group of a node, where its admins have not. A node that is no admin leaves it to one that is.
    package static func setPolicy(on node: LocalNode) async throws {
        do { try await node.setPolicy(policy, of: database) } catch let error where error.code == .forbidden {}
    }

    /// The steps up to a version. What was shipped stays as it is; a new version adds one at the end.
    ///
    /// | version | an item has |
    /// |---|---|
    /// | 1 | `text`, `done`, `due`, `createdAt` |
    /// | 2 | `title`, `details`, `status`, `completedAt`, `dueDate`; what was done before has no date |
    /// | 3 | `priority`, `category`, `isPinned`, `updatedAt` besides |
    package static func migrator(version: Int = 3) -> Migrator {
        var migrator = Migrator()
        if version >= 2 {
            migrator.addForEach("2: status") { item in
                guard item.string("type") == type, let text = item["text"] else { return }
                item["title"] = text
                item["details"] = ""
                item["status"] = item.bool("done") == true ? "completed" : "pending"
                item["dueDate"] = item["due"]
                for field in ["text", "done", "due"] { item[field] = nil }
            }
        }
        if version >= 3 {
            migrator.addForEach("3: priority, category, pinned") { item in
                guard item.string("type") == type, item["priority"] == nil else { return }
                item["priority"] = .int(TodoItem.Priority.medium.rawValue)
                item["category"] = .string(TodoItem.Category.personal.rawValue)
                item["isPinned"] = false
                // Not the time of the step: on another node it is another.
                item["updatedAt"] = item["completedAt"] ?? item["createdAt"]
            }
        }
        return migrator
    }

    /// One for each order, and one for what asks of the status: counts, what is overdue, and what is done.
    static func indexes() throws(KithError) -> [DatabaseIndex] {
        [
            try DatabaseIndex(
                "todo-due", on: "type", "NOT isPinned", "dueDate IS NOT VALUED", "dueDate", "META().id"),
            try DatabaseIndex("todo-priority", on: "type", "isPinned", "priority", "META().id"),
            try DatabaseIndex("todo-newest", on: "type", "isPinned", "createdAt", "META().id"),
            try DatabaseIndex("todo-changed", on: "type", "isPinned", "updatedAt", "META().id"),
            try DatabaseIndex("todo-title", on: "type", "NOT isPinned", "title COLLATE NOCASE", "META().id"),
            try DatabaseIndex("todo-status", on: "type", "status", "dueDate", "META().id"),
        ]
    }
}
