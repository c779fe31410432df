extension HealthPage {
    static let identityDuplicate = HealthPage(
        meaning: ["Two nodes run with one identity, as after copying a machine."],
        actions: ["Stop the copy, remove its identity by kith leave, and join it anew."])

    static let revoked = HealthPage(
        meaning: [
            "The group has ended the membership of this node, or of the admin who let it in: an admin, or who holds the "
                + "root's key, has revoked it. No node of the group exchanges anything with it any more. That is never "
                + "undone. The databases here stay, and can be read and written; what is written here reaches nobody.",
            "Where the check says that a peer says so, the statement itself has not come here, and no peer is connected.",
        ],
        actions: [
            "Ask an admin of the group whether this was meant.",
            "If the machine is to come back: kith stop, kith leave, and kith join with a new code of an admin who is still "
                + "one. What it has is not transferred again, and what it wrote meanwhile arrives then.",
        ])

    static let singleAdmin = HealthPage(
        meaning: [
            "This node knows of one admin in its group. That is no fault, so the level is ok; but if that machine is lost, "
                + "nobody can be let in or revoked any more."
        ],
        actions: [
            "On the admin, make a second one: kith invite --role admin, with --root FILE where the root's key was put away.",
            "On another machine, use the code: kith join CODE. A node of the group leaves first: kith stop, kith leave.",
        ])
}
