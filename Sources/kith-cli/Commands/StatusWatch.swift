import Dispatch
import Glibc
import KithDocument
import KithNode

/// `kith status --watch`: redraws in place on a terminal, and prints a line of JSON for each change otherwise. The node
/// tells of changes; only ages are counted here.
enum StatusWatch {
    /// What is shown of each status.
    enum View: Sendable {
        case whole
        /// What is not well, in one line when all is.
        case brief
        /// One peer, by its name or the beginning of its id.
        case peer(String)
    }

    /// Goes on until the node ends or a signal comes.
    /// - Throws: `CommandError`: the peer is not known, or the node has ended.
    static func run(_ client: ControlClient, _ terminal: Terminal, _ view: View, asJSON: Bool) throws(CommandError) {
        if terminal.width == nil || asJSON {
            Output.endWithReader()
            return try follow(client, ChangeLines(view))
        }
        if terminal.isDumb { return try follow(client, PlainFrames(view, terminal)) }
        let screen = WatchScreen(view, colour: terminal.colour)
        screen.begin()
        defer { screen.end() }
        try follow(client, screen)
    }

    private static func follow(_ client: ControlClient, _ watcher: some StatusWatcher) throws(CommandError) {
        var isFirst = true
        var failure: CommandError?
        do throws(CommandError) {
            try client.lines("GET", ["status"], query: [("watch", "true")]) { line in
                guard let status = try? JSONValue(parsing: line) else { return true }
                do throws(CommandError) {
                    try watcher.show(status, line)
                } catch {
                    // Who is not known yet may come; who was never known was mistyped.
                    if isFirst { failure = error }
                }
                isFirst = false
                return failure == nil
            }
        } catch {
            if isFirst { throw error }
        }
        if let failure { throw failure }
        throw CommandError("the node has ended; start it again with: kith start", status: ExitStatus.noNode)
    }
}

/// Who shows the statuses of a watch.
protocol StatusWatcher {
    /// - Parameter line: the status as it came.
    /// - Throws: `CommandError` where the peer asked for is not known.
    func show(_ status: JSONValue, _ line: [UInt8]) throws(CommandError)
}

/// A line of JSON for each change, for programs.
private final class ChangeLines: StatusWatcher {
    private let view: StatusWatch.View
    private var filter = ChangeFilter()

    init(_ view: StatusWatch.View) { self.view = view }

    func show(_ status: JSONValue, _ line: [UInt8]) throws(CommandError) {
        var (value, text) = (status, line)
        if case .peer(let name) = view {
            value = try StatusCommands.peer(name, of: status)
            text = value.canonicalBytes
        }
        guard filter.isChange(value) else { return }
        Output.write(text + [UInt8(ascii: "\n")])
        Output.flush()
    }
}

/// The texts one below the other, for a terminal that can't move its cursor.
private final class PlainFrames: StatusWatcher {
    private let view: StatusWatch.View
    private let terminal: Terminal
    private var filter = ChangeFilter()

    init(_ view: StatusWatch.View, _ terminal: Terminal) {
        self.view = view
        self.terminal = terminal
    }

    func show(_ status: JSONValue, _ line: [UInt8]) throws(CommandError) {
        let lines = try view.lines(status, width: terminal.width, colour: terminal.colour, now: nil)
        guard filter.isChange(status) else { return }
        for line in lines + [""] { Output.line(line) }
        Output.flush()
    }
}

/// Tells what is a change: more than what moves while nothing happens.
struct ChangeFilter {
    /// Times, measurements, sizes and counts that move by themselves.
    private static let moving: Set<String> = [
        "generated_at", "last_exchange_at", "round_trip_ms", "clock_offset_ms", "clock_error_ms", "sent_bytes",
        "received_bytes", "last_tried_at", "last_at", "count", "strangers", "free_bytes", "bytes", "wal_bytes",
        "oldest_reader_ms",
    ]
    /// Texts for people: their numbers move, and stand elsewhere where they matter.
    private static let texts: Set<String> = ["summary", "reason", "last_error"]

    private var last: JSONValue?

    /// Whether a value differs from the one before.
    mutating func isChange(_ value: JSONValue) -> Bool {
        let steady = Self.steady(value)
        defer { last = steady }
        return steady != last
    }

    private static func steady(_ value: JSONValue) -> JSONValue {
        if let elements = value.array { return .array(elements.map(steady)) }
        guard let object = value.object else { return value }
        var kept = object
        for name in object.keys {
            if moving.contains(name) {
                kept[name] = nil
            } else if texts.contains(name), let text = object[name]?.string {
                kept[name] = JSONValue(text.filter { !$0.isNumber })
            } else if name == "inbound_at" {
                // Every connection moves it; only the first is news.
                kept[name] = .bool(object[name] != .null)
            } else {
                kept[name] = object[name].map(steady)
            }
        }
        return .object(kept)
    }
}

extension StatusWatch.View {
    /// The text of a status.
    func lines(_ status: JSONValue, width: Int?, colour: Bool, now: Int64?) throws(CommandError) -> [String] {
        let now = now ?? status["generated_at"]?.time
        switch self {
        case .whole: return StatusRenderer(status, width: width, colour: colour, now: now).lines()
        case .brief: return StatusRenderer(status, width: width, colour: colour, now: now).brief()
        case .peer(let name):
            let peer = try StatusCommands.peer(name, of: status)
            return PeerRenderer(peer, now: now, width: width, colour: colour).lines()
        }
    }
}
