extension HealthPage {
    static let storageFull = HealthPage(
        meaning: [
            "The disk of the node's directory is full. Writes fail and leave the databases as they were; a write that was "
                + "answered as done is on disk. Reading goes on, and so does giving documents to peers; taking them from "
                + "peers stops."
        ],
        shows: [
            "Commands that write fail with `unavailable` and name the database.",
            "Peers show this node as `blocked` in databases that it can't store.",
        ],
        actions: [
            "See what takes the room: `df -h DIR`, `du -xh --max-depth=1 DIR`, with the directory that the check names.",
            "Make room on that disk, or give it more.",
        ],
        ends: "When a write succeeds: the node tries again by itself every few seconds.")

    static let storageFailed = HealthPage(
        meaning: [
            "The disk of the node's directory failed, or can't be written any more: an error of the device, a file system "
                + "that was mounted read-only, a file whose owner changed. Writes fail and leave the databases as they "
                + "were; reading goes on as far as it can."
        ],
        shows: ["Commands that write fail with `unavailable` and name the database and the failure."],
        actions: [
            "Look at what the kernel says of the disk: `dmesg -T | tail`.",
            "See whether the directory can be written: its owner and mode with `ls -ld DIR`, the mount with `findmnt -T DIR`.",
            "When the device is at fault, replace it; what peers have comes back from them.",
        ],
        ends: "With the first write that succeeds.")

    static let rollbackDetected = HealthPage(
        meaning: [
            "A peer has changes of a database of this node that are not in it any more: an older copy of the file was put back, "
                + "a power cut took the last commits, or the machine was put back to a snapshot while the node ran.",
            "Nothing needs mending: a new timeline is begun, so that nothing is taken for what it is not, and what peers have "
                + "comes back from them. What only this node had is lost.",
        ],
        shows: ["The check and the log name the database, and what showed it."],
        actions: [
            "If nobody put anything back, look at the disk: a disk that forgets what it was told to keep will do so again: "
                + "`dmesg -T | tail`.",
            "Look whether a copy of the node's directory runs elsewhere, and end it: see `kith help identity-duplicate`.",
        ],
        ends: "A day after it was found, or when the node is restarted.")

    static let databaseDamaged = HealthPage(
        meaning: [
            "A database's file contradicts itself: a disk that failed, a file that was changed or copied badly. The check "
                + "names the database and the first thing found."
        ],
        shows: ["Reading some documents fails, and peers show the database as `blocked`."],
        actions: [
            "Look at the disk first, and at what the kernel says of it: `dmesg -T | tail`.",
            "List what is damaged: `kith verify DB`.",
            "Make a new file of what is sound, and fetch the rest from peers: `kith repair DB`.",
        ],
        ends: "With a repair, or with a `kith verify` that finds nothing.")
}
