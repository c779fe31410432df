import KithNode

/// What may follow the words of a command line, from the tables of commands and help alone.
struct Completer {
    /// One thing that may follow.
    enum Candidate: Hashable {
        /// A word, and what it means.
        case word(String, String)
        /// A file or a folder, which the shell knows.
        case file
        case folder
        /// What the running node has, after that many letters of the word.
        case database(prefix: String)
        case peer(prefix: String)
    }

    var commands = CommandTable.commands
    var topics = HelpTopic.all

    /// - Parameter words: those after the program's name; the last is the one to be completed, empty where nothing of it
    ///   was typed.
    func candidates(_ words: [String]) -> [Candidate] {
        guard let current = words.last else { return [] }
        let before = words.dropLast()
        guard let first = before.first else { return matching(firstWords, current) }
        if first == "help" { return before.count == 1 ? matching(firstWords + topicWords, current) : [] }
        if let command = commands.first(where: { $0.name == first }) {
            return candidates(command, Array(before.dropFirst()), current)
        }
        let group = commands.filter { $0.name.hasPrefix(first + " ") }
        if before.count == 1 {
            return matching(group.map { .word(String($0.name.dropFirst(first.count + 1)), $0.summary) }, current)
        }
        guard let command = group.first(where: { $0.name == before.prefix(2).joined(separator: " ") }) else {
            return []
        }
        return candidates(command, Array(before.dropFirst(2)), current)
    }

    /// The first words of all commands, each once.
    private var firstWords: [Candidate] {
        var seen: Set<String> = []
        var words: [Candidate] = []
        for command in commands {
            let parts = command.name.split(separator: " ")
            let word = String(parts[0])
            if seen.insert(word).inserted { words.append(.word(word, parts.count == 1 ? command.summary : "")) }
        }
        return words + [.word("help", "what a command does"), .word("--help", ""), .word("--version", "")]
    }

    private var topicWords: [Candidate] {
        topics.map { .word($0.name, $0.summary) } + HealthCode.allCases.map { .word($0.rawValue, "health check") }
    }

    private func matching(_ candidates: [Candidate], _ current: String) -> [Candidate] {
        candidates.filter { candidate in
            guard case .word(let word, _) = candidate else { return true }
            return word.hasPrefix(current)
        }
    }

    private func candidates(_ command: CommandSpec, _ before: [String], _ current: String) -> [Candidate] {
        var given: Set<String> = []
        var arguments = 0
        var awaited: OptionSpec?
        var isRaw = false
        for word in before {
            if awaited != nil {
                awaited = nil
            } else if isRaw || !word.hasPrefix("-") || word == "-" {
                arguments += 1
            } else if word == "--" {
                isRaw = true
            } else if let option = option(word, of: command) {
                given.insert(option.key)
                if option.value != nil, !word.contains("=") { awaited = option }
            }
        }
        if let awaited { return matching(values(awaited.value ?? "", "", current), current) }
        if !isRaw, current.hasPrefix("--"), let equals = current.firstIndex(of: "="),
            let option = option(String(current[..<equals]), of: command), let value = option.value
        {
            return matching(values(value, String(current[...equals]), current), current)
        }
        if !isRaw, current.hasPrefix("-") {
            let open = command.options.filter { $0.isRepeated || !given.contains($0.key) }
            let words = open.map { Candidate.word($0.name.isEmpty ? "-\($0.key)" : "--\($0.name)", $0.help) }
            return matching(words + [.word("--help", "")], current)
        }
        return matching(values(command.place(arguments), "", current), current)
    }

    private func option(_ word: String, of command: CommandSpec) -> OptionSpec? {
        let name = word.prefix { $0 != "=" }
        return command.options.first { option in
            name.hasPrefix("--")
                ? option.name == name.dropFirst(2) : option.short != nil && name.dropFirst().first == option.short
        }
    }

    /// What may stand for a placeholder of the tables.
    private func values(_ placeholder: String, _ prefix: String, _ current: String) -> [Candidate] {
        switch placeholder {
        case "FILE": [.file]
        case "DIR": [.folder]
        case "DB": [.database(prefix: prefix)]
        case "NODE": [.peer(prefix: prefix)]
        case "ROLE": ["admin", "writer", "reader"].map { .word(prefix + $0, "") }
        case "WHEN": ["auto", "always", "never"].map { .word(prefix + $0, "") }
        case "CHECK": HealthCode.allCases.map { .word(prefix + $0.rawValue, "health check") }
        case "LEVEL|AREA=LEVEL":
            Log.Level.allCases.map { .word(prefix + $0.rawValue, "all areas") }
                + Log.Area.allCases.flatMap { area -> [Candidate] in
                    let start = "\(prefix)\(area.rawValue)="
                    // The levels of an area once it stands there.
                    guard current.hasPrefix(start) else { return [.word(start, "one area")] }
                    return Log.Level.allCases.map { .word(start + $0.rawValue, "of \(area.rawValue)") }
                }
        case _ where placeholder.contains("|") && placeholder == placeholder.lowercased() && !placeholder.contains(" "):
            placeholder.split(separator: "|").map { .word(prefix + $0, "") }
        default: []
        }
    }
}
