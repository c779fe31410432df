import KithDocument
import KithHTTPCore
import KithNode

/// `changes`, `import`, `export`: many documents at a time.
enum BulkCommands {
    static func changes(_ invocation: Invocation) throws(CommandError) -> Int32 {
        var query: [(String, String?)] = [("follow", invocation.flag("follow") ? "true" : nil)]
        if let since = invocation.value("since") {
            query.append(("since", String(try Values.number(since, 0...UInt64.max, option: "--since"))))
        }
        if let limit = invocation.value("limit") {
            query.append(("limit", String(try Values.number(limit, 1...UInt64(Int.max), option: "--limit"))))
        }
        let follows = invocation.flag("follow")
        if follows { Output.endWithReader() }
        try ControlClient(invocation).lines("GET", ["databases", invocation.arguments[0], "changes"], query: query) {
            line in
            Output.write(line)
            Output.write(CollectionOfOne(UInt8(ascii: "\n")))
            if follows { Output.flush() }
            return true
        }
        return ExitStatus.done
    }

    static func export(_ invocation: Invocation) throws(CommandError) -> Int32 {
        try ControlClient(invocation).lines("GET", ["databases", invocation.arguments[0], "export"]) { line in
            Output.write(line)
            Output.write(CollectionOfOne(UInt8(ascii: "\n")))
            return true
        }
        return ExitStatus.done
    }

    static func importDocuments(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let request = Import(
            database: invocation.arguments[0], file: invocation.arguments[1], idField: invocation.value("id"),
            isInitial: invocation.flag("initial"), isDryRun: invocation.flag("dry-run"))
        let terminal = try Terminal()
        let result = try request.run(ControlClient(invocation), showsProgress: terminal.showsProgress)
        for failure in result.failures { Messages.line(failure) }
        if result.failed > result.failures.count {
            Messages.line("and \(result.failed - result.failures.count) more that were not taken in")
        }
        if invocation.flag("json") {
            Output.line(result.summary.description)
        } else {
            Messages.line(result.sentence(isDryRun: request.isDryRun))
        }
        return result.failed == 0 ? ExitStatus.done : ExitStatus.failed
    }
}

/// An import as the client does it: it reads the file and sends it as the node takes it.
struct Import {
    let database: String
    /// `-` is standard input.
    let file: String
    var idField: String?
    var isInitial = false
    var isDryRun = false

    struct Result {
        var read = 0
        var written = 0
        var unchanged = 0
        var failed = 0
        /// The documents that were not taken in, each with its place in the file, as far as the node listed them.
        var failures: [String] = []

        var summary: JSONValue {
            [
                "read": .number(read), "written": .number(written), "unchanged": .number(unchanged),
                "failed": .number(failed),
            ]
        }

        func sentence(isDryRun: Bool) -> String {
            let verb = isDryRun ? "would import" : "imported"
            var text = "\(verb) \(Wording.plural(UInt64(max(0, written)), "document", "documents"))"
            if unchanged > 0 { text += ", \(Wording.count(UInt64(unchanged))) were there already" }
            if failed > 0 { text += ", \(Wording.count(UInt64(failed))) were not taken in" }
            return text
        }
    }

    func run(_ client: ControlClient, showsProgress: Bool, label: String? = nil) throws(CommandError) -> Result {
        let input = try InputFile(file)
        var bar = ProgressBar(label ?? "import \(Shown.name(database))", isShown: showsProgress)
        var sent = 0
        var result = Result()
        var isDone = false
        let body = input.body { count in
            sent = count
            bar.update(count, of: input.size)
        }
        let query = [
            ("id", idField), ("initial", isInitial ? "true" : nil), ("dry_run", isDryRun ? "true" : nil),
        ]
        do throws(CommandError) {
            try client.lines("POST", ["databases", database, "import"], query: query, body: body) { line in
                isDone = Self.take(line, &result) || isDone
                return true
            }
        } catch {
            bar.clear()
            throw input.failure ?? error
        }
        bar.finish(sent, of: input.size)
        if !isDone {
            throw CommandError("the import of \(Shown.path(file)) ended early; do it again, equal documents stay")
        }
        return result
    }

    /// Takes a line of the node's report; true for the last.
    private static func take(_ line: [UInt8], _ result: inout Result) -> Bool {
        guard let event = try? JSONValue(parsing: line) else { return false }
        func number(_ name: String) -> Int { event[name]?.integer.flatMap { Int(exactly: $0) } ?? 0 }
        switch event["event"]?.string {
        case "failure":
            let id = event["id"]?.string.map { " (\(Shown.name($0)))" } ?? ""
            result.failures.append("document \(number("position"))\(id): \(event["message"]?.string ?? "?")")
            return false
        case "done":
            result.read = number("read")
            result.written = number("written")
            result.unchanged = number("unchanged")
            result.failed = number("failed")
            return true
        default: return false
        }
    }
}
