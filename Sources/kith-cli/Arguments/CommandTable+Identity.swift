/// Commands about who the node is.
extension CommandTable {
    static let identityCommands = [
        CommandSpec(
            name: "identity show", arguments: "[--json]", argumentCount: 0...0,
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
            name: "identity reset", arguments: "[--yes]", argumentCount: 0...0,
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
