import Glibc
import KithDocument
import KithHTTPCore
import KithNode

/// `verify`, `repair`, `compact`: long work on databases as wholes, told line by line.
enum UpkeepCommands {
    static func verify(_ invocation: Invocation) throws(CommandError) -> Int32 {
        var status = ExitStatus.done
        try each(invocation, "verify", [:]) { (offline, name) throws(NodeError) in
            try offline.verify(name)
        } done: { database, event in
            let findings = event.count("findings")
            if findings > 0 { status = ExitStatus.failed }
            let documents = Wording.plural(event.count("documents"), "document", "documents")
            if findings > 0 {
                Messages.line(
                    "\(database): damaged: \(Wording.plural(findings, "finding", "findings")) in \(documents); "
                        + "mend it with: kith repair \(database)")
            } else {
                Messages.line("\(database): sound, \(documents)")
            }
        }
        return status
    }

    static func repair(_ invocation: Invocation) throws(CommandError) -> Int32 {
        var query: [String: String] = [:]
        if let wait = invocation.value("wait") {
            query["wait_ms"] = String(try Values.milliseconds(wait, ControlLimits.repairMilliseconds, option: "--wait"))
        }
        var status = ExitStatus.done
        try each(invocation, "repair", query) { (offline, name) throws(NodeError) in
            try offline.repair(name)
        } done: { database, event in
            for line in repaired(database, event) { Messages.line(line) }
            if event.count("lost") + event.count("waiting") + event.count("unnamed") > 0 { status = ExitStatus.failed }
        }
        return status
    }

    /// What came of a repair, in sentences.
    static func repaired(_ database: String, _ event: JSONValue) -> [String] {
        let documents = Wording.plural(event.count("documents"), "document", "documents")
        guard event["damaged"]?.bool == true else { return ["\(database): sound, \(documents); nothing was done"] }
        var lines = ["\(database): repaired, \(documents)"]
        let leftOut = event.count("left_out")
        if leftOut > 0 {
            lines[0] +=
                "; \(Wording.plural(leftOut, "was", "were")) damaged, \(Wording.count(event.count("fetched"))) came back"
        }
        if event.count("lost") > 0 {
            lines.append(
                "\(Wording.plural(event.count("lost"), "document is", "documents are")) lost: no connected peer has more of "
                    + "it; another peer or a backup may")
        }
        if event.count("waiting") > 0 {
            lines.append(
                "\(Wording.plural(event.count("waiting"), "document is", "documents are")) not back yet: they come from a "
                    + "peer that has them; see kith status")
        }
        if event.count("unnamed") > 0 {
            lines.append(
                "\(Wording.plural(event.count("unnamed"), "document", "documents")) could not even be named, and may be lost"
            )
        }
        if let kept = event["kept"]?.string { lines.append("the old file is \(kept); remove it when all is well") }
        return lines
    }

    static func compact(_ invocation: Invocation) throws(CommandError) -> Int32 {
        try each(invocation, "compact", [:]) { (offline, name) throws(NodeError) in
            try offline.compact(name)
        } done: { database, event in
            let (before, after) = (event.count("bytes_before"), event.count("bytes_after"))
            Messages.line("\(database): \(Wording.size(after)), \(Wording.size(before)) before")
        }
        return ExitStatus.done
    }

    // MARK: Line by line

    /// Does something with the database named, or with all: by the running node, or in the directory where none runs.
    private static func each(
        _ invocation: Invocation, _ operation: String, _ query: [String: String],
        offline work: @escaping (OfflineUpkeep, String) throws(NodeError) -> Void,
        done: @escaping (String, JSONValue) -> Void
    ) throws(CommandError) {
        let terminal = try Terminal()
        let asJSON = invocation.flag("json")
        let client = try ControlClient(invocation)
        let running: [String]?
        do throws(CommandError) {
            running =
                try client.json("GET", ["databases"])["databases"]?.array?.compactMap { $0["name"]?.string } ?? []
        } catch {
            guard error.status == ExitStatus.noNode else { throw error }
            running = nil
        }
        let teller = UpkeepTeller(operation, asJSON: asJSON, showsProgress: terminal.showsProgress, done: done)
        defer { if asJSON { Output.line(teller.json) } }
        guard let running else {
            return try offline(invocation, teller, work)
        }
        if invocation.arguments.isEmpty, running.isEmpty { tellNone(client.directory.path) }
        // One that can't be used does not keep the others from being looked at: it is named, and fails the command.
        var failure: CommandError?
        for name in invocation.arguments.first.map({ [$0] }) ?? running {
            teller.begin(name)
            defer { teller.end() }
            do throws(CommandError) {
                try client.lines("POST", ["databases", name, operation], query: query.map { ($0.key, $0.value) }) {
                    line in
                    teller.tell(line)
                    return true
                }
            } catch {
                guard error.status == ExitStatus.failed else { throw error }
                if let failure { Messages.line(failure.message) }
                failure = error
                continue
            }
            guard teller.isDone else {
                throw CommandError(
                    "the node ended before \(Shown.name(name)) was done; look at its log, then do it again")
            }
        }
        if let failure { throw failure }
    }

