import Foundation

/// The model of docs/querying.md.
struct TodoItem: Codable, Identifiable, Sendable {
    enum Status: String, Codable, CaseIterable { case pending, done }
    struct Person: Codable, Equatable {
        var name: String
        var team: String?
    }
    struct Line: Codable, Equatable {
        var text: String
        var price: Double
        var notes: [String]
    }

    var id: String
    var title: String
    var status: Status
    var priority: Int
    var dueDate: Date?
    var isPinned: Bool
    var tags: [String]
    var owner: Person?
    var lines: [Line]
    var ownerID: String?
    var createdAt: Date

    var isOverdue: Bool { dueDate != nil }

    private enum CodingKeys: String, CodingKey {
        case id, title, status, priority, isPinned, tags, owner, lines, ownerID, createdAt
        case dueDate = "due"
    }
}

struct Person: Codable, Identifiable, Sendable {
    var id: String
    var name: String
    var team: String
}
