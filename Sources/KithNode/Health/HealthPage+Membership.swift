extension HealthPage {
    static let identityDuplicate = HealthPage(
        meaning: [
            "Another machine runs with the key of this node: one is a copy of the other, made by cloning a disk, restoring "
                + "a backup to a second machine, or copying the directory.",
            "Peers take the two for one and drop whichever connected first, so neither replicates steadily.",
        ],
        shows: ["Links to peers come and go, and the log says that another link to this node stays."],
        actions: [
            "On the copy, stop the node: `kith stop`.",
            "Make it a node of its own: `kith leave`, then join it anew with a code of `kith invite`. Its databases stay.",
        ],
        ends:
            "When the copy is stopped and its announcements have died away; after a restart of this node at the latest."
    )
}
