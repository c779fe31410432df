import Glibc
import KithDocument
import KithHTTPCore
import KithNode

/// `query`: what a database is asked, by the running node or, where none runs, in its directory.
enum QueryCommands {
    static func query(_ invocation: Invocation) throws(CommandError) -> Int32 {
        if invocation.flag("json"), invocation.flag("table") {
            throw .usage("kith query prints with --json or with --table, not with both")
        }
        let name = invocation.arguments[0]
        let request = try request(invocation)
        if invocation.flag("explain") { return try explain(invocation, name, request) }
        let printer: RowPrinter =
            if invocation.flag("table") {
                .table(RowTable(try Terminal()))
            } else if invocation.flag("json") {
                .array
            } else {
                .lines
            }
        var rows = AnswerReader(printer)
        do throws(CommandError) {
            try ControlClient(invocation).lines(
                "POST", ["databases", name, "query"], body: .bytes(request.canonicalBytes)
            ) { line in
                rows.take(line[...])
                return true
            }
        } catch {
            guard error.status == ExitStatus.noNode else { throw error }
            try offline(invocation) { (offline) throws(NodeError) in
                try offline.query(try asked(request), in: name) { line in
                    rows.take(line.dropLast())
                    return true
                }
            }
        }
        rows.end()
        return ExitStatus.done
    }

    private static func explain(
        _ invocation: Invocation, _ name: String, _ request: JSONValue
    ) throws(CommandError) -> Int32 {
        if invocation.flag("table") { throw .usage("kith query --explain prints lines, or with --json an object") }
        var json: [UInt8] = []
        do throws(CommandError) {
            json = try ControlClient(invocation).call(
                "POST", ["databases", name, "explain"], body: .bytes(request.canonicalBytes))
        } catch {
            guard error.status == ExitStatus.noNode else { throw error }
            try offline(invocation) { (offline) throws(NodeError) in
                json = try offline.explain(try asked(request), in: name).json + [UInt8(ascii: "\n")]
            }
        }
        if invocation.flag("json") {
            Output.write(json)
        } else {
            for line in lines(ofExplanation: try ControlClient.parse(json)) { Output.line(line) }
        }
        return ExitStatus.done
    }

    /// How a query is run, for people.
    static func lines(ofExplanation explanation: JSONValue) -> [String] {
        func texts(_ name: String) -> [String] {
            (explanation[name]?.array ?? []).map { Display.clean($0.string ?? "?") }
        }
        let indexes = texts("indexes")
        var lines = ["SQL: \(Display.clean(explanation["sql"]?.string ?? "?"))"]
        lines += texts("plan").map { "plan: \($0)" }
        lines.append(indexes.isEmpty ? "index: none is used" : "index: \(indexes.joined(separator: ", "))")
        let suggestion = texts("suggestion")
        if !suggestion.isEmpty { lines.append("an index on (\(suggestion.joined(separator: ", "))) could help") }
        return lines + texts("notes").map { "note: \($0)" }
    }

    // MARK: What is asked

    /// The query and its parameters as the node takes them.
    private static func request(_ invocation: Invocation) throws(CommandError) -> JSONValue {
        let text = try DocumentCommands.text(
            invocation.arguments[1], limit: ControlLimits.documentBytes, of: "the query")
        guard let query = String(validating: text, as: UTF8.self) else {
            throw .usage("the query is not valid UTF-8")
        }
        var parameters = JSONObject()
        for parameter in invocation.values("param") {
            let (name, value) = try Self.parameter(parameter)
            guard parameters[name] == nil else { throw .usage("--param \(Shown.name(name)) is given twice") }
            parameters[name] = value
        }
        return ["query": .string(query), "parameters": .object(parameters)]
    }

    /// Reads `NAME=JSON`.
    static func parameter(_ text: String) throws(CommandError) -> (name: String, value: JSONValue) {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
            throw .usage("--param \(Shown.name(text)): a parameter is NAME=JSON, as in --param 'type=\"todo\"'")
        }
        var name = text[..<equals]
        if name.first == "$", name.count > 1 { name = name.dropFirst() }
        let value = text[text.index(after: equals)...]
        do throws(DocumentError) { return (String(name), try JSONValue(parsing: Array(value.utf8))) } catch {
            throw .usage(
                "--param \(Shown.name(String(name))): \(Shown.name(String(value))) is no JSON (\(error.message)); a text "
                    + "stands in quotes: '\(Shown.name(String(name)))=\"...\"'")
        }
    }

    /// The same as the node reads it.
    private static func asked(_ request: JSONValue) throws(NodeError) -> ControlQuery {
        do throws(ControlError) { return try ControlQuery(body: request.canonicalBytes) } catch {
            throw NodeError(code: error.code.rawValue, message: error.message)
        }
    }

    // MARK: Where no node runs

    /// Runs work on the directory of a node that does not run.
    static func offline(
        _ invocation: Invocation, emit: @escaping @Sendable (UpkeepEvent) -> Void = { _ in },
        _ work: (OfflineUpkeep) throws(NodeError) -> Void
    ) throws(CommandError) {
        try CommandConfiguration(invocation).actAsOwner()
        let sink = UpkeepSink(emit: emit, isCancelled: Interruption.begin())
        try Interruption.asCommand { () throws(NodeError) in
            try work(try OfflineUpkeep(try NodeDirectory.of(invocation), sink))
        }
    }
}

/// Reads the lines of an answer (docs/control.md) and has their rows printed.
struct AnswerReader {
    private var printer: RowPrinter
    private let flushes = isatty(STDOUT_FILENO) == 1
    private var rows = 0

    init(_ printer: RowPrinter) { self.printer = printer }

    private static let beginning = Array(#"{"row":"#.utf8)

    /// A line without its end.
    mutating func take(_ line: ArraySlice<UInt8>) {
        if line.starts(with: Self.beginning) {
            printer.print(line.dropFirst(Self.beginning.count).dropLast(), number: rows)
            rows += 1
            if flushes { Output.flush() }
        } else if case .table(let table) = printer, let head = try? JSONValue(parsing: Array(line)) {
            table.columns = head["columns"]?.array.map { $0.compactMap(\.string) }
        }
    }

    /// All rows were there.
    mutating func end() {
        switch printer {
        case .lines: break
        case .array: Output.line(rows == 0 ? "[]" : "]")
        case .table(let table): table.end()
        }
    }
}

/// How rows are printed. Those of lines and arrays pass as the bytes they are.
enum RowPrinter {
    case lines
    case array
    case table(RowTable)

    func print(_ row: ArraySlice<UInt8>, number: Int) {
        switch self {
        case .lines:
            Output.write(row)
            Output.write(CollectionOfOne(UInt8(ascii: "\n")))
        case .array:
            Output.write((number == 0 ? "[" : ",\n").utf8)
            Output.write(row)
        case .table(let table): if let value = try? JSONValue(parsing: Array(row)) { table.add(value) }
        }
    }
}
