extension HealthPage {
    static let configurationInvalid = HealthPage(
        meaning: [
            "The node was told to read its configuration again, and that is wrong. The node goes on with what held before; "
                + "with the wrong configuration it would not start."
        ],
        actions: [
            "kith config --check names each problem with its file and line.",
            "Mend it, then: kith reload.",
        ])

    static let staticPeerFailed = HealthPage(
        meaning: [
            "At an address that the configuration names as a peer's, no node of the group has answered yet. The check has the "
                + "reason: nothing listens there, something else does, or it is a node of another group. A peer that was met "
                + "once and is off is no matter of this check."
        ],
        actions: [
            "See that a node of this group runs there, and that its port is right: kith status on it has both.",
            "Mend or remove the line peer, then: kith reload. kith config has the line's place.",
        ])
}
