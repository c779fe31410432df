extension HealthPage {
    static let identityDuplicate = HealthPage(
        meaning: [
            "Two nodes run with one identity: one is a copy of the other, made by cloning a disk, restoring a backup to a second "
                + "machine, or copying the node's directory. Peers link to one of the two and turn the other away; nothing is "
                + "lost, but one of the two is not replicated.",
            "It is shown by both nodes and by the others.",
        ],
        shows: ["`kith mesh` and the log name the addresses of the two."],
        actions: [
            "On the copy: `kith stop`, `kith identity reset`, and `kith join CODE` with a new invitation. Its databases stay, "
                + "and what only the copy wrote gets to the others."
        ],
        ends: "Some 90 seconds after the second was last seen.")

    static let machineChanged = HealthPage(
        meaning: [
            "The node's directory was used on another machine before (its machine-id is another). It may have been moved, with "
                + "the disk or by a copy after which the original was ended; or it is a copy, and the original still runs. Two "
                + "nodes with one identity must not run, so this one replicates with nobody until it is told. Documents can be "
                + "read and written meanwhile. A restart changes nothing."
        ],
        shows: ["`kith status` shows no peer as connected, and the node dials nobody."],
        actions: [
            "Was it moved? `kith identity keep`: the node goes on as the same node, on this machine.",
            "Is it a copy? `kith stop`, `kith identity reset`, `kith join CODE`: it becomes a new node and keeps its databases.",
        ],
        ends: "When you have said which of the two it is.")
}
