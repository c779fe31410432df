extension CommandTable {
    private static let revision = OptionSpec(name: "rev", value: "REV", help: "this revision")

    static let documentCommands = [
        CommandSpec(
            name: "put", arguments: "DB ID [JSON | -]", argumentCount: 2...3, summary: "store a document",
            text: [
                "Stores the JSON object as the document of that id and prints its revision id. Without JSON, or with -, it "
                    + "is read from standard input. An equal body writes nothing and prints the present revision.",
                "With --rev it replaces that revision only, and fails when another has replaced it since.",
            ],
            options: [OptionSpec(name: "rev", value: "REV", help: "the revision to replace"), data],
            examples: ["kith put notes list '{\"milk\":true}'", "kith put notes list < list.json"],
            run: DocumentCommands.put),
        CommandSpec(
            name: "get", arguments: "DB ID", argumentCount: 2...2, summary: "print a document",
            text: ["Prints the document's JSON on one line."],
            options: [revision, OptionSpec(name: "meta", help: "with _id, _rev, _conflicts and _sequence"), data],
            examples: ["kith get notes list", "kith get notes list --meta"], run: DocumentCommands.get),
        CommandSpec(
            name: "delete", arguments: "DB ID", argumentCount: 2...2,
            summary: "delete a document everywhere",
            text: [
                "Writes a tombstone, which replicates, and prints its revision id. An edit that the deletion had not seen "
                    + "survives it."
            ],
            options: [OptionSpec(name: "rev", value: "REV", help: "delete this revision only"), data],
            run: DocumentCommands.delete),
        CommandSpec(
            name: "purge", arguments: "DB ID", argumentCount: 2...2, summary: "remove a document from this node alone",
            text: ["Removes the document and its history here, without a tombstone. Other nodes keep it."],
            options: [data], run: DocumentCommands.purge),
        CommandSpec(
            name: "history", arguments: "DB ID", argumentCount: 2...2, summary: "draw a document's revisions",
            text: [
                "Draws the revision tree from the oldest revision known to the newest, with what each merge overruled: the "
                    + "values that lost, and the revision that had them."
            ],
            options: [json, color, data], run: DocumentCommands.history),
        CommandSpec(
            name: "changes", arguments: "DB", argumentCount: 1...1,
            summary: "print what changed, a line of JSON each",
            text: [
                "Prints documents in the order of their latest change: {\"seq\":…,\"id\":…,\"rev\":…,\"deleted\":…}."
            ],
            options: [
                OptionSpec(name: "since", value: "N", help: "after this sequence; without it from the beginning"),
                OptionSpec(name: "limit", value: "N", help: "at most so many"),
                OptionSpec(name: "follow", short: "f", help: "go on with changes to come"), data,
            ],
            examples: ["kith changes notes --since 1200", "kith changes notes --follow"], run: BulkCommands.changes),
        CommandSpec(
            name: "import", arguments: "DB FILE", argumentCount: 2...2,
            summary: "take many documents in from a file",
            text: [
                "Reads lines of JSON, one array of objects, or an object that holds one array; - is standard input. The id "
                    + "of a document is its _id, or the FIELD named, or is made.",
                "A document that cannot be taken in is listed with its place in the file; the others go on, and the exit "
                    + "status is 1. What is not JSON ends the file there.",
            ],
            options: [
                OptionSpec(name: "id", value: "FIELD", help: "the member that holds the id"),
                OptionSpec(name: "initial", help: "new ids get an initial revision, which any edit outranks"),
                OptionSpec(name: "dry-run", help: "read and check all, write nothing"),
                OptionSpec(name: "json", help: "print the counts as JSON"), data,
            ],
            examples: ["kith import languages /usr/share/iso-codes/json/iso_639-3.json --id alpha_3"],
            run: BulkCommands.importDocuments),
        CommandSpec(
            name: "export", arguments: "DB", argumentCount: 1...1, summary: "print all documents, a line of JSON each",
            text: ["Prints each document with its _id. kith import reads it back."], options: [data],
            examples: ["kith export notes > notes.jsonl"], run: BulkCommands.export),
    ]

    static let databaseCommands = [
        CommandSpec(
            name: "db create", arguments: "DB", argumentCount: 1...1,
            summary: "make a database, on all nodes of the group",
            text: ["The name begins with a letter from a to z and has only those, digits and _$()+-."], options: [data],
            run: DatabaseCommands.create),
        CommandSpec(
            name: "db delete", arguments: "DB", argumentCount: 1...1,
            summary: "drop this node's copy of a database",
            text: [
                "Drops the copy on this node and stops carrying it. Nothing is deleted elsewhere. Asks before it does. "
                    + "Files that repairs and restores have put aside stay, and are named."
            ],
            options: [OptionSpec(name: "yes", short: "y", help: "do not ask"), data], run: DatabaseCommands.delete),
        CommandSpec(
            name: "db list", arguments: "", argumentCount: 0...0,
            summary: "list the databases of this node",
            text: ["Prints a name on each line."],
            options: [OptionSpec(name: "long", short: "l", help: "with counts and sizes"), json, data],
            run: DatabaseCommands.list),
        CommandSpec(
            name: "policy", arguments: "DB [JSON | -]", argumentCount: 1...2,
            summary: "show or set how a database merges",
            text: [
                "Prints the policy, after setting it where JSON is given. Setting needs an admin.",
                "{\"default\":\"latest\"} merges by field, the later writer of each wins; {\"default\":\"manual\"} merges "
                    + "nothing and leaves conflicts to you.",
                "With the default latest, \"paths\" gives single fields a policy of their own: max or min keeps the greatest or "
                    + "the least number, union keeps the elements of all arrays. \"together\" lists paths that are one field, "
                    + "as a status and its date. What one node lowers or removes comes back from a node that had not seen "
                    + "it. A node of an older version leaves conflicts alone until it is updated.",
            ],
            options: [OptionSpec(name: "json", help: "the policy as JSON, which it is without it too"), data],
            examples: [
                "kith policy notes", "kith policy notes '{\"default\":\"manual\"}'",
                "kith policy notes '{\"default\":\"latest\",\"paths\":{\"/tags\":\"union\"}}'",
                "kith policy notes '{\"default\":\"latest\",\"together\":[[\"/status\",\"/date\"]]}'",
            ],
            run: DatabaseCommands.policy),
        CommandSpec(
            name: "conflicts", arguments: "DB", argumentCount: 1...1,
            summary: "list documents with more than one live revision",
            text: ["Prints the id of each, then its live leaves, the winner first."], options: [json, data],
            run: DatabaseCommands.conflicts),
        CommandSpec(
            name: "refused", arguments: "DB", argumentCount: 1...1,
            summary: "list documents that peers sent and this node refused",
            text: [
                "Prints of each the tag that names it in the log, its id, and why a revision of it was refused. The document "
                    + "stands here as it stood before; a new edit where it was written, which keeps the rules, mends it."
            ],
            options: [json, data], run: DatabaseCommands.refused),
        CommandSpec(
            name: "resolve", arguments: "DB ID", argumentCount: 2...2,
            summary: "end a conflict: keep one revision",
            text: ["Ends all live revisions of the document but one, and prints that one's id."],
            options: [OptionSpec(name: "keep", value: "REV", isRequired: true, help: "the revision that stays"), data],
            run: DocumentCommands.resolve),
    ]
}
