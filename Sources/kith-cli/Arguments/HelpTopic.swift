/// A page of help that is no command.
struct HelpTopic {
    let name: String
    let summary: String
    let text: [String]

    static let all = [
        HelpTopic(
            name: "directory", summary: "where a node keeps its things",
            text: [
                "The node's directory is that of --data DIR, else of $KITH_DATA, else $XDG_DATA_HOME/kith, else "
                    + "~/.local/share/kith. A relative $XDG_DATA_HOME is ignored.",
                "It holds the databases, the node's key and certificate, and kith.sock, at which the running node is talked "
                    + "to. Where the path of that socket would be over 103 bytes it is in $XDG_RUNTIME_DIR/kith instead.",
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
        HelpTopic(
            name: "discovery-down", summary: "health check DISCOVERY_DOWN",
            text: [
                "avahi-daemon does not answer, so new nodes are not found. Peers known before still replicate.",
                "Look at it with: systemctl status avahi-daemon. Without Avahi, name the peers: kith start --peer HOST:PORT.",
            ]),
        HelpTopic(
            name: "storage-full", summary: "health check STORAGE_FULL",
            text: [
                "The disk of the node's directory is full: writes fail and leave the databases as they were. Make room; the "
                    + "node goes on by itself."
            ]),
        HelpTopic(
            name: "conflicts", summary: "health check CONFLICTS",
            text: [
                "Documents have more than one live revision, and the database's policy leaves it to you. kith conflicts DB "
                    + "lists them, kith history DB ID shows one, kith resolve DB ID --keep REV ends it."
            ]),
        HelpTopic(
            name: "clock-skew", summary: "health check CLOCK_SKEW",
            text: [
                "A peer's clock and this one differ by much. Of two edits of one field the one with the clock ahead wins, "
                    + "until the next edit. Set the clocks; nothing is refused or lost meanwhile."
            ]),
        HelpTopic(
            name: "identity-duplicate", summary: "health check IDENTITY_DUPLICATE",
            text: [
                "Two nodes run with one identity, as after copying a machine. Stop one, remove its identity by kith leave, "
                    + "and join it anew."
            ]),
        HelpTopic(
            name: "storage-failed", summary: "health check STORAGE_FAILED",
            text: [
                "The disk of the node's directory failed or can't be written: writes fail and leave the databases as they were. "
                    + "The check names the database and the failure; it goes with the first write that succeeds."
            ]),
        HelpTopic(
            name: "rollback-detected", summary: "health check ROLLBACK_DETECTED",
            text: [
                "A peer showed writes of this node that this node does not know: the machine was put back to a snapshot while "
                    + "it ran, or a copy of its directory runs elsewhere. A new timeline was begun, and what is missing here "
                    + "comes back from peers. Look whether a copy runs."
            ]),
        HelpTopic(
            name: "peer-blocked", summary: "health check PEER_BLOCKED",
            text: [
                "A database can't be replicated with a peer because its store or this one failed; other databases and peers "
                    + "go on. kith status NODE has the reason; what may pass by itself is tried again."
            ]),
        HelpTopic(
            name: "documents-refused", summary: "health check DOCUMENTS_REFUSED",
            text: [
                "Documents of a peer were not taken because they break a rule: a wrong hash, a size or a depth over the limit. "
                    + "The log names the reason; the others are not held up."
            ]),
        HelpTopic(
            name: "paused", summary: "health check PAUSED",
            text: ["Replication was paused by kith pause, with all peers or with one; kith resume ends it."]),
    ]
}
