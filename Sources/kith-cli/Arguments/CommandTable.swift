/// Every command, in the order of the help text. Parser, help and suggestions read this table and nothing else.
enum CommandTable {
    static let commands = sections.flatMap(\.commands)

    /// A heading of the help text and of the manual page, and the commands under it.
    struct Section {
        let title: String
        let commands: [CommandSpec]

        init(_ title: String, _ commands: [CommandSpec]) {
            self.title = title
            self.commands = commands.map { $0.withConfigurationFile() }
        }
    }

    static let sections = [
        Section("the node and its group", nodeCommands),
        Section("members", membershipCommands + identityCommands),
        Section("the service and the shell", serviceCommands),
        Section("what is", statusCommands + doctorCommands + healthCommands),
        Section("documents", documentCommands),
        Section("queries", queryCommands),
        Section("databases", databaseCommands + upkeepCommands),
    ]

    static let data = OptionSpec(name: "data", value: "DIR", help: "the node's directory; see kith help directory")
    static let json = OptionSpec(name: "json", help: "print JSON, for programs")
    static let color = OptionSpec(name: "color", value: "WHEN", help: "auto, always or never")

    static let nodeCommands = [
        CommandSpec(
            name: "init", arguments: "", argumentCount: 0...0,
            summary: "make this machine the first node of a new group",
            text: [
                "Makes the node's directory and identity, and a new group with this node as its admin. A directory that is "
                    + "there already and open to others is closed to them where it is empty, and refused where it is not: "
                    + "it is to hold the node's key.",
                "The root's key, which admits further admins, stays in the directory unless --root-out says where to put it.",
            ],
            options: [
                OptionSpec(name: "group", value: "NAME", help: "the group's name, for people"),
                OptionSpec(name: "name", value: "NODE", help: "this node's name; without it the machine's"),
                OptionSpec(name: "root-out", value: "FILE", help: "put the root's key into this file instead"), json,
                data,
            ],
            examples: ["kith init --group home", "kith init --root-out /media/key/kith-root.pem"],
            run: LocalCommands.initialise),
        CommandSpec(
            name: "invite", arguments: "", argumentCount: 0...0,
            summary: "print a code with which one machine can join",
            text: [
                "Opens an invitation on this node, which must be a running admin, and prints its code on one line. The "
                    + "code works once, until its time is over or five attempts with it failed.",
                "An invitation for an admin needs the root's key; with it any node of the group can invite one.",
            ],
            options: [
                OptionSpec(name: "role", value: "ROLE", help: "admin, writer or reader; without it writer"),
                OptionSpec(name: "valid", value: "TIME", help: "how long the code works; without it 15m"),
                OptionSpec(name: "root", value: "FILE", help: "the root's key, where init put it into a file"), json,
                data,
            ],
            examples: ["kith invite", "kith invite --role reader --valid 1h"], run: NodeControl.invite),
        CommandSpec(
            name: "join", arguments: "CODE", argumentCount: 1...1,
            summary: "join a group with the code of an invitation",
            text: [
                "Makes the node's directory and identity, finds the node that invites, and gets a certificate from it. "
                    + "CODE is what kith invite printed there; - reads it from standard input.",
                "Needs no running node here, and starts none. In a directory that is in a group already it does nothing: "
                    + "leave first, the databases stay.",
                "Where the directory holds databases of another group it asks first: they become databases of the new "
                    + "group, and those of equal names merge.",
            ],
            options: [
                OptionSpec(name: "name", value: "NODE", help: "this node's name; without it the machine's"),
                OptionSpec(
                    name: "peer", value: "HOST:PORT", help: "where the inviting node is, if it is not found by itself"),
                OptionSpec(name: "yes", short: "y", help: "join with the databases of another group without asking"),
                json, data,
            ],
            examples: ["kith join CODE", "kith join - --peer 192.168.1.7:5484 < code"], run: LocalCommands.join),
        CommandSpec(
            name: "leave", arguments: "", argumentCount: 0...0, summary: "forget the group; the databases stay",
            text: [
                "This node forgets its group; stop it first. Its databases stay, and kith join puts it into a group again, as "
                    + "a new node: what it has is not transferred again.",
                "The only admin known asks first: without an admin nobody can be let in any more.",
            ],
            options: [OptionSpec(name: "yes", short: "y", help: "leave without asking"), data], run: LocalCommands.leave
        ),
        CommandSpec(
            name: "start",
            arguments: "", argumentCount: 0...0, summary: "run the node until it is told to stop",
            text: [
                "Runs the node in the foreground, as a service manager wants it, until SIGTERM, SIGINT or kith stop, which "
                    + "finish what is under way. When it is ready it prints one line: ready, its addresses and its directory.",
                "It listens on port 5484 of all addresses, or on the next free port where another node has it, and keeps "
                    + "its port from then on. Applications talk to it over the control socket; an HTTP server at an address of "
                    + "the network (--http) is not offered yet.",
                "What the options set can also be set by variables and in a file: kith help configuration. SIGHUP, or "
                    + "kith reload, reads the configuration again; a closed terminal does not end the node.",
            ],
            options: configurationOptions + [
                OptionSpec(name: "no-discovery", help: "the same as --discovery off"),
                OptionSpec(name: "strict", help: "unknown keys in the configuration are errors"),
                OptionSpec(name: "check", help: "say all that would keep the node from starting, and start nothing"),
                data,
            ],
            examples: ["kith start", "kith start --log mesh=debug --peer 192.168.1.7:5484"], run: LocalCommands.start),
        CommandSpec(
            name: "stop", arguments: "", argumentCount: 0...0, summary: "end the running node",
            text: ["Ends the node cleanly, and returns when it has ended."], options: [data], run: NodeControl.stop),
        CommandSpec(
            name: "log", arguments: "LEVEL|AREA=LEVEL...", argumentCount: 1...64,
            summary: "change what the running node logs",
            text: ["Sets what is logged from now on, of all areas or of one. kith help log lists levels and areas."],
            options: [data], examples: ["kith log debug", "kith log info mesh=debug"], run: NodeControl.log),
        CommandSpec(
            name: "demo", arguments: "", argumentCount: 0...0,
            summary: "three nodes on this machine: import, part, edit, meet, merge",
            text: [
                "Starts nodes on this machine in a new group and a temporary folder, imports a real data set, cuts one "
                    + "node off, edits documents on both sides, joins the nodes again, and checks that all agree. Prints a "
                    + "line ok or FAILED for each check. Everything it made is gone when it ends."
            ],
            options: [
                OptionSpec(name: "nodes", value: "N", help: "how many nodes, from 2 to 8; without it 3"),
                OptionSpec(
                    name: "file", value: "FILE", help: "other data: JSON with one array of objects that have alpha_3"),
                OptionSpec(name: "keep", help: "leave the folder and say where it is"),
            ],
            run: Demo.run),
    ]

