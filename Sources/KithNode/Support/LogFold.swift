/// Keeps a log readable and bounded: events that repeat are folded into one line with their number, and what is written
/// keeps to a rate. Pure: the caller has the clock, milliseconds that only go forward.
///
/// The first few of one kind are written, so that a link that comes, goes and comes again is seen to do so. Then they are
/// counted, and the number is told after a while, which grows while they go on: a fault that lasts for hours costs a line
/// a minute at first and then one every ten.
struct LogFold {
    private struct Entry {
        /// The latest of its kind.
        var event: LogEvent
        /// How many of this window were written.
        var written: Int
        /// How many were not, since the last line that told of them.
        var folded: Int
        var windowBegan: UInt64
        var window: UInt64
    }

    private var entries: [String: Entry] = [:]
    /// When the first window of all is over, or earlier: until then there is nothing to look for.
    private var nextDue: UInt64 = .max
    private var budget = LogBudget(
        bytes: LogLimits.burstBytes, bytesPerHour: LogLimits.bytesPerHour)
    /// Errors have a share of their own, which nothing else can use up.
    private var errorBudget = LogBudget(
        bytes: LogLimits.errorBurstBytes, bytesPerHour: LogLimits.errorBytesPerHour)
    /// Lines that were not written since the last that told of it.
    private var lost = 0

    /// Takes an event.
    /// - Returns: what is to be written now: the event, unless it is one too many, and the numbers of others that are due.
    mutating func take(_ event: LogEvent, now: UInt64, isFolded: Bool) -> [LogEvent] {
        var events = due(now: now)
        guard isFolded else { return events + [event] }
        let key = event.key
        guard var entry = entries[key] else {
            if entries.count >= LogLimits.foldedKinds { events += dropOldest(now: now) }
            entries[key] = Entry(
                event: event, written: 1, folded: 0, windowBegan: now, window: LogLimits.firstWindowMilliseconds)
            nextDue = min(nextDue, now + LogLimits.firstWindowMilliseconds)
            return events + [event]
        }
        entry.event = event
        if entry.written < LogLimits.repeatsWritten {
            entry.written += 1
            events.append(event)
        } else {
            entry.folded += 1
        }
        entries[key] = entry
        return events
    }

    /// The numbers that are due: those of kinds whose window is over. A kind that was quiet for a window is forgotten.
    mutating func due(now: UInt64) -> [LogEvent] {
        if now < nextDue { return [] }
        let over = entries.filter { now == .max || now &- $1.windowBegan >= $1.window }
        var events: [LogEvent] = []
        for (key, entry) in over.sorted(by: { ($0.value.windowBegan, $0.key) < ($1.value.windowBegan, $1.key) }) {
            guard entry.folded > 0 else {
                entries[key] = nil
                continue
            }
            events.append(Self.told(entry, now: now))
            // None is written again until a window was quiet: the number tells of them.
            var next = entry
            next.folded = 0
            next.written = LogLimits.repeatsWritten
            next.windowBegan = now
            next.window = min(entry.window * 2, LogLimits.longestWindowMilliseconds)
            entries[key] = now == .max ? nil : next
        }
        nextDue = entries.values.map { $0.windowBegan + $0.window }.min() ?? .max
        return events
    }

    private static func told(_ entry: Entry, now: UInt64) -> LogEvent {
        var event = entry.event
        let seconds = (now == .max ? entry.window : now &- entry.windowBegan) / 1_000
        event.fields.append(("repeated", "\(entry.folded)"))
        event.fields.append(("within_s", "\(seconds)"))
        return event
    }

    private mutating func dropOldest(now: UInt64) -> [LogEvent] {
        let oldest = entries.min { ($0.value.windowBegan, $0.key) < ($1.value.windowBegan, $1.key) }
        guard let oldest else { return [] }
        entries[oldest.key] = nil
        return oldest.value.folded > 0 ? [Self.told(oldest.value, now: now)] : []
    }

    /// How many kinds are remembered.
    var kinds: Int { entries.count }

    // MARK: The rate

    /// Whether a line may be written; what was asked for by a level beyond info always may. Once one could not be, none is
    /// until `leftOut` has told of it.
    mutating func pays(for level: Log.Level, bytes: Int, now: UInt64) -> Bool {
        if level > .info { return true }
        if level == .error, errorBudget.pays(bytes, now: now) { return true }
        if lost == 0, budget.pays(bytes, now: now) { return true }
        lost += 1
        return false
    }

    /// A line could not be written.
    mutating func lose() { lost += 1 }

    /// The line that tells how many were left out, once there is room for it; `toldOfLost` when it was written.
    mutating func leftOut(now: UInt64) -> LogEvent? {
        guard lost > 0, budget.holds(LogLimits.resumeBytes, now: now) else { return nil }
        return LogEvent(
            level: .warning, area: .node, sentence: "lines were left out: the log was at its rate, or its reader slow",
            fields: [("lines", "\(lost)")])
    }

    mutating func toldOfLost(now: UInt64) {
        lost = 0
        _ = budget.pays(LogLimits.noteBytes, now: now)
    }
}

/// Bytes that may be written: so many at once, and so many an hour.
struct LogBudget {
    private let most: Double
    private let perMillisecond: Double
    private var left: Double
    private var filledAt: UInt64?

    init(bytes: Int, bytesPerHour: Int) {
        most = Double(bytes)
        perMillisecond = Double(bytesPerHour) / 3_600_000
        left = most
    }

    private mutating func fill(_ now: UInt64) {
        if let filledAt, now > filledAt { left = min(most, left + Double(now - filledAt) * perMillisecond) }
        filledAt = max(filledAt ?? now, now)
    }

    mutating func holds(_ bytes: Int, now: UInt64) -> Bool {
        fill(now)
        return left >= Double(bytes)
    }

    /// Takes the bytes, if there are so many.
    mutating func pays(_ bytes: Int, now: UInt64) -> Bool {
        guard holds(bytes, now: now) else { return false }
        left -= Double(bytes)
        return true
    }
}

/// The bounds of the log.
package enum LogLimits {
    /// Of one kind so many are written in a window before they are counted: a thing that happens, ends and happens again
    /// is still told.
    static let repeatsWritten = 3
    /// The first window, in milliseconds, doubled while the repeats go on, up to the longest.
    static let firstWindowMilliseconds: UInt64 = 60_000
    static let longestWindowMilliseconds: UInt64 = 600_000
    /// Kinds of events that are remembered; the oldest makes room.
    static let foldedKinds = 512
    /// Bytes that may be written at once: a start with many peers, a dump of the status.
    static let burstBytes = 96 << 10
    /// And in an hour from then on. With those for errors an hour of everything at once stays under 1 MB.
    static let bytesPerHour = 600_000
    static let errorBurstBytes = 32 << 10
    static let errorBytesPerHour = 150_000
    /// Once the rate was reached, lines begin again when there is room for so many bytes, so that they come in runs that
    /// can be read.
    static let resumeBytes = 8 << 10
    /// What the line that tells of it takes at most, in bytes.
    static let noteBytes = 256
    /// Longest sentence or value, in characters: what comes of others is cut there.
    static let valueCharacters = 500
    /// The last lines that are kept in memory for a report of trouble, in bytes: some two thousand, hours of a quiet node.
    package static let recentBytes = 256 << 10
    /// Smallest file of a log, in bytes: smaller ones would be begun anew all the time.
    package static let leastFileBytes = 64 << 10
    /// Lines that wait for the disk, in bytes: more than a start with many peers tells.
    static let waitingFileBytes = 1 << 20
    /// Events that wait for a program's own taker.
    static let waitingEvents = 1_000
}
