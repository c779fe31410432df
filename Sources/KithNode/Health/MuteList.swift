/// Checks that somebody has seen and wants to hear no more of for a while; kept across restarts.
///
/// A muted check is shown as muted and counts for nothing. It is muted until its time is over or it gets worse than it was
/// when it was muted: what was accepted as a warning is not accepted as critical.
struct MuteList: Hashable {
    struct Mute: Hashable {
        let code: HealthCode
        /// Milliseconds since 1970.
        let until: Int64
        /// The worst level that is muted.
        let level: ControlStatus.Level
    }

    /// In the table's order.
    private(set) var mutes: [Mute] = []

    init() {}

    /// Reads what `lines` gave; a line that can't be read is passed over.
    init(lines: [String]) {
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, let code = HealthCode(rawValue: words[0]), let until = Int64(words[1]),
                let level = ControlStatus.Level(rawValue: words[2])
            else { continue }
            set(Mute(code: code, until: until, level: level))
        }
    }

    /// `CODE UNTIL LEVEL` each.
    var lines: [String] { mutes.map { "\($0.code.rawValue) \($0.until) \($0.level.rawValue)" } }

    mutating func set(_ mute: Mute) {
        clear(mute.code)
        mutes.append(mute)
        let order = HealthCode.allCases
        mutes.sort { order.firstIndex(of: $0.code)! < order.firstIndex(of: $1.code)! }
    }

    /// Ends the mute of one check, or for nil all.
    mutating func clear(_ code: HealthCode?) { mutes.removeAll { code == nil || $0.code == code } }

    /// Marks the checks that are muted, and drops mutes that are over or whose check has got worse.
    mutating func apply(to checks: [ControlStatus.Check], now: Int64) -> [ControlStatus.Check] {
        mutes.removeAll { mute in
            mute.until <= now
                || checks.contains { $0.code == mute.code.rawValue && $0.level.rank > mute.level.rank }
        }
        return checks.map { check in
            var check = check
            check.mutedUntil = mutes.first { $0.code.rawValue == check.code }?.until
            return check
        }
    }
}
