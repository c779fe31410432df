/// Since when each check holds, and what began or ended with the last look. Pure: the caller has the clock.
struct HealthLedger {
    /// A check that began, got another level, or ended.
    enum Change: Hashable {
        case appeared(HealthFinding)
        case gone(HealthCode, afterMilliseconds: Int64)
    }

    private struct Entry {
        let since: Int64
        let level: ControlStatus.Level
    }

    private var entries: [HealthCode: Entry] = [:]

    /// The checks that held when it was last looked, in the table's order.
    var present: [HealthCode] { HealthCode.allCases.filter { entries[$0] != nil } }

    /// Takes what was found now.
    /// - Parameter now: milliseconds since 1970. Where the clock was set back a check has lasted no time at least.
    /// - Returns: the checks, the worst first and else in the order found, and what changed, in the table's order.
    mutating func take(_ found: [HealthFinding], now: Int64) -> (checks: [ControlStatus.Check], changes: [Change]) {
        var changes: [Change] = []
        for code in HealthCode.allCases {
            let worst = found.filter { $0.code == code }.max { $0.level.rank < $1.level.rank }
            switch (entries[code], worst) {
            case (nil, nil): continue
            case (let entry?, nil):
                changes.append(.gone(code, afterMilliseconds: max(0, now - entry.since)))
                entries[code] = nil
            case (nil, let finding?):
                changes.append(.appeared(finding))
                entries[code] = Entry(since: now, level: finding.level)
            case (let entry?, let finding?):
                if finding.level != entry.level {
                    changes.append(.appeared(finding))
                    entries[code] = Entry(since: entry.since, level: finding.level)
                }
            }
        }
        let checks = found.map { finding in
            ControlStatus.Check(
                code: finding.code.rawValue, level: finding.level, summary: finding.summary, action: finding.action,
                since: entries[finding.code]?.since)
        }
        let ordered = [ControlStatus.Level.critical, .warning, .ok].flatMap { level in
            checks.filter { $0.level == level }
        }
        return (ordered, changes)
    }
}

extension ControlStatus.Level {
    /// 0 for what is well, 1 for a warning, 2 for what is critical: as monitoring counts.
    var rank: Int {
        switch self {
        case .ok: 0
        case .warning: 1
        case .critical: 2
        }
    }
}
