/// An option of a command.
struct OptionSpec: Hashable {
    /// Without the dashes.
    let name: String
    var short: Character?
    /// What stands for its value in help texts; nil for a flag.
    var value: String?
    /// Whether it may be given more than once.
    var isRepeated = false
    /// Whether the command needs it.
    var isRequired = false
    let help: String

    /// As a person types it: `--peer HOST:PORT`, `-x`.
    var shown: String {
        let long = name.isEmpty ? nil : "--\(name)" + (value.map { " \($0)" } ?? "")
        return [short.map { "-\($0)" }, long].compactMap { $0 }.joined(separator: ", ")
    }

    /// As it stands in a usage line: `[--peer HOST:PORT]...`, `[-x]`, `--keep REV`.
    var usage: String {
        let text = (name.isEmpty ? "-\(key)" : "--\(name)") + (value.map { " \($0)" } ?? "")
        return isRequired ? text : "[\(text)]\(isRepeated ? "..." : "")"
    }

    /// The name it is asked for in the code: of a flag with a letter alone, the letter.
    var key: String { name.isEmpty ? String(short!) : name }
}

/// A command as the parser, the help texts and the completion of words know it.
struct CommandSpec {
    /// `put`, `db create`.
    let name: String
    /// Its arguments without the options: `DB ID [JSON | -]`.
    let arguments: String
    /// How many arguments there may be.
    let argumentCount: ClosedRange<Int>
    /// Few words for the list of commands.
    let summary: String
    /// Paragraphs: what it does, what it prints, when it fails.
    let text: [String]
    var options: [OptionSpec] = []
    var examples: [String] = []
    /// Does it; returns the exit status.
    let run: @Sendable (Invocation) async throws(CommandError) -> Int32

    /// The line that shows how it is called, with every option.
    var usage: String { usageParts.joined(separator: " ") }

    /// Its parts, of which none should be broken at a line's end.
    var usageParts: [String] {
        let required = options.filter(\.isRequired) + options.filter { !$0.isRequired }
        return (["kith \(name)", arguments] + required.map(\.usage)).filter { !$0.isEmpty }
    }

    /// What stands for the argument at a place: of `DB ID [JSON | -]` the places are `DB`, `ID`, `JSON | -`; empty where
    /// there is none.
    func place(_ index: Int) -> String {
        var places: [String] = []
        var depth = 0
        var part = ""
        for character in arguments + " " {
            switch character {
            case "[": depth += 1
            case "]": depth -= 1
            case " " where depth == 0:
                if !part.isEmpty { places.append(part) }
                part = ""
            default: part.append(character)
            }
        }
        if index < places.count { return places[index].replacing("...", with: "") }
        guard let last = places.last, last.hasSuffix("...") else { return "" }
        return String(last.dropLast(3))
    }
}

/// A command line as it was read.
struct Invocation {
    let command: String
    var arguments: [String] = []
    private var values: [String: [String]] = [:]

    init(command: String) { self.command = command }

    /// Whether a flag was given.
    func flag(_ name: String) -> Bool { values[name] != nil }

    /// The value of an option.
    func value(_ name: String) -> String? { values[name]?.last }

    /// The values of an option that may be repeated, in order.
    func values(_ name: String) -> [String] { values[name] ?? [] }

    mutating func add(_ name: String, _ value: String) { values[name, default: []].append(value) }
}
