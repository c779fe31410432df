import Foundation

/// What somebody wants of the program, as they wrote it.
package enum TodoCommand: Hashable, Sendable {
    case list(TodoFilter, TodoOrder)
    case overdue
    case counts
    case add(title: String, details: String, TodoItem.Priority, TodoItem.Category, due: Date?, isPinned: Bool)
    /// The others name an item by the beginning of its id.
    case done(String)
    case reopen(String)
    case pin(String)
    case unpin(String)
    case delete(String)
    case clear
    case sync

    /// What can be written.
    package static let usage = """
        usage: example-todo COMMAND --data FOLDER

          list [--status STATUS] [--category CATEGORY] [--text TEXT] [--by ORDER]
          overdue, counts
          add TITLE [--details TEXT] [--priority PRIORITY] [--category CATEGORY] [--due YYYY-MM-DD] [--pinned]
          done ID, reopen ID, pin ID, unpin ID, delete ID: the beginning of an id is enough
          clear: deletes all that is done
          sync: once with the other nodes of the group that FOLDER is in

        STATUS: \(names(TodoItem.Status.self))
        PRIORITY: \(TodoItem.Priority.allCases.map { "\($0)" }.joined(separator: ", "))
        CATEGORY: \(names(TodoItem.Category.self))
        ORDER: \(names(TodoOrder.self))
        """

    private static func names<Choice: CaseIterable & RawRepresentable<String>>(_ choices: Choice.Type) -> String {
        choices.allCases.map(\.rawValue).joined(separator: ", ")
    }

    /// - Parameter words: without the program's name and `--data`.
    /// - Throws: `TodoUsageError`.
    package init(_ words: [String]) throws(TodoUsageError) {
        var words = TodoWords(words)
        switch try words.next("a command") {
        case "list":
            let filter = TodoFilter(
                status: try words.choice("--status"), category: try words.choice("--category"),
                text: try words.value(of: "--text") ?? "")
            self = .list(filter, try words.choice("--by") ?? .dueDate)
        case "overdue": self = .overdue
        case "counts": self = .counts
        case "add":
            let priority = try words.choice("--priority", of: TodoItem.Priority.allCases) { "\($0)" } ?? .medium
            let category: TodoItem.Category = try words.choice("--category") ?? .personal
            let (details, due) = (try words.value(of: "--details") ?? "", try words.day("--due"))
            let isPinned = words.flag("--pinned")
            self = .add(
                title: try words.next("a title"), details: details, priority, category, due: due, isPinned: isPinned)
        case "done": self = .done(try words.next("an id"))
        case "reopen": self = .reopen(try words.next("an id"))
        case "pin": self = .pin(try words.next("an id"))
        case "unpin": self = .unpin(try words.next("an id"))
        case "delete": self = .delete(try words.next("an id"))
        case "clear": self = .clear
        case "sync": self = .sync
        case let other: throw TodoUsageError("\(other) is no command")
        }
        try words.end()
    }
}

/// What was written is nothing that the program can do.
package struct TodoUsageError: Error, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}

/// The words of a command, of which each is taken once.
struct TodoWords {
    private var words: [String]

    init(_ words: [String]) { self.words = words }

    mutating func next(_ what: String) throws(TodoUsageError) -> String {
        guard let word = words.first, !word.hasPrefix("--") else { throw TodoUsageError("\(what) is missing") }
        words.removeFirst()
        return word
    }

    mutating func flag(_ name: String) -> Bool {
        guard let place = words.firstIndex(of: name) else { return false }
        words.remove(at: place)
        return true
    }

    mutating func value(of option: String) throws(TodoUsageError) -> String? {
        guard let place = words.firstIndex(of: option) else { return nil }
        guard place + 1 < words.count else { throw TodoUsageError("\(option) wants a value") }
        defer { words.removeSubrange(place...place + 1) }
        return words[place + 1]
    }

    mutating func choice<Choice>(
        _ option: String, of all: [Choice], by name: (Choice) -> String
    ) throws(TodoUsageError) -> Choice? {
        guard let value = try value(of: option) else { return nil }
        if let choice = all.first(where: { name($0) == value }) { return choice }
        throw TodoUsageError("\(option) is one of \(all.map(name).joined(separator: ", ")), and not \(value)")
    }

    mutating func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ option: String
    ) throws(TodoUsageError) -> Choice? { try choice(option, of: Array(Choice.allCases)) { $0.rawValue } }

    /// A day in UTC, as the last moment of it.
    mutating func day(_ option: String) throws(TodoUsageError) -> Date? {
        guard let text = try value(of: option) else { return nil }
        let style = Date.ISO8601FormatStyle().year().month().day()
        guard let day = try? style.parse(text) else { throw TodoUsageError("\(option) is a day such as 2026-12-31") }
        return day.addingTimeInterval(86_399.999)
    }

    func end() throws(TodoUsageError) {
        if let word = words.first { throw TodoUsageError("\(word) is one word too many") }
    }
}
