import KithNode

/// A page of help that is no command.
struct HelpTopic {
    let name: String
    let summary: String
    let text: [String]

    static let all = general + checks

    /// The pages of the health checks.
    static let checks = HealthCode.allCases.map(HelpTopic.init)

    static let general = [
        HelpTopic(
            name: "directory", summary: "where a node keeps its things",
            text: [
                "The node's directory is that of --data DIR, else of $KITH_DATA, else of data in the configuration file, "
                    + "else $XDG_DATA_HOME/kith, else ~/.local/share/kith. A relative $XDG_DATA_HOME is ignored.",
                "Where the machine's node runs as a service, its directory is the one that /etc/kith/kith.conf names. Root "
                    + "talks to that node without naming it, as does whoever has no directory of their own.",
                "It holds the databases, the node's key and certificate, and kith.sock, at which the running node is talked "
                    + "to. Where the path of that socket would be over 103 bytes it is in $XDG_RUNTIME_DIR/kith instead.",
                "On which machine a directory is used is told by /etc/machine-id, or by the file that $KITH_MACHINE_ID_FILE "
                    + "names; see kith help machine-changed.",
            ]),
        HelpTopic(
            name: "configuration", summary: "the file, the variables and the options that configure a node",
            text: [
                "Each key can be set by an option of kith start, by a variable, or in a file; an option holds before a "
                    + "variable, a variable before a file. kith config shows what holds and where it comes from.",
                "The file is that of --config FILE, else of $KITH_CONFIG, else ~/.config/kith/kith.conf "
                    + "($XDG_CONFIG_HOME), else /etc/kith/kith.conf, after which the files of /etc/kith/conf.d with names in "
                    + ".conf are read. /etc/kith/kith.conf configures the node whose directory it names and no other: it "
                    + "does not count for a user who has a directory of their own, nor where --data or $KITH_DATA names "
                    + "another. For root it comes before root's own file.",
                "A line is: key = value. Lines that begin with # are comments. Keys, their variables, and what holds "
                    + "without them:",
            ]
                + ConfigurationKey.allCases.map { key in
                    "\(key.name) = \(key.value), \(key.variable): \(key.summary)"
                        + (key.standard.map { " (\($0))" } ?? "")
                        + (key.isRepeated ? "; may be given more than once" : "")
                }),
        HelpTopic(
            name: "exit-status", summary: "what the exit statuses mean",
            text: [
                "0  done", "1  failed", "2  nothing found, or not yet true: a missing document, a wait that ran out",
                "64  wrong usage", "69  there is no running node to talk to", "130  ended by ctrl-C",
                "check has its own: kith check --help",
            ]),
        HelpTopic(
            name: "log", summary: "levels and areas of the log",
            text: [
                "The log goes to standard error, an event a line. Levels: error, warning, info, debug, trace. Without "
                    + "another wish it is info.",
                "AREA=LEVEL sets one area: node, mesh, link, store, discovery, control or wire.",
                "Changes of state are told at info, attempts at debug. An event that repeats is counted, and the number "
                    + "told from time to time (repeated=N); at info and above the log keeps under 1 MB an hour.",
                "Under systemd the journal has the time and the priority; elsewhere a line begins with both. --log-format "
                    + "json writes an object a line.",
                "SIGUSR1 makes the node write its status to the log.",
            ]),
        HelpTopic(
            name: "states", summary: "the states of a peer in kith status",
            text: [
                "in sync: connected, heard of within \(NodeLimits.exchangeMilliseconds / 1_000) s, nothing to fetch either way, "
                    + "equal digests (what one of them purged or refused apart). A status asks those who were not heard of "
                    + "within \(NodeLimits.freshMilliseconds) ms first; who does not answer within "
                    + "\(NodeLimits.answerMilliseconds) ms is unknown.",
                "catching up: connected, with changes on the way.",
                "blocked: connected, and something keeps changes from being stored; the reason is shown.",
                "paused: by kith pause, here or at the peer; the time left, or what the peer says, is shown.",
                "unknown: not connected, so nobody can say; or both are readers, and neither takes anything of the other.",
                "refused: one side does not accept the other; the reason is shown.",
                "never seen: known by name only.",
            ]),
    ]
}

extension HelpTopic {
    /// The page of a health check.
    init(_ code: HealthCode) {
        let page = code.page
        name = code.topic
        summary = "health check \(code.rawValue)"
        var text = Array(page.meaning.map { [$0] }.joined(separator: [""]))
        if !page.shows.isEmpty { text += ["", "It shows:"] + page.shows.map { "- \($0)" } }
        text += ["", "What to do:"] + page.actions.enumerated().map { "\($0 + 1). \($1)" }
        text += ["", "It goes away \(page.ends.prefix(1).lowercased())\(page.ends.dropFirst())"]
        self.text = text.map { $0.replacing("`", with: "") }
    }
}
