extension CommandTable {
    static let membershipCommands = [
        CommandSpec(
            name: "members", arguments: "", argumentCount: 0...0,
            summary: "the nodes of the group, as what, and who was revoked",
            text: [
                "Lists the nodes of the group that this node has met or heard of: name, role, the admin who let each in, and "
                    + "whether its membership has ended. A role is ? where the node was not met."
            ],
            options: [json, color, data], run: MembershipCommands.members),
        CommandSpec(
            name: "revoke", arguments: "NODE", argumentCount: 1...1,
            summary: "end a node's membership, everywhere and for ever",
            text: [
                "Signs a statement that ends the membership of NODE: a name, the beginning of an id, or a whole id. It is on "
                    + "disk here when the command returns, and spreads from node to node; links to the revoked node end "
                    + "within seconds. It is never undone: the machine can only leave and join anew. What it wrote stays.",
                "Run it on an admin. An admin is revoked with the root's key, and with it all nodes that it let in: they "
                    + "must leave and join anew with a code of another admin. With the root's key any node will do.",
                "Against an admin an admin's word counts for nothing. Of a node that this one never met, named by its whole id, "
                    + "nobody can tell here whether it is one: the command says so, and the root's key settles it.",
                "Says who is affected, and asks, unless --yes.",
            ],
            options: [
                OptionSpec(name: "root", value: "FILE", help: "the root's key, where init put it into a file"),
                OptionSpec(name: "yes", short: "y", help: "do it without asking"), json, data,
            ],
            examples: ["kith revoke den", "kith revoke ada --root /media/key/kith-root.pem"],
            run: MembershipCommands.revoke),
        CommandSpec(
            name: "role", arguments: "NODE writer|reader", argumentCount: 2...2,
            summary: "make a node a writer or a reader",
            text: [
                "Changes what NODE may do, on an admin. It is on disk here when the command returns, and spreads from node "
                    + "to node; links to the node begin anew within seconds. What a node wrote before the change and others "
                    + "do not have yet stays on it while it is a reader.",
                "An admin is made by kith invite --role admin and ended by kith revoke, both with the root's key.",
            ],
            options: [data], examples: ["kith role den reader"], run: MembershipCommands.role),
    ]
}
