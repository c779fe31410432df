extension HealthPage {
    static let peerBlocked = HealthPage(
        meaning: [
            "A database can't be replicated with a peer because its store or this one failed; other databases and peers "
                + "go on. What may pass by itself is tried again."
        ],
        actions: ["kith status NODE has the reason."])

    static let paused = HealthPage(
        meaning: ["Replication was paused by kith pause, with all peers or with one."],
        actions: ["kith resume ends it."])

    static let clockSkew = HealthPage(
        meaning: [
            "A peer's clock and this one differ by much. Of two edits of one field the one with the clock ahead wins, "
                + "until the next edit. Nothing is refused or lost meanwhile."
        ],
        actions: ["Set the clocks by a time service."])
}
