/// An option of a command.
struct OptionSpec: Hashable {
    /// Without the dashes.
    let name: String
    var short: Character?
    /// What stands for its value in help texts; nil for a flag.
    var value: String?
    /// Whether it may be given more than once.
    var isRepeated = false
    let help: String

    /// As a person types it: `--peer HOST:PORT`, `-x`.
    var shown: String {
        let long = name.isEmpty ? nil : "--\(name)" + (value.map { " \($0)" } ?? "")
        return [short.map { "-\($0)" }, long].compactMap { $0 }.joined(separator: ", ")
    }

    /// The name it is asked for in the code: of a flag with a letter alone, the letter.
    var key: String { name.isEmpty ? String(short!) : name }
}

/// A command as the parser, the help texts and the completion of words know it.
struct CommandSpec {
    /// `put`, `db create`.
    let name: String
    /// Its arguments as they stand in the usage line: `DB ID [JSON | -]`.
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