    /// Nothing to do is not the same as all well.
    private static func tellNone(_ directory: String) {
        Messages.line("there are no databases in \(Shown.path(directory)); --data DIR names another node's directory")
    }

    private static func offline(
        _ invocation: Invocation, _ teller: UpkeepTeller,
        _ work: (OfflineUpkeep, String) throws(NodeError) -> Void
    ) throws(CommandError) {
        try CommandConfiguration(invocation).actAsOwner()
        let sink = UpkeepSink(emit: { teller.tell(Array($0.line.dropLast())) }, isCancelled: Interruption.begin())
        try Interruption.asCommand { () throws(NodeError) in
            let offline = try OfflineUpkeep(try NodeDirectory.of(invocation), sink)
            let names: [String]
            if let name = invocation.arguments.first { names = [name] } else { names = try offline.names() }
            if names.isEmpty { tellNone(try NodeDirectory.of(invocation).path) }
            var failure: NodeError?
            for name in names {
                teller.begin(name)
                defer { teller.end() }
                do throws(NodeError) { try work(offline, name) } catch {
                    if let failure { Messages.line(failure.message) }
                    failure = error
                }
            }
            if let failure { throw failure }
        }
    }
}

/// Shows what long work tells: progress on a terminal, findings as lines on standard output, how it ended as a sentence.
/// For `--json` it gathers all of it in one value.
final class UpkeepTeller: @unchecked Sendable {
    // Sendable: the work that tells runs on one thread at a time, and whoever made it waits for it.

    private let operation: String
    private let asJSON: Bool
    private let showsProgress: Bool
    private let done: (String, JSONValue) -> Void
    private var bar: ProgressBar?
    private var database = ""
    private(set) var isDone = false
    private var results: [[UInt8]] = []
    /// Of the database at hand, by the kind of event.
    private var gathered: [String: [[UInt8]]] = [:]

    init(_ operation: String, asJSON: Bool, showsProgress: Bool, done: @escaping (String, JSONValue) -> Void) {
        self.operation = operation
        self.asJSON = asJSON
        self.showsProgress = showsProgress
        self.done = done
    }

    func begin(_ name: String) {
        database = name
        isDone = false
        gathered = [:]
        bar = ProgressBar("\(operation) \(Shown.name(name))", isShown: showsProgress, unit: .documents)
    }

    func end() {
        bar?.clear()
        bar = nil
        Output.flush()
    }

    /// A line without its end.
    func tell(_ line: [UInt8]) {
        guard let event = try? JSONValue(parsing: line), let kind = event["event"]?.string else { return }
        if kind == "progress" {
            bar?.update(Int(clamping: event.count("done")), of: Int(clamping: event.count("total")))
            return
        }
        bar?.clear()
        if asJSON, kind != "done" { gathered[kind, default: []].append(line) }
        switch kind {
        case "finding" where !asJSON: Output.line("\(Shown.name(database)): \(Self.finding(event))")
        case "left_out" where !asJSON:
            let state = event["state"]?.string == "lost" ? "lost" : "missing"
            Output.line("\(Shown.name(database)): document \(Shown.name(event["document"]?.string ?? "?")): \(state)")
        case "note": if !asJSON { Messages.line("\(Shown.name(database)): \(event["message"]?.string ?? "?")") }
        case "done":
            isDone = true
            results.append(result(line))
            done(database, event)
        default: break
        }
    }

    /// `{"databases":[...]}`: of each how it ended, and what was found, left out and noted.
    var json: String {
        var object = JSONObjectWriter()
        object.add("databases", elements: results)
        return String(decoding: object.bytes, as: UTF8.self)
    }

    private func result(_ done: [UInt8]) -> [UInt8] {
        var lists = JSONObjectWriter()
        lists.add("found", elements: gathered["finding"] ?? [])
        lists.add("not_back", elements: gathered["left_out"] ?? [])
        lists.add("notes", elements: gathered["note"] ?? [])
        return done.dropLast() + [UInt8(ascii: ",")] + lists.bytes.dropFirst()
    }

    private static func finding(_ event: JSONValue) -> String {
        let message = event["message"]?.string ?? "?"
        guard let document = event["document"]?.string else { return message }
        return "document \(Shown.name(document)): \(message)"
    }
}

extension JSONValue {
    /// A member that is a count; 0 where there is none.
    func count(_ name: String) -> UInt64 { self[name]?.integer.flatMap { UInt64(exactly: $0) } ?? 0 }
}

extension NodeDirectory {
    /// The directory of a command line.
    static func of(_ invocation: Invocation) throws(NodeError) -> NodeDirectory {
        do throws(CommandError) { return try ControlClient.directory(invocation) } catch {
            throw NodeError(code: "usage", message: error.message)
        }
    }
}
