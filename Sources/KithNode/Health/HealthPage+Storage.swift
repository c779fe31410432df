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
            "A peer showed writes of this node that this node does not know: the machine was put back to a snapshot while "
                + "the node ran, or a copy of its directory runs elsewhere.",
            "The node has begun a new timeline, so that nobody takes its new writes for the old ones, and gets back from "
                + "peers what is missing here.",
        ],
        shows: ["The log names the database; the node's sequences go on higher than peers had seen."],
        actions: [
            "Nothing, when a snapshot was restored on purpose.",
            "Otherwise look whether a copy of the directory runs elsewhere, and end it: see `kith help identity-duplicate`.",
        ],
        ends: "With the next start of the node.")
}
