import Glibc
import KithSystem
import Synchronization

/// What a node tells, on standard error where nothing else is said: one event a line, without the content of documents, keys or codes.
///
/// Each area has a level of its own (`--log info`, `--log mesh=debug`). State changes are told at info, attempts at debug.
/// Events that repeat are folded and the rate is bounded (`LogFold`), so that a bad day does not fill a disk. Any thread
/// may log; a line is written with one call, so lines are never mixed.
package final class Log: Sendable {
    package enum Level: String, Comparable, Sendable, CaseIterable {
        case error, warning, info, debug, trace

        var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

        package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
    }

    package enum Area: String, Sendable, CaseIterable {
        case node, mesh, link, store, discovery, control, wire
    }

    /// `LEVEL` of all areas or `AREA=LEVEL` of one.
    package struct Setting: Hashable, Sendable {
        package let level: Level
        /// Nil for all areas.
        package let area: Area?

        /// Nil when a word is neither a level nor an area.
        package init?(_ text: String) {
            let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            guard parts.count <= 2, let last = parts.last, let level = Level(rawValue: last) else { return nil }
            let area = parts.count == 2 ? Area(rawValue: parts[0]) : nil
            guard parts.count == 1 || area != nil else { return nil }
            self.level = level
            self.area = area
        }
    }

    /// What stands behind the sentence as `key=value`, in order. The value of `peer` tells apart whose event it is.
    package typealias Fields = KeyValuePairs<String, String>

    private struct State {
        var base: Level
        var areas: [Area: Level] = [:]
        var fold = LogFold()
        var tail: LogTail

        mutating func set(_ setting: Setting) {
            if let area = setting.area { areas[area] = setting.level } else { base = setting.level }
        }
    }

    private let state: Mutex<State>
    private let format: LogFormat
    private let clock: @Sendable () -> (wall: Int64, monotonic: UInt64)
    private let outputs: [Output]

    /// Takes an event, its time in milliseconds since 1970, and its line with the end, one event at a time; tells whether it
    /// could without waiting.
    package typealias Output = @Sendable (LogEvent, _ time: Int64, _ line: [UInt8]) -> Bool

    /// - Parameters:
    ///   - format: of the lines; that which suits standard error where none is given.
    ///   - clock: the wall clock and one that only goes forward, in milliseconds.
    ///   - keeping: bytes of the last lines that are kept in memory for `recent`.
    ///   - sink: takes whole lines, each with its end, one at a time, and tells whether it could without waiting;
    ///     standard error where none is given.
    package convenience init(
        level: Level = .info, format: LogFormat = .ofStandardError(),
        clock: @escaping @Sendable () -> (wall: Int64, monotonic: UInt64) = {
            (SystemClock().wallMilliseconds, SystemClock().monotonicMilliseconds)
        },
        keeping: Int = 0, sink: @escaping @Sendable ([UInt8]) -> Bool = Log.writeToStandardError
    ) {
        self.init(level: level, format: format, clock: clock, keeping: keeping, outputs: [{ _, _, line in sink(line) }])
    }

    /// The same with any number of outputs.
    package init(
        level: Level, format: LogFormat = .text,
        clock: @escaping @Sendable () -> (wall: Int64, monotonic: UInt64) = {
            (SystemClock().wallMilliseconds, SystemClock().monotonicMilliseconds)
        },
        keeping: Int = 0, outputs: [Output]
    ) {
        state = Mutex(State(base: level, tail: LogTail(keeping)))
        self.format = format
        self.clock = clock
        self.outputs = outputs
    }

    /// The last lines that were written, the oldest first, each with time and level.
    package var recent: [UInt8] { state.withLock { $0.tail.bytes } }

    /// Reads `LEVEL` or `AREA=LEVEL`.
    /// - Returns: false when a word is neither.
    package func configure(_ setting: String) -> Bool {
        guard let setting = Setting(setting) else { return false }
        state.withLock { $0.set(setting) }
        return true
    }

    /// Sets all levels at once: those that no setting names are as at the start.
    /// - Parameter settings: later ones hold before earlier ones.
    package func replace(with settings: [Setting]) {
        state.withLock { state in
            state.base = .info
            state.areas = [:]
            for setting in settings { state.set(setting) }
        }
    }

    /// Whether a line of this level would be written, so that costly ones need not be made.
    package func writes(_ level: Level, _ area: Area) -> Bool {
        state.withLock { level <= ($0.areas[area] ?? $0.base) }
    }

    /// Tells an event.
    /// - Parameters:
    ///   - sentence: what happened, in few words that are the same each time it does; what varies goes into the fields.
    ///   - isFolded: false for what somebody asked for just now, which is written however often.
    package func callAsFunction(
        _ level: Level, _ area: Area, _ sentence: @autoclosure () -> String, _ fields: @autoclosure () -> Fields = [:],
        isFolded: Bool = true
    ) {
        guard writes(level, area) else { return }
        let event = LogEvent(
            level: level, area: area, sentence: sentence(), fields: fields().map { ($0.key, $0.value) })
        write { fold, now in fold.take(event, now: now, isFolded: isFolded) }
    }

    /// Tells of repeats whose time is over. Called every few seconds, and at the end with `all`.
    package func flush(all: Bool = false) {
        write { fold, now in fold.due(now: all ? .max : now) }
    }

    private func write(_ events: (inout LogFold, UInt64) -> [LogEvent]) {
        let (wall, monotonic) = clock()
        // Under the lock, so that lines come out in the order in which they were decided on.
        state.withLock { state in
            if let event = state.fold.leftOut(now: monotonic), put(event, wall, format.line(event, time: wall), &state)
            {
                state.fold.toldOfLost(now: monotonic)
            }
            for event in events(&state.fold, monotonic) {
                let line = format.line(event, time: wall)
                guard state.fold.pays(for: event.level, bytes: line.count, now: monotonic) else { continue }
                if !put(event, wall, line, &state) { state.fold.lose() }
            }
        }
    }

    /// - Returns: whether all outputs took it.
    private func put(_ event: LogEvent, _ time: Int64, _ line: [UInt8], _ state: inout State) -> Bool {
        if state.tail.isKept { state.tail.add(LogFormat.text.line(event, time: time)) }
        var isTaken = true
        for output in outputs where !output(event, time, line) { isTaken = false }
        return isTaken
    }

    /// Writes bytes to standard error. What can't be written, or not without waiting, is lost: a reader of the log that
    /// has stopped reading must not stop the node.
    package static let writeToStandardError: @Sendable ([UInt8]) -> Bool = { write($0, to: STDERR_FILENO) }

    /// - Returns: whether all was written.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            var readiness = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&readiness, 1, 0) == 1, Int32(readiness.revents) & POLLOUT != 0 else { return false }
            // A pipe that is ready takes so many bytes at once.
            let end = min(bytes.count, sent + Int(PIPE_BUF))
            let count = bytes[sent..<end].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                sent += count
            } else if count == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }
}
