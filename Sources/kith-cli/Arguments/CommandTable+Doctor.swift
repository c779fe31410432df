extension CommandTable {
    static let doctorCommands = [
        CommandSpec(
            name: "doctor", arguments: "", argumentCount: 0...0,
            summary: "why no other node is seen",
            text: [
                "Looks at everything between this node and the others, whether the node runs or not: the network, the system "
                    + "bus, Avahi, multicast out of this machine and in from others, this node's port, its announcement, "
                    + "the running node's health, other groups, each address of each peer, announcements that lead nowhere, "
                    + "firewalls, the clock and the disk. The first line names the cause; what follows is every check in "
                    + "order. It changes nothing and ends within 15 s.",
                "Exits with 0 when nothing is wrong, 1 when something is. As root it can read the firewall's rules too.",
            ],
            options: [
                json,
                OptionSpec(
                    name: "interface", value: "PATTERN", isRepeated: true,
                    help: "which network interfaces count, as for kith start"),
                OptionSpec(
                    name: "peer", value: "HOST:PORT", isRepeated: true, help: "an address to try besides those known"),
                color, data,
            ],
            examples: ["kith doctor", "sudo kith doctor --data /var/lib/kith", "kith doctor --json | jq -r .cause"],
            run: DoctorCommands.doctor),
        CommandSpec(
            name: "diagnose", arguments: "[FILE | -]", argumentCount: 0...1,
            summary: "write what somebody who helps should see into a file",
            text: [
                "Writes one text: versions, the configuration, the status, what kith doctor finds, the schema of each database "
                    + "with its indexes and how queries were run, the files of the directory, and the last lines of the log. "
                    + "Without FILE it goes to kith-diagnosis-TIME.txt in the present directory; - is standard output. FILE "
                    + "is there as a whole or not at all, and only you can read it.",
                "Nothing of a document is in it, no key and no code; names of fields are covered. It has names of nodes and "
                    + "databases, and addresses: read it before you pass it on.",
                "Without a running node it has what can be read without one. It takes up to 30 s.",
            ],
            options: [OptionSpec(name: "force", help: "replace FILE where it is there"), data],
            examples: ["kith diagnose", "kith diagnose - | less"], run: SupportCommands.diagnose),
    ]
}
