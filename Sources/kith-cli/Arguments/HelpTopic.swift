import KithNode

/// A page of help that is no command.
struct HelpTopic {
    let name: String
    let summary: String
    let text: [String]

    static let all = general + HealthCode.allCases.map(HelpTopic.init)

    private static let general = [
        HelpTopic(
            name: "directory", summary: "where a node keeps its things",
            text: [
                "The node's directory is that of --data DIR, else of $KITH_DATA, else $XDG_DATA_HOME/kith, else "
                    + "~/.local/share/kith. A relative $XDG_DATA_HOME is ignored.",
                "It holds the databases, the node's key and certificate, and kith.sock, at which the running node is talked "
                    + "to. Where the path of that socket would be over 103 bytes it is in $XDG_RUNTIME_DIR/kith instead.",
                "On which machine a directory is used is told by /etc/machine-id, or by the file that $KITH_MACHINE_ID_FILE "
                    + "names; see kith help machine-changed.",
            ]),
        HelpTopic(
            name: "exit-status", summary: "what the exit statuses mean",
            text: [
                "0  done", "1  failed", "2  nothing found, or not yet true: a missing document, a wait that ran out",
                "64  wrong usage", "69  there is no running node to talk to", "check has its own: kith check --help",
            ]),
        HelpTopic(
            name: "log", summary: "levels and areas of the log",
            text: [
                "The log goes to standard error, an event a line. Levels: error, warning, info, debug, trace. Without "
                    + "another wish it is info.",
                "AREA=LEVEL sets one area: node, mesh, link, store, discovery, control or wire.",
            ]),
        HelpTopic(
            name: "states", summary: "the states of a peer in kith status",
            text: [
                "in sync: connected, heard of within two heartbeats, nothing to fetch either way, equal digests (what one of them purged or refused apart).",
                "catching up: connected, with changes on the way.",
                "blocked: connected, and something keeps changes from being stored; the reason is shown.",
                "paused: by kith pause; the time left is shown.",
                "unknown: not connected, so nobody can say.",
                "refused: one side does not accept the other; the reason is shown.",
                "never seen: known by name only.",
            ]),
    ]
}

extension HelpTopic {
    /// The page of a health check.
    init(_ code: HealthCode) {
        name = code.topic
        summary = "health check \(code.rawValue)"
        text = code.page.meaning + code.page.actions
    }
}
