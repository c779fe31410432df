extension HealthPage {
    static let conflicts = HealthPage(
        meaning: [
            "Documents were edited in several places at once, and the policy of their database leaves it to people which "
                + "edit stays. Reads give the same version on every node until then; nothing is lost.",
            "With the policy `latest`, which databases have at first, edits are merged by field and no conflict stays. A "
                + "policy that this version of Kith does not know counts as `manual` here.",
            "With a policy by a resolver, code of an application merges. A node that runs without that code leaves conflicts to those "
                + "that have it; where it fails, or answers otherwise when it is asked again, the conflict stays and the reason "
                + "stands here.",
        ],
        shows: [
            "`kith status` counts them in the column CONFLICTS, the same number on every node that is in sync.",
            "`kith get DB ID --meta` has the other versions in `_conflicts`.",
        ],
        actions: [
            "List them: `kith conflicts DB`.",
            "Look at one: `kith history DB ID`, and at a version: `kith get DB ID --rev REV`.",
            "Keep one version, on any node: `kith resolve DB ID --keep REV`.",
            "Or let the database merge by itself from now on: `kith policy DB '{\"default\":\"latest\"}'`.",
            "If `kith policy DB` shows another policy than `manual` already, update Kith on this node.",
            "If it shows a resolver, start the application that has it, on any node; if that fails, mend it and give it a new version.",
        ],
        ends: "When the last conflict is resolved, here or on another node.")

    static let documentsRefused = HealthPage(
        meaning: [
            "Revisions that a peer sent were not taken, because they break a rule that holds for all: a content that does "
                + "not fit its revision's id, a size or depth over the limit, a writer who may not write. The documents "
                + "stand here as they stood before.",
            "All other documents are replicated as usual, and a refused one is left out when two nodes compare what they have.",
        ],
        shows: [
            "`kith refused DB` lists the documents and the reasons; the log has the reasons, and names documents by the tag that "
                + "stands before them there.",
            "`kith status NODE` counts them in the column REFUSED of that peer.",
        ],
        actions: [
            "Read the reasons: `kith refused DB`; when each was refused, and from whom: `journalctl -u kith -g refused`.",
            "Mend the document where it was written: a new edit of it that keeps the rules replaces it everywhere.",
            "When the reason is a wrong hash, look after that machine: its disk or memory may be failing, or its program "
                + "is no genuine one.",
        ],
        ends: "When a revision that keeps the rules has replaced each refused one, or it was deleted.")
}
