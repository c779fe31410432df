extension CommandTable {
    static let yes = OptionSpec(name: "yes", help: "do it without asking")

    /// Databases as wholes: checked, mended, made smaller, copied and put back. All of them work with a running node and,
    /// where none runs, on the node's directory itself.
    static let upkeepCommands = [
        CommandSpec(
            name: "verify", arguments: "[DB]", argumentCount: 0...1,
            summary: "check every document and the files of databases",
            text: [
                "Recomputes the hash of every revision, compares the digest and the counts with the documents, and checks "
                    + "the indexes and pages of the file. Without DB it checks all databases. The exit status is 1 when "
                    + "something is wrong; each finding is a line: the document, and what is wrong with it.",
                "It may run while the node works: each document is checked as it is at one moment, and one that is written "
                    + "meanwhile as it was before or after. Without a running node it checks the files directly.",
            ],
            options: [json, data], examples: ["kith verify", "kith verify notes --json"], run: UpkeepCommands.verify),
        CommandSpec(
            name: "repair", arguments: "[DB]", argumentCount: 0...1,
            summary: "mend damaged databases, with the help of peers",
            text: [
                "Checks the database, or all of them, and where something is wrong makes a new file of what is sound. What "
                    + "was damaged is left out, and comes from the peers that have it. The old file is kept beside it, as "
                    + "NAME.sqlite3.damaged-TIME; remove it when all is well again. Three such files are kept.",
                "Documents that no connected peer has are named as lost, those that may still come as missing; the exit "
                    + "status is 1 while there are any. Without a running node it mends the file, and the rest comes when the "
                    + "node runs.",
            ],
            options: [
                OptionSpec(name: "wait", value: "TIME", help: "how long to wait for peers; without it 1m"), json, data,
            ],
            examples: ["kith repair notes", "kith repair --wait 10m"], run: UpkeepCommands.repair),
        CommandSpec(
            name: "compact", arguments: "DB", argumentCount: 1...1, summary: "give unused space back to the disk",
            text: [
                "Drops the bodies of overruled revisions whose time is over, and makes a file without unused space of the "
                    + "database. It is read and written meanwhile; writes wait for a moment at the end. So much space as the "
                    + "documents take must be free on the disk."
            ],
            options: [json, data], examples: ["kith compact notes"], run: UpkeepCommands.compact),
        CommandSpec(
            name: "backup", arguments: "DB FILE", argumentCount: 2...2, summary: "copy a database into a file",
            text: [
                "Writes a copy of the database as it is at one moment, with tombstones and histories, while the node goes "
                    + "on. - writes to standard output. FILE is there as a whole or not at all, and only you can read it. It "
                    + "holds nothing of the node's identity.",
                "Copying NAME.sqlite3 itself while a node runs loses the latest writes without a word: use this.",
            ],
            options: [OptionSpec(name: "force", help: "replace FILE where it is there"), data],
            examples: ["kith backup notes notes.kith", "kith backup notes - | ssh box 'cat > notes.kith'"],
            run: UpkeepCommands.backup),
        CommandSpec(
            name: "restore", arguments: "DB FILE", argumentCount: 2...2,
            summary: "put a copy in the place of a database",
            text: [
                "Checks the copy and puts it in the place of this node's database, or makes the database where there is "
                    + "none; it asks first where there is one. - reads the copy from standard input. The old file is kept "
                    + "beside it, as NAME.sqlite3.replaced-TIME; one such file is kept.",
                "What other nodes have written or kept since comes back by replication: a restore brings back what was lost "
                    + "everywhere and undoes nothing. docs/operations.md says how to go back to an older state for good.",
            ],
            options: [yes, json, data], examples: ["kith restore notes notes.kith"], run: UpkeepCommands.restore),
    ]
}
