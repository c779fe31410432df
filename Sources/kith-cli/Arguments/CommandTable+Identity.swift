/// Commands about who the node is.
extension CommandTable {
    static let identityCommands = [
        CommandSpec(
            name: "identity show", arguments: "", argumentCount: 0...0,
            summary: "who this node is, and on which machine",
            text: [
                "Reads the node's directory, whether the node runs or not. The fingerprint is that of the group's root, the "
                    + "same on every node of the group."
            ],
            options: [json, data], run: IdentityCommands.show),
        CommandSpec(
            name: "identity keep", arguments: "", argumentCount: 0...0,
            summary: "the directory was moved here: go on as the same node",
            text: [
                "A node whose directory was used on another machine before replicates with nobody until it is told whether "
                    + "it was moved or copied (health check MACHINE_CHANGED). This says that it was moved: the original runs "
                    + "no more. A running node goes on at once."
            ],
            options: [data], run: IdentityCommands.keep),
        CommandSpec(
            name: "identity recover", arguments: "[NODE]", argumentCount: 0...1,
            summary: "mend what this node knows of its group, after damage",
            text: [
                "For a node that does not start because its file membership is damaged, which says who was revoked. Takes every "
                    + "signed statement out of the file, keeps the damaged one as membership.damaged, and writes a new one.",
                "Where some statements may be missing, the node then lets in one node alone until that one has told what it "
                    + "knows: the admin who let this node in, or NODE, the whole id of one that you trust. An admin has to name "
                    + "one; --alone asks nobody, for a group in which nobody was ever revoked.",
                "The node must not run. A second call can name another NODE.",
            ],
            options: [OptionSpec(name: "alone", help: "believe what is left, and ask nobody"), json, data],
            examples: ["kith identity recover", "kith identity recover --alone"], run: IdentityCommands.recover),
        CommandSpec(
            name: "identity reset", arguments: "", argumentCount: 0...0,
            summary: "the directory is a copy: become a new node, to join anew",
            text: [
                "Removes the key, the certificate and what else makes this directory the same node as the one that it was "
                    + "copied from. The databases stay, and a copy of the root's key, aside; kith join puts the new node into a group "
                    + "again, and what only the copy had gets to the others.",
                "The node must not run.",
            ],
            options: [OptionSpec(name: "yes", help: "do it without asking"), data],
            examples: ["kith stop; kith identity reset --yes; kith join CODE"], run: IdentityCommands.reset),
    ]
}
