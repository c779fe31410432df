import KithDocument
import KithHTTPCore
import KithNode

/// `index`: what lets queries find documents without reading them all.
enum IndexCommands {
    static func create(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let (database, index) = (invocation.arguments[0], invocation.arguments[1])
        let definition = try definition(invocation)
        let teller = UpkeepTeller("index \(index)", asJSON: false, showsProgress: try Terminal().showsProgress) {
            _, _ in
        }
        teller.begin(database)
        defer { teller.end() }
        do throws(CommandError) {
            try ControlClient(invocation).lines(
                "PUT", ["databases", database, "indexes", index], body: .bytes(definition)
            ) { line in
                teller.tell(line)
                return true
            }
        } catch {
            guard error.status == ExitStatus.noNode else { throw error }
            try QueryCommands.offline(invocation) { event in
                teller.tell(Array(event.line.dropLast()))
            } _: { (offline) throws(NodeError) in
                try offline.createIndex(index, definition, in: database)
            }
        }
        guard teller.isDone else {
            throw CommandError("the node ended before index \(Shown.name(index)) was made; do it again")
        }
        return ExitStatus.done
    }

    /// The definition as the node takes it.
    private static func definition(_ invocation: Invocation) throws(CommandError) -> [UInt8] {
        let expressions = invocation.arguments.dropFirst(2)
        var object = JSONObject()
        if !invocation.flag("text"), invocation.value("language") != nil || invocation.flag("diacritics") {
            throw .usage("kith index create: --language and --diacritics belong to --text")
        }
        if let array = invocation.value("array") {
            guard !invocation.flag("text") else {
                throw .usage(
                    "kith index create takes --text or --array, not both; the strings in an array are words, too")
            }
            guard expressions.isEmpty else {
                throw .usage(
                    "kith index create takes expressions or --array, not both; --path is for parts of elements")
            }
            object["kind"] = "elements"
            object["array"] = .string(array)
            object["path"] = invocation.value("path").map { .string($0) }
        } else {
            guard !expressions.isEmpty else {
                throw .usage("kith index create needs an expression, such as title, or --array PATH")
            }
            guard invocation.value("path") == nil else {
                throw .usage(
                    "kith index create: --path belongs to --array; for a value write its path as the expression")
            }
            let isText = invocation.flag("text")
            object["kind"] = isText ? "text" : "values"
            object[isText ? "fields" : "expressions"] = .array(expressions.map { .string($0) })
            object["language"] = invocation.value("language").map { .string($0) }
            if invocation.flag("diacritics") { object["diacritics"] = "kept" }
        }
        object["where"] = invocation.value("where").map { .string($0) }
        return JSONValue.object(object).canonicalBytes
    }

    static func list(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let name = invocation.arguments[0]
        var bytes: [UInt8] = []
        do throws(CommandError) {
            bytes = try ControlClient(invocation).call("GET", ["databases", name, "indexes"])
        } catch {
            guard error.status == ExitStatus.noNode else { throw error }
            try QueryCommands.offline(invocation) { (offline) throws(NodeError) in
                var object = JSONObjectWriter()
                object.add("indexes", elements: try offline.indexes(of: name).map(\.json))
                bytes = object.bytes + [UInt8(ascii: "\n")]
            }
        }
        if invocation.flag("json") {
            Output.write(bytes)
            return ExitStatus.done
        }
        let terminal = try Terminal(colourChoice: invocation.value("color"))
        let indexes = try ControlClient.parse(bytes)["indexes"]?.array ?? []
        if indexes.isEmpty { Messages.line("\(Shown.name(name)) has no indexes") }
        for line in table(indexes).lines(width: terminal.width, colour: terminal.colour) where !indexes.isEmpty {
            Output.line(line)
        }
        return ExitStatus.done
    }

    private static func table(_ indexes: [JSONValue]) -> TextTable {
        var table = TextTable([
            .init(title: "index"), .init(title: "of", least: 12), .init(title: "size", alignsRight: true),
            .init(title: "last used", leftOut: 2), .init(title: "made", leftOut: 1),
        ])
        for index in indexes {
            table.add([
                .init(text: index["name"]?.string ?? "?"), .init(text: words(of: index)),
                .init(text: index["bytes"]?.natural.map { Wording.size($0) } ?? "-"),
                .init(text: index["last_used_at"]?.string ?? "never"), .init(text: index["created_at"]?.string ?? "?"),
            ])
        }
        return table
    }

    /// What an index is of: `type, title where done = false`, `elements of items: price.net`, `words of title, text (en)`.
    private static func words(of index: JSONValue) -> String {
        var words: String
        if let fields = index["fields"]?.array {
            words = "words of " + fields.compactMap(\.string).joined(separator: ", ")
            let kept = index["diacritics"] == nil ? [] : ["diacritics"]
            let details = [index["language"]?.string].compactMap(\.self) + kept
            if !details.isEmpty { words += " (\(details.joined(separator: ", ")))" }
        } else if let array = index["array"]?.string {
            words = "elements of \(array)" + (index["path"]?.string.map { ": \($0)" } ?? "")
        } else {
            words = (index["expressions"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
        }
        if let filter = index["where"]?.string { words += " where \(filter)" }
        return words
    }

    static func drop(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let (database, index) = (invocation.arguments[0], invocation.arguments[1])
        do throws(CommandError) {
            _ = try ControlClient(invocation).call("DELETE", ["databases", database, "indexes", index])
        } catch {
            guard error.status == ExitStatus.noNode else { throw error }
            try QueryCommands.offline(invocation) { (offline) throws(NodeError) in
                try offline.dropIndex(index, in: database)
            }
        }
        return ExitStatus.done
    }
}
