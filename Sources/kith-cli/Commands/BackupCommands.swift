import Glibc
import KithDocument
import KithHTTPCore
import KithNode

extension UpkeepCommands {
    // MARK: backup

    static func backup(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let (name, target) = (invocation.arguments[0], invocation.arguments[1])
        if target == "-" {
            guard isatty(STDOUT_FILENO) == 0 else {
                throw .usage("kith backup: a copy is no text for a terminal; name a file, or send it to a program")
            }
            return try copyToOutput(invocation, name)
        }
        guard log(beside: target) == nil else {
            throw CommandError("\(Shown.path(target)) has a log beside it: it is a database, so name another file")
        }
        let made = try FileInMaking(target, replaces: invocation.flag("force"))
        let part = made.part
        Interruption.removes(part)
        var isWhole = false
        defer { if !isWhole { unlink(part) } }
        do throws(CommandError) {
            try receive(name, invocation, into: part, called: target)
        } catch {
            guard error.status == ExitStatus.noNode else { throw error }
            Interruption.removes(nil)
            let sink = UpkeepSink(emit: { _ in }, isCancelled: Interruption.begin())
            try Interruption.asCommand { () throws(NodeError) in
                try OfflineUpkeep(try NodeDirectory.of(invocation), sink).backup(
                    name, to: part, called: target)
            }
        }
        let copy = try Interruption.asCommand { () throws(NodeError) in try OfflineUpkeep.check(part, called: target) }
        try made.putInPlace()
        isWhole = true
        Interruption.removes(nil)
        var status = stat()
        let bytes = stat(target, &status) == 0 ? UInt64(status.st_size) : 0
        Messages.line(
            "\(Shown.name(name)): \(Wording.plural(copy.documents, "document", "documents")), \(Wording.size(bytes)), in "
                + Shown.path(target))
        return ExitStatus.done
    }

    /// The bytes of the log that stands beside a database which is open, or which a crash has left; nil without one.
    private static func log(beside path: String) -> Int? {
        var status = stat()
        return stat(path + "-wal", &status) == 0 ? Int(status.st_size) : nil
    }

    /// Takes the copy that the running node makes.
    private static func receive(
        _ name: String, _ invocation: Invocation, into part: String, called target: String
    ) throws(CommandError) {
        let terminal = try Terminal()
        var bar = ProgressBar("backup \(Shown.name(name))", isShown: terminal.showsProgress)
        var file: NewFile?
        var done = 0
        let total = try stream(name, invocation) { (bytes, total) throws(CommandError) in
            if file == nil { file = try NewFile(part, called: target) }
            try file?.write(bytes)
            done += bytes.count
            bar.update(done, of: total)
        }
        bar.clear()
        guard let file, total == nil || total == done else {
            throw CommandError("the copy of \(Shown.name(name)) did not arrive whole; do it again")
        }
        try file.synchronize()
    }

    private static func copyToOutput(_ invocation: Invocation, _ name: String) throws(CommandError) -> Int32 {
        var done = 0
        let total: Int?
        do throws(CommandError) {
            total = try stream(name, invocation) { (bytes, _) throws(CommandError) in
                Output.write(bytes)
                done += bytes.count
            }
        } catch {
            guard error.status == ExitStatus.noNode else { throw error }
            throw CommandError("\(error.message); without a node a copy goes to a file only", status: error.status)
        }
        guard total == nil || total == done else {
            throw CommandError("the copy of \(Shown.name(name)) did not arrive whole; do it again")
        }
        return ExitStatus.done
    }

    /// Asks the node for a copy.
    /// - Returns: how long the node said that it is.
    private static func stream(
        _ name: String, _ invocation: Invocation,
        _ take: (UnsafeRawBufferPointer, Int?) throws(CommandError) -> Void
    ) throws(CommandError) -> Int? {
        var failure: CommandError?
        var total: Int?
        try ControlClient(invocation).bytes("GET", ["databases", name, "backup"]) { head, bytes in
            total = head.headers["Kith-Bytes"].flatMap { Int($0) }
            do throws(CommandError) { try take(bytes, total) } catch {
                failure = error
                return false
            }
            return true
        }
        if let failure { throw failure }
        return total
    }

    // MARK: restore

