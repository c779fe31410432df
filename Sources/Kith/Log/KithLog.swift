import KithNode

/// What a node, or a database that a program opens alone, tells of its life: one event after the other, each with a domain and
/// a level.
///
///     let log = try KithLog(level: .info, domains: [.mesh: .debug], to: .console, .file(folder.appending(path: "app.log")))
///     var options = NodeOptions()
///     options.log = log
///
/// Nothing of a document's content is in it, no key and no code; documents are named by a tag of their id. It does have the names
/// of databases and nodes, and addresses. Events that repeat are folded into one with their number, and what is told at
/// `info` and above keeps to a rate, so that a bad day does not fill a disk.
///
/// Nobody who is told of waits for a sink: what is slow loses events, and is told how many. Any thread may use it, and several
/// nodes and databases one.
public final class KithLog: Sendable {
    /// How much a level tells: each has what those before it have.
    public enum Level: String, Sendable, CaseIterable, Comparable {
        /// Something fails, and a person should look.
        case error
        /// Something is not as it should be, and work goes on.
        case warning
        /// What has changed: peers that come and go, checks that begin and end.
        case info
        /// Attempts, with their reasons.
        case debug
        /// Everything.
        case trace

        /// By how much they tell.
        public static func < (left: Self, right: Self) -> Bool { left.level < right.level }

        var level: Log.Level { Log.Level(rawValue: rawValue) ?? .trace }
    }

    /// What an event is about.
    public enum Domain: String, Sendable, CaseIterable {
        /// The node itself: start and end, membership, health.
        case node
        /// Who is connected to whom.
        case mesh
        /// Single links.
        case link
        /// Databases and their files.
        case store
        /// Looking for others.
        case discovery
        /// What is asked by commands.
        case control
        /// Messages of links.
        case wire

        var area: Log.Area { Log.Area(rawValue: rawValue) ?? .node }
    }

    let log: Log
    private let sinks: [Sink]

    /// - Parameters:
    ///   - level: of the domains that `domains` does not name.
    ///   - domains: those that have a level of their own.
    ///   - sinks: where events go; the console where none is named.
    public init(level: Level = .warning, domains: [Domain: Level] = [:], to sinks: Sink...) {
        let sinks = sinks.isEmpty ? [.console] : sinks
        self.sinks = sinks
        log = Log(level: level.level, keeping: LogLimits.recentBytes, outputs: sinks.map(\.output))
        for (domain, level) in domains { set(level, for: domain) }
    }

    /// Sets what is told from now on.
    /// - Parameters:
    ///   - level: the last that is told.
    ///   - domain: nil for all that have no level of their own.
    public func set(_ level: Level, for domain: Domain? = nil) {
        _ = log.configure(domain.map { "\($0.rawValue)=\(level.rawValue)" } ?? level.rawValue)
    }

    /// Returns when the sinks have what was told before; what repeats were counted is told now. It is not on disk for certain.
    public func flush() async {
        log.flush(all: true)
        for sink in sinks { await sink.flush() }
    }
}

extension KithLog: Hashable {
    /// Whether they are one log.
    public static func == (left: KithLog, right: KithLog) -> Bool { left === right }

    /// By which log it is.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
