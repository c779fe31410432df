extension CommandTable {
    static let queryCommands = [
        CommandSpec(
            name: "query", arguments: "DB QUERY", argumentCount: 2...2,
            summary: "ask a database for documents, in SQL++",
            text: [
                "Prints the rows of a query, each a line of JSON, as they are found: the object of its columns, or the value of "
                    + "SELECT RAW. Every name in FROM is the database. - reads the query from standard input. docs/query.md says "
                    + "what can be asked.",
                "A query that is wrong fails with line and column. No rows are an answer, and the exit status is 0.",
                "--explain runs nothing and says how it would be run: the SQL, SQLite's plan, the indexes that are used, or what "
                    + "an index would have that could help.",
                "It works with a running node and, where none runs, on the node's directory.",
            ],
            options: [
                OptionSpec(
                    name: "param", value: "NAME=JSON", isRepeated: true,
                    help: "the value of $NAME; of $1, or the first ?, 1=JSON. A text stands in quotes"),
                OptionSpec(name: "explain", help: "say how it would be run"),
                OptionSpec(name: "json", help: "print one JSON array of all rows"),
                OptionSpec(name: "table", help: "print columns, for people"), data,
            ],
            examples: [
                "kith query notes 'SELECT META().id, title FROM notes ORDER BY title' --table",
                "kith query notes 'SELECT * FROM notes WHERE n > $n' --param n=5",
                "kith query notes 'SELECT * FROM notes WHERE done = false' --explain",
            ],
            run: QueryCommands.query),
        CommandSpec(
            name: "index create", arguments: "DB NAME [EXPRESSION...]", argumentCount: 2...10,
            summary: "make an index, which queries use",
            text: [
                "Makes an index of the values of the expressions, in that order, with --text of the words of them, or with --array "
                    + "of the elements of an array. With --where only documents for which the condition is true are in it, and queries with the same "
                    + "condition use it.",
                "It is this node's alone, and every write keeps it. Nobody writes to the database while it is made; it is there "
                    + "as a whole or not at all. One that is there already with the same definition stays.",
                "It works with a running node and, where none runs, on the node's directory.",
            ],
            options: [
                OptionSpec(name: "array", value: "PATH", help: "of the elements of this array, for UNNEST, ANY and IN"),
                OptionSpec(
                    name: "path", value: "PATH", help: "with --array: of each element this, where it is an object"),
                OptionSpec(name: "text", help: "of the words of the expressions, for MATCH, RANK and HIGHLIGHT"),
                OptionSpec(
                    name: "language", value: "LANGUAGE",
                    help: "with --text: the words of this language are found in all their forms; en is known"),
                OptionSpec(name: "diacritics", help: "with --text: letters with marks are others than those without"),
                OptionSpec(name: "where", value: "CONDITION", help: "only documents for which this is true"), data,
            ],
            examples: [
                "kith index create notes by-title type title",
                "kith index create notes open dueDate --where 'done = false'",
                "kith index create notes tags --array tags",
                "kith index create notes words title text --text --language en",
            ],
            run: IndexCommands.create),
        CommandSpec(
            name: "index list", arguments: "DB", argumentCount: 1...1,
            summary: "list the indexes of a database, with size and last use",
            text: [
                "Prints each index with what it is of, its size, and when a query last used it. One that is never "
                    + "used costs every write for nothing: kith index drop takes it away."
            ],
            options: [json, color, data], run: IndexCommands.list),
        CommandSpec(
            name: "index drop", arguments: "DB NAME", argumentCount: 2...2, summary: "take an index away",
            text: ["The documents stay; queries that used the index read more of them."], options: [data],
            run: IndexCommands.drop),
    ]
}
