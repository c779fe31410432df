import Foundation

/// A model of every usual kind of field, with coding keys of its own.
struct TodoItem: Codable, Identifiable, Sendable, Equatable {
    enum Status: String, Codable, CaseIterable { case pending, done }
    struct Person: Codable, Equatable {
        var name: String
        var team: String?
    }
    struct Line: Codable, Equatable {
        var text: String
        var note: String?
        var isDone = false
    }

    var id: String
    var title: String
    var status: Status = .pending
    var priority = 0
    var dueDate: Date?
    var isPinned = false
    var isHidden = false
    var tags: [String] = []
    var owner: Person?
    var lines: [Line] = []
    var counts: [String: Int] = [:]
    var labels: Set<String> = []
    var site: URL?
    var key: UUID?

    var isOverdue: Bool { status == .pending && dueDate != nil }
    var heading: String { title }

    private enum CodingKeys: String, CodingKey {
        case id, title, status, priority, isHidden, tags, owner, lines, counts, labels, site, key
        case dueDate = "due/date"
        case isPinned = "pinned"
    }
}

/// What no value can be made up of.
struct Figure: Codable, Identifiable, Sendable, Equatable {
    enum Form: Codable, Equatable {
        case circle(radius: Double)
        case square(side: Double)
    }
    enum Colour: String, Codable { case red, blue }

    var id: String
    var form: Form
    var colour: Colour
    var border: Colour
}
