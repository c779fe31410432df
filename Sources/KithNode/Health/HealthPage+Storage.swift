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
            "A peer showed writes of this node that this node does not know: the machine was put back to a snapshot while "
                + "it ran, or a copy of its directory runs elsewhere. A new timeline was begun, and what is missing here "
                + "comes back from peers."
        ],
        actions: ["Look whether a copy of the node's directory runs elsewhere, and end it."])

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
