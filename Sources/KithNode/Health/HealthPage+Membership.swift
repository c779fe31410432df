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

    static let revoked = HealthPage(
        meaning: [
            "The group has ended the membership of this node, or of the admin who let it in: an admin, or who holds the "
                + "root's key, has revoked it. No node of the group exchanges anything with it any more. That is never "
                + "undone. The databases here stay, and can be read and written; what is written here reaches nobody.",
            "Where the check says that a peer says so, the statement itself has not come here, and no peer is connected.",
        ],
        shows: ["All peers are `refused` or `unknown`; `kith members` says who was revoked by whom."],
        actions: [
            "Ask an admin of the group whether this was meant.",
            "If the machine is to come back: `kith stop`, `kith leave`, and `kith join CODE` with a new code of an admin who "
                + "is still one. What it has is not transferred again, and what it wrote meanwhile arrives then.",
        ],
        ends: "When the node has left the group and joined one anew.")

    static let singleAdmin = HealthPage(
        meaning: [
            "This node knows of one admin in its group. That is no fault, so the level is ok; but if that machine is lost, "
                + "nobody can be let in or revoked any more."
        ],
        shows: ["`kith members` lists one admin."],
        actions: [
            "On the admin, make a second one: `kith invite --role admin`, with `--root FILE` where the root's key was put "
                + "away.",
            "On another machine, use the code: `kith join CODE`. A node of the group leaves first: `kith stop`, `kith leave`.",
        ],
        ends: "When a second admin was met.")
}