    static func restore(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let (name, source) = (invocation.arguments[0], invocation.arguments[1])
        let input = try InputFile(source)
        guard log(beside: source) ?? 0 == 0 else {
            throw CommandError("\(Shown.path(source)) has a log beside it, and no copy has: make one with kith backup")
        }
        let restored: JSONValue
        do throws(CommandError) {
            let client = try ControlClient(invocation)
            let databases = try client.json("GET", ["databases"])["databases"]?.array ?? []
            let replaces = databases.contains { $0["name"]?.string == name && $0.count("bytes") > 0 }
            if replaces { try confirm(invocation, name, source) }
            restored = try naming(name, source) { () throws(CommandError) in
                try send(input, to: client, name, replaces: replaces)
            }
        } catch {
            guard error.status == ExitStatus.noNode else { throw input.failure ?? error }
            restored = try restoreOffline(invocation, name, source, input)
        }
        if invocation.flag("json") { Output.line(restored.description) }
        let documents = Wording.plural(restored.count("documents"), "document", "documents")
        Messages.line("\(Shown.name(name)): restored, \(documents)")
        if let kept = restored["kept"]?.string { Messages.line("what was there before is \(kept)") }
        Messages.line(
            "what other nodes have written since comes back from them: see docs/operations.md to go back for good")
        return ExitStatus.done
    }

    /// Runs a restore with the name of the file that the user gave in its error: whoever takes the copy knows it by none.
    private static func naming(
        _ name: String, _ source: String, _ body: () throws(CommandError) -> JSONValue
    ) throws(CommandError) -> JSONValue {
        do throws(CommandError) { return try body() } catch {
            guard error.status == ExitStatus.failed else { throw error }
            let shown = source == "-" ? "standard input" : Shown.name(source)
            throw CommandError("cannot restore \(Shown.name(name)) from \(shown): \(error.message)")
        }
    }

    private static func confirm(_ invocation: Invocation, _ name: String, _ source: String) throws(CommandError) {
        if invocation.flag("yes") { return }
        let otherwise =
            "kith restore replaces this node's database \(Shown.name(name)); say --yes to do it without asking"
        // The answer would be read from the copy.
        if source == "-" { throw .usage(otherwise) }
        try Confirmation.require(
            "Replace this node's database \(Shown.name(name))? The old file is kept. [y/N] ", otherwise: otherwise,
            declined: "nothing was restored")
    }

    private static func send(
        _ input: InputFile, to client: ControlClient, _ name: String, replaces: Bool
    ) throws(CommandError) -> JSONValue {
        let terminal = try Terminal()
        var bar = ProgressBar("restore \(Shown.name(name))", isShown: terminal.showsProgress)
        defer { bar.clear() }
        let body = input.body { sent in bar.update(sent, of: input.size) }
        return try client.json(
            "POST", ["databases", name, "restore"], query: [("replace", replaces ? "true" : nil)], body: body)
    }

    private static func restoreOffline(
        _ invocation: Invocation, _ name: String, _ source: String, _ input: InputFile
    ) throws(CommandError) -> JSONValue {
        // The copy is open already; what is written is the node's.
        try CommandConfiguration(invocation).actAsOwner()
        let isCancelled = Interruption.begin()
        let sink = UpkeepSink(emit: { _ in }, isCancelled: isCancelled)
        let offline = try Interruption.asCommand { () throws(NodeError) in
            try OfflineUpkeep(try NodeDirectory.of(invocation), sink)
        }
        if try Interruption.asCommand({ () throws(NodeError) in try offline.isHere(name) }) {
            try confirm(invocation, name, source)
        }
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        return try naming(name, source) { () throws(CommandError) in
            let restored = try Interruption.asCommand { () throws(NodeError) in
                try offline.restore(name) { () throws(NodeError) in
                    if isCancelled() { throw NodeError(code: "cancelled", message: "nothing was restored") }
                    guard let count = buffer.withUnsafeMutableBytes({ input.read(into: $0) }) else {
                        throw NodeError(code: "failed", message: input.failure?.message ?? "the copy can't be read")
                    }
                    return count == 0 ? nil : Array(buffer[..<count])
                }
            }
            return try ControlClient.parse(restored.json)
        }
    }
}
