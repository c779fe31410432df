extension HealthPage {
    static let storageFull = HealthPage(
        meaning: [
            "The disk of the node's directory is full: writes fail and leave the databases as they were. The node goes on "
                + "by itself when there is room again."
        ],
        actions: ["Make room on that disk."])

    static let storageFailed = HealthPage(
        meaning: [
            "The disk of the node's directory failed or can't be written: writes fail and leave the databases as they were. "
                + "The check names the database and the failure; it goes with the first write that succeeds."
        ],
        actions: ["Look at the disk, and at what the kernel says of it: dmesg."])

    static let rollbackDetected = HealthPage(
        meaning: [
            "A peer has changes of a database of this node that are not in it any more: an older copy of the file was put back, "
                + "a power cut took the last commits, or the machine was put back to a snapshot while the node ran.",
            "Nothing needs mending: a new timeline is begun, so that nothing is taken for what it is not, and what peers have "
                + "comes back from them. What only this node had is lost. Shown for a day, or until the node is restarted.",
        ],
        actions: [
            "If nobody put anything back, look at the disk: a disk that forgets what it was told to keep will do so again.",
            "Look whether a copy of the node's directory runs elsewhere, and end it.",
        ])

    static let databaseDamaged = HealthPage(
        meaning: [
            "A database's file contradicts itself: a disk that failed, a file that was changed or copied badly. The check "
                + "names the database and the first thing found; it goes with a repair, or with a kith verify that finds "
                + "nothing."
        ],
        actions: [
            "Look at the disk first, and at what the kernel says of it: dmesg.",
            "kith verify DB lists what is damaged.",
            "kith repair DB makes a new file of what is sound and fetches the rest from peers.",
        ])
}
