import KithNode

/// The manual pages kith(1) and kith.conf(5), made from the tables, in the language of man.
enum ManualPage {
    static func command() -> [String] {
        var page = Roff("KITH", 1)
        page.section("NAME")
        page.text("kith - a document database that machines of a local network share, without a server")
        page.section("SYNOPSIS")
        page.raw(".B kith")
        page.raw(".I COMMAND")
        page.text("[ARGUMENT]...")
        page.section("DESCRIPTION")
        page.paragraph(
            "Every machine runs a node. Nodes find each other by DNS-SD, connect directly over TLS, and end with the same "
                + "documents. Any node may be off at any time, and every node takes writes always.")
        page.paragraph("kith start runs a node; the other commands talk to it over a socket in its directory.")
        for section in CommandTable.sections {
            page.section("COMMANDS: \(section.title.uppercased())")
            for command in section.commands { page.add(command) }
        }
        for topic in HelpTopic.all where !HealthCode.allCases.map(\.topic).contains(topic.name) {
            page.section(topic.name.uppercased().replacing("-", with: " "))
            for paragraph in topic.text { page.paragraph(paragraph) }
        }
        page.section("HEALTH CHECKS")
        page.paragraph("kith status names what is wrong by these codes; kith help CODE tells more of one.")
        page.paragraph(HealthCode.allCases.map(\.rawValue).joined(separator: ", "))
        page.section("SEE ALSO")
        page.text("kith.conf(5), avahi-daemon(8)")
        return page.lines
    }

    static func configuration() -> [String] {
        var page = Roff("KITH.CONF", 5)
        page.section("NAME")
        page.text("kith.conf - the configuration of a Kith node")
        page.section("SYNOPSIS")
        page.text("/etc/kith/kith.conf, /etc/kith/conf.d/*.conf, ~/.config/kith/kith.conf")
        page.section("DESCRIPTION")
        page.paragraph(
            "A line sets one key: key = value. White space around both does not count. Empty lines and lines that begin "
                + "with # are comments; a comment stands on a line of its own. The file is UTF-8 with Unix line ends, of at "
                + "most \(NodeLimits.configurationBytes >> 10) KiB. An unknown key is a warning, and an error with kith "
                + "start --strict; a wrong value is an error. kith config --check names each with its line.")
        let topic = HelpTopic.all.first { $0.name == "configuration" }
        for paragraph in (topic?.text ?? []).prefix(2) { page.paragraph(paragraph) }
        page.section("KEYS")
        for key in ConfigurationKey.allCases {
            page.entry("\(key.name) = \(key.value)")
            for (index, paragraph) in key.text.enumerated() {
                if index > 0 { page.raw(".IP") }
                page.text(paragraph)
            }
            page.raw(".IP")
            var facts = "Option --\(key.name), variable \(key.variable)."
            if key.isRepeated {
                facts += " May be given more than once; in the variable, values stand apart by blanks."
            }
            if let standard = key.standard { facts += " Default: \(standard)." }
            facts += key.changesLive ? " A running node takes it over with kith reload." : " Needs a restart."
            page.text(facts)
        }
        page.section("EXAMPLE")
        page.example([
            "# /etc/kith/kith.conf", "data = /var/lib/kith", "peer = 192.168.1.7", "peer = attic.example:5484",
        ])
        page.section("SEE ALSO")
        page.text("kith(1)")
        return page.lines
    }
}

/// Lines of the man macros.
private struct Roff {
    private(set) var lines: [String]

    init(_ title: String, _ section: Int) {
        lines = [
            ".\\\" Made from the program's own tables.",
            ".TH \(title) \(section) \"\" \"Kith \(KithVersion.text)\" \"Kith\"", ".nh", ".ad l",
            // Paragraphs switch it on again, and the name of a check is found only unparted.
            ".nr HY 0",
        ]
    }

    mutating func raw(_ line: String) { lines.append(line) }

    mutating func section(_ title: String) { lines.append(".SH \(Self.escaped(title))") }

    mutating func text(_ text: String) { lines.append(Self.escaped(text)) }

    mutating func paragraph(_ text: String) {
        lines.append(".PP")
        self.text(text)
    }

    /// A term; what follows tells of it.
    mutating func entry(_ term: String) {
        lines.append(".TP")
        lines.append(".B \(Self.escaped(term))")
    }

    mutating func example(_ text: [String]) {
        lines.append(".PP")
        lines.append(".EX")
        for line in text { lines.append(Self.escaped(line)) }
        lines.append(".EE")
    }

    mutating func add(_ command: CommandSpec) {
        lines.append(".SS \(Self.escaped(command.usage))")
        for (index, paragraph) in command.text.enumerated() {
            if index > 0 { lines.append(".PP") }
            text(paragraph)
        }
        for option in command.options {
            entry(option.shown)
            text(option.help)
        }
        if !command.examples.isEmpty { example(command.examples) }
    }

    /// Text that the macros take as it is: no escape, no request at its beginning, hyphens that can be copied.
    private static func escaped(_ text: String) -> String {
        var line = ""
        for character in text {
            switch character {
            case "\\": line += "\\e"
            case "-": line += "\\-"
            case "'": line += "\\(aq"
            case "`": line += "\\(ga"
            case "^": line += "\\(ha"
            case "~": line += "\\(ti"
            case "\"": line += "\\(dq"
            default: line.append(character)
            }
        }
        return line.hasPrefix(".") ? "\\&" + line : line
    }
}
