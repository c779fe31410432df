extension HealthPage {
    static let configurationInvalid = HealthPage(
        meaning: [
            "The node was told to read its configuration again, and that is wrong. The node goes on with what held before; "
                + "with the wrong configuration it would not start."
        ],
        shows: ["The log has each problem with its file and line."],
        actions: [
            "See what is wrong, with file and line: `kith config --check`.", "Mend it, then: `kith reload`.",
        ],
        ends: "When the node has read a configuration that is right.")

    static let staticPeerFailed = HealthPage(
        meaning: [
            "At an address that the configuration names as a peer's, no node of the group has answered yet. The check has the "
                + "reason: nothing listens there, something else does, or it is a node of another group. A peer that was met "
                + "once and is off is no matter of this check."
        ],
        shows: ["`kith log mesh=debug` makes the node tell each attempt and how it failed."],
        actions: [
            "See that a node of this group runs there, and that its port is right: `kith status` on it has both.",
            "Mend or remove the line `peer`, then: `kith reload`. `kith config` has the line's place.",
        ],
        ends: "When a node of the group has answered there, or the address is not named any more.")
}
