import KithDocument
import KithNode

/// Reads command lines: `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`, flags, arguments anywhere between, and
/// after `--` arguments alone. A single `-` is an argument.
struct ArgumentParser {
    let commands: [CommandSpec]

    enum Request {
        case run(CommandSpec, Invocation)
        /// `--help`, with what stood before it: a command, the beginning of one (`db`), or nothing.
        case help(String)
        case version
        /// Nothing was asked.
        case nothing
    }

    /// - Parameter words: without the program's own name.
    /// - Throws: `CommandError` with exit status 64: what is wrong and what was perhaps meant.
    func parse(_ words: [String]) throws(CommandError) -> Request {
        guard let first = words.first else { return .nothing }
        switch first {
        case "--version", "-V": return .version
        case "--help", "-h": return .help("")
        case "help" where words.count == 1: return .help("")
        case "help" where !words[1].hasPrefix("-"): return .help(words.dropFirst().joined(separator: " "))
        case "help": return .help("")
        default: break
        }
        if first.hasPrefix("-") {
            throw .usage("unknown option \(Shown.name(first)): a command comes first; kith --help lists them")
        }
        let (command, rest) = try find(words)
        guard let command else { return .help(first) }
        return try parse(command, rest)
    }

    /// The command that the first words name; nil where help is wanted for the beginning of a name.
    private func find(_ words: [String]) throws(CommandError) -> (CommandSpec?, ArraySlice<String>) {
        if let command = commands.first(where: { $0.name == words[0] }) { return (command, words.dropFirst()) }
        let group = commands.filter { $0.name.hasPrefix(words[0] + " ") }
        guard let one = group.first else {
            let known = commands.map { String($0.name.split(separator: " ")[0]) }
            throw .usage(
                "there is no command \(Shown.name(words[0]))\(didYouMean(words[0], known, "")); kith --help lists them")
        }
        let seconds = group.map { String($0.name.dropFirst(words[0].count + 1)) }
        guard words.count > 1 else {
            throw .usage(
                "kith \(words[0]) needs one of: \(seconds.joined(separator: ", ")); for example: kith \(one.name)")
        }
        if ["--help", "-h"].contains(words[1]) { return (nil, []) }
        guard let command = group.first(where: { $0.name == "\(words[0]) \(words[1])" }) else {
            let hint = didYouMean(words[1], seconds, "")
            throw .usage(
                "kith \(words[0]) has no command \(Shown.name(words[1]))\(hint); it has \(seconds.joined(separator: ", "))"
            )
        }
        return (command, words.dropFirst(2))
    }

    private func parse(_ command: CommandSpec, _ words: ArraySlice<String>) throws(CommandError) -> Request {
        var invocation = Invocation(command: command.name)
        var rest = words
        while let word = rest.popFirst() {
            if word == "--" {
                invocation.arguments += rest
                break
            }
            if word == "--help" || word == "-h" { return .help(command.name) }
            if word.hasPrefix("--") {
                try takeLong(word, &rest, command, &invocation)
            } else if word.hasPrefix("-"), word.utf8.count > 1 {
                try takeShort(word, &rest, command, &invocation)
            } else {
                invocation.arguments.append(word)
            }
        }
        let count = invocation.arguments.count
        if count < command.argumentCount.lowerBound {
            throw .usage("\(shown(command)) needs more arguments: \(usage(command)); see kith \(command.name) --help")
        }
        if count > command.argumentCount.upperBound {
            let extra = Shown.name(invocation.arguments[command.argumentCount.upperBound])
            throw .usage("\(shown(command)): one argument too many, \(extra); usage: \(usage(command))")
        }
        for (index, argument) in invocation.arguments.enumerated() where argument.isEmpty {
            // An empty variable of a script must not mean all peers.
            let place = command.place(index)
            if ["NODE", "CHECK", "CODE"].contains(place) {
                throw .usage("\(shown(command)): \(place) is empty; see kith \(command.name) --help")
            }
        }
        for option in command.options where option.isRequired && !invocation.flag(option.key) {
            throw .usage("\(shown(command)) needs \(option.usage): \(option.help)")
        }
        return .run(command, invocation)
    }

    private func takeLong(
        _ word: String, _ rest: inout ArraySlice<String>, _ command: CommandSpec, _ invocation: inout Invocation
    ) throws(CommandError) {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard !name.isEmpty, let option = command.options.first(where: { $0.name == name }) else {
            let hint = didYouMean(name, command.options.map(\.name), "--")
            throw .usage(
                "\(shown(command)) has no option \(Shown.name("--" + name))\(hint); see kith \(command.name) --help")
        }
        if option.value == nil {
            if parts.count == 2 { throw .usage("\(shown(command)): --\(name) takes no value") }
            try add(option, "", command, &invocation)
        } else if parts.count == 2 {
            try add(option, String(parts[1]), command, &invocation)
        } else {
            guard let value = rest.popFirst() else { throw missingValue(option, command) }
            try add(option, value, command, &invocation)
        }
    }

    private func takeShort(
        _ word: String, _ rest: inout ArraySlice<String>, _ command: CommandSpec, _ invocation: inout Invocation
    ) throws(CommandError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = command.options.first(where: { $0.short == letter }) else {
                throw .usage(
                    "\(shown(command)) has no option \(Shown.name("-\(letter)")); see kith \(command.name) --help")
            }
            guard option.value != nil else {
                try add(option, "", command, &invocation)
                continue
            }
            if !letters.isEmpty {
                try add(option, String(letters), command, &invocation)
            } else if let value = rest.popFirst() {
                try add(option, value, command, &invocation)
            } else {
                throw missingValue(option, command)
            }
            return
        }
    }

    private func add(
        _ option: OptionSpec, _ value: String, _ command: CommandSpec, _ invocation: inout Invocation
    ) throws(CommandError) {
        if option.value != nil, value.isEmpty { throw missingValue(option, command) }
        if option.value != nil, !option.isRepeated, invocation.flag(option.key) {
            throw .usage("\(shown(command)): --\(option.name) is given twice")
        }
        invocation.add(option.key, value)
    }

    private func missingValue(_ option: OptionSpec, _ command: CommandSpec) -> CommandError {
        .usage("\(shown(command)): --\(option.name) needs a value: \(option.shown)")
    }

    private func shown(_ command: CommandSpec) -> String { "kith \(command.name)" }

    private func usage(_ command: CommandSpec) -> String {
        command.arguments.isEmpty ? shown(command) : "\(shown(command)) \(command.arguments)"
    }

    private func didYouMean(_ word: String, _ known: [String], _ prefix: String) -> String {
        Suggestion.nearest(to: word, among: known).map { "; did you mean \(prefix)\($0)?" } ?? ""
    }
}