    static let statusCommands = [
        CommandSpec(
            name: "status", arguments: "[NODE]", argumentCount: 0...1,
            summary: "how the node, its databases and its peers are",
            text: [
                "Shows what is wrong first, then the node, its databases and its peers. With NODE, a name or the beginning "
                    + "of an id, one peer in full.",
                "IN counts changes that the peer has and this node has not stored, OUT changes here that the peer has not "
                    + "acknowledged; ? is not known. A peer is in sync only while it is connected and has exactly the same "
                    + "documents.",
                "--watch redraws on a terminal until ctrl-C, and otherwise prints a line of JSON for each change. Times "
                    + "and byte counts alone are no change.",
            ],
            options: [
                json, OptionSpec(name: "watch", help: "go on showing it as it changes"),
                OptionSpec(name: "", short: "x", help: "one line when all is well, else what is not"), color, data,
            ],
            examples: ["kith status", "kith status den", "kith status --json | jq .health.level"],
            run: StatusCommands.status),
        CommandSpec(
            name: "check", arguments: "", argumentCount: 0...0,
            summary: "one line and an exit status, for monitoring",
            text: [
                "Exits with 0 when all is well, 1 for a warning, 2 when something is critical, 3 when that is not known.",
                "The line begins with OK, WARNING, CRITICAL or UNKNOWN and has the codes of the checks; kith help CODE "
                    + "tells what each means.",
            ],
            options: [json, data], run: StatusCommands.check),
        CommandSpec(
            name: "mesh", arguments: "", argumentCount: 0...0,
            summary: "every node known, and who is connected to whom",
            text: ["Shows what the nodes tell each other of themselves, also of those this node has no connection to."],
            options: [json, color, data], run: StatusCommands.mesh),
        CommandSpec(
            name: "wait", arguments: "", argumentCount: 0...0,
            summary: "wait until peers are connected, or have the same documents",
            text: [
                "Returns 0 when N peers, at least one, are connected and, with --in-sync, the digest of DB equals that of "
                    + "every connected peer; 2 when the time is over before."
            ],
            options: [
                OptionSpec(name: "peers", value: "N", help: "how many peers; without it 1"),
                OptionSpec(name: "in-sync", value: "DB", help: "a database to be the same everywhere"),
                OptionSpec(name: "timeout", value: "TIME", help: "how long to wait; without it 30s"), data,
            ],
            examples: ["kith wait --peers 2 --in-sync notes --timeout 1m"], run: StatusCommands.wait),
        CommandSpec(
            name: "sync", arguments: "DB", argumentCount: 1...1,
            summary: "how a database is replicated, or one synchronisation of it",
            text: [
                "Without an option it shows how this node replicates the database. The options but --once are settings: they "
                    + "hold over a restart, for this node alone.",
                "--once exchanges what there is with the peers that can be reached, and prints a line for each. Returns 0 "
                    + "when at least one was reached and each has what it should, 1 when one could not store it, 2 when none "
                    + "was reached or the time is over before.",
            ],
            options: [
                OptionSpec(name: "once", help: "synchronise once, also a database on demand"),
                OptionSpec(name: "timeout", value: "TIME", help: "how long --once may take; without it 1m"),
                OptionSpec(name: "direction", value: "WAY", help: "both, pull, push or none"),
                OptionSpec(name: "mode", value: "MODE", help: "continuous, or on-demand: only with --once"),
                OptionSpec(
                    name: "filter", value: "JSON", help: "take only these: ids in an array, or a selector; none for all"
                ),
                OptionSpec(name: "pause", help: "exchange nothing of it until --resume"),
                OptionSpec(name: "resume", help: "end its pause"),
                OptionSpec(
                    name: "pending", value: "NODE", help: "list documents that NODE, or any node, has not acknowledged"),
                OptionSpec(
                    name: "reset", value: "NODE", help: "look at the changes of NODE, or of all, from the beginning"),
                json, data,
            ],
            examples: ["kith sync notes --once", "kith sync notes --direction pull", "kith sync notes --pause"],
            run: SyncCommand.run),
        CommandSpec(
            name: "pause", arguments: "[NODE]", argumentCount: 0...1,
            summary: "stop replicating, with one peer or with all",
            text: [
                "The pause outlives a restart of the node. It ends after its time or with kith resume, and status shows it."
            ],
            options: [OptionSpec(name: "for", value: "TIME", help: "how long; without it until kith resume"), data],
            examples: ["kith pause --for 4h", "kith pause den"], run: NodeControl.pause),
        CommandSpec(
            name: "resume", arguments: "[NODE]", argumentCount: 0...1,
            summary: "end a pause, with one peer or with all",
            text: ["Replication goes on at once."], options: [data], run: NodeControl.resume),
    ]
}
