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
            "A peer's clock and this one differ by more than a minute, beyond what the measurement may be wrong by; where two "
                + "or more peers agree against this machine, it is this clock that is off. Of two edits of one field the one with the clock ahead wins, "
                + "until the next edit. Nothing is refused or lost meanwhile."
        ],
        actions: [
            "kith status NODE shows how far the clock of NODE is off: its clock +N ms is ahead.",
            "Set the clocks by a time service: timedatectl set-ntp true.",
        ])
}
