import KithDocument
import KithNode

/// The help texts, made from the tables. No line is longer than 80 characters unless a word or an example is.
enum HelpText {
    private static let width = 79
    /// A blank at which no line is broken.
    private static let joint = "\u{A0}"

    /// What the program is and which commands it has.
    static func overview() -> [String] {
        var lines = [
            "usage: kith COMMAND [ARGUMENT]...", "",
            "A document database that machines of a local network share, without a server.",
        ]
        for section in CommandTable.sections {
            lines += ["", "\(section.title):"]
            lines += list(section.commands.map { ($0.name, $0.summary) })
        }
        lines += ["", "topics (kith help TOPIC):"]
        lines += list(HelpTopic.general.map { ($0.name, $0.summary) })
        lines += ["", "health checks (kith help CODE):"]
        lines += Display.wrap(HelpTopic.checks.map(\.name).joined(separator: ", "), to: width - 2).map { "  \($0)" }
        return lines + ["", "kith COMMAND --help tells more of a command, kith --version the version."]
    }

    /// The page of a command, of the commands that begin with a word (`db`), or of a topic; nil where there is none.
    static func page(_ name: String) -> [String]? {
        if name.isEmpty { return overview() }
        let wanted = name.split(separator: " ").joined(separator: " ")
        let commands = CommandTable.commands.filter { $0.name == wanted || $0.name.hasPrefix(wanted + " ") }
        let topic = HelpTopic.all.first { $0.name == wanted.lowercased().replacing("_", with: "-") }
        if commands.isEmpty, topic == nil { return nil }
        var pages = commands.map { page($0) }
        // A command may share its name with a topic: a health check is called like the command that shows it.
        if let topic { pages.append(page(topic)) }
        return Array(pages.joined(separator: [""]))
    }

    /// What to say where there is no such page.
    static func unknown(_ name: String) -> CommandError {
        let known = CommandTable.commands.map(\.name) + HelpTopic.all.map(\.name)
        let hint = Suggestion.nearest(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
        return .usage("there is no help on \(Shown.name(name))\(hint); kith help lists commands and topics")
    }

    private static func page(_ command: CommandSpec) -> [String] {
        var lines = ["kith \(command.name): \(command.summary)", ""]
        let usage = command.usageParts.map { $0.replacing(" ", with: Self.joint) }.joined(separator: " ")
        lines += indented(usage, first: "usage: ", rest: "         ").map { $0.replacing(Self.joint, with: " ") }
        for paragraph in command.text { lines += [""] + Display.wrap(paragraph, to: width) }
        lines += ["", "options:"]
        lines += list(command.options.map { ($0.shown, $0.help) } + [("-h, --help", "print this")])
        if !command.examples.isEmpty { lines += ["", "examples:"] + command.examples.map { "  \($0)" } }
        return lines
    }

    private static func page(_ topic: HelpTopic) -> [String] {
        var lines = ["\(topic.name): \(topic.summary)", ""]
        for paragraph in topic.text {
            // The rest of an item stands below its text, not below its number.
            let mark = paragraph.prefix { $0.isNumber || $0 == "." || $0 == "-" }
            let isItem = !mark.isEmpty && paragraph.dropFirst(mark.count).first == " "
            lines += indented(paragraph, first: "", rest: isItem ? String(repeating: " ", count: mark.count + 1) : "")
        }
        return lines
    }

    /// Names and what they mean in two columns.
    private static func list(_ entries: [(String, String)]) -> [String] {
        let column = min(26, entries.map { $0.0.count }.max() ?? 0)
        return entries.flatMap { name, text -> [String] in
            let first = "  " + Display.pad(name, to: column) + "  "
            let rest = String(repeating: " ", count: column + 4)
            if name.count > column { return ["  \(name)"] + indented(text, first: rest, rest: rest) }
            return indented(text, first: first, rest: rest)
        }
    }

    private static func indented(_ text: String, first: String, rest: String) -> [String] {
        Display.wrap(text, to: width - rest.count).enumerated().map { ($0 == 0 ? first : rest) + $1 }
    }
}
