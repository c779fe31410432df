import Glibc
import Synchronization

/// What a node tells on standard error: one event a line, without the content of documents, without keys.
///
/// Each area has a level of its own (`--log info`, `--log mesh=debug`). Under a service manager (`JOURNAL_STREAM`) a
/// line begins with its priority as `<3>` to `<7>` and has no time; elsewhere it begins with the time.
package final class Log: Sendable {
    package enum Level: String, Comparable, Sendable, CaseIterable {
        case error, warning, info, debug, trace

        fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

        fileprivate var priority: Int { [3, 4, 6, 7, 7][rank] }

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

    private struct State {
        var base: Level
        var areas: [Area: Level] = [:]
        /// The last line and how often it was repeated since: repeats are folded.
        var last = ""
        var repeats = 0

        mutating func set(_ setting: Setting) {
            if let area = setting.area { areas[area] = setting.level } else { base = setting.level }
        }
    }

    private let state: Mutex<State>
    private let isJournal: Bool

    package init(level: Level = .info) {
        state = Mutex(State(base: level))
        isJournal = getenv("JOURNAL_STREAM") != nil
    }

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

    package func callAsFunction(_ level: Level, _ area: Area, _ message: @autoclosure () -> String) {
        guard writes(level, area) else { return }
        let line = "\(area.rawValue): \(message())"
        let lines = state.withLock { state -> [String] in
            if line == state.last {
                state.repeats += 1
                return []
            }
            let folded = state.repeats > 0 ? ["\(state.last) (\(state.repeats) more times)"] : []
            state.last = line
            state.repeats = 0
            return folded + [line]
        }
        for line in lines { write(level, line) }
    }

    private func write(_ level: Level, _ line: String) {
        let start =
            isJournal
            ? "<\(level.priority)>"
            : "\(Timestamp.text(ofMilliseconds: SystemClock.wallMilliseconds)) \(level.rawValue) "
        let bytes = Array((start + line + "\n").utf8)
        bytes.withUnsafeBytes { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
