extension HealthPage {
    static let peerBlocked = HealthPage(
        meaning: [
            "A database can't be replicated with a peer because a store failed, this node's or the peer's. Other "
                + "databases and other peers go on.",
            "What may pass by itself, such as a full disk, is tried again every few seconds.",
        ],
        shows: [
            "`kith status` shows the peer as `blocked`, with the database and the reason below the table.",
            "The peer's own status shows what is wrong there.",
        ],
        actions: [
            "Read the reason: `kith status NODE`.",
            "When the reason says that the peer's store failed, look there: `kith status` on that machine.",
            "When it is this node's, do what its own check of the disk says.",
        ],
        ends: "When the database was replicated with that peer again, or the link has ended.")

    static let paused = HealthPage(
        meaning: [
            "Somebody paused replication with `kith pause`, with all peers or with one. Writes go on here, and are "
                + "exchanged when the pause ends. It outlives a restart.",
            "Or of one database, with `kith sync DB --pause`. Databases of which no setting could be read, since the file "
                + "that keeps them was damaged, are paused too.",
        ],
        shows: ["`kith status` shows the peer as `paused`, with the time left where the pause has an end."],
        actions: [
            "End it: `kith resume`, or for one peer `kith resume NODE`, or for one database `kith sync DB --resume`."
        ],
        ends: "When the pause has run out or was ended.")

    static let clockSkew = HealthPage(
        meaning: [
            "A peer's clock and this one differ by more than a minute, beyond what the measurement may be wrong by; where two "
                + "or more peers agree against this machine, it is this clock that is off. Of two edits of one field the one "
                + "with the clock ahead wins, until the next edit.",
            "Nothing is refused or lost: an edit made with knowledge of another always replaces it, whatever the clocks say.",
        ],
        shows: ["`kith status NODE` has how far the clock of NODE is off: its clock +N ms is ahead."],
        actions: [
            "See which of the two is wrong: `date -u` on both; `timedatectl` says whether a time service runs.",
            "Set the clocks by a time service: `timedatectl set-ntp true`.",
        ],
        ends: "A few seconds after the clocks agree, or when the peer is not connected any more.")
}
