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
}
