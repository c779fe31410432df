import KithReplication

/// When to dial whom: one attempt at a time for each target, waits that double with each failure, and a limit on the
/// attempts under way in all.
///
/// A target is a node, or an address of the static list whose node is not known yet.
package struct DialSchedule<Target: Hashable & Comparable & Sendable>: Sendable {
    private enum State: Sendable {
        case waiting(until: Instant, failures: Int)
        case dialling(failures: Int)
    }

    private var states: [Target: State] = [:]
    private let random: @Sendable () -> UInt64

    /// - Parameter random: draws the jitter.
    package init(random: @escaping @Sendable () -> UInt64) { self.random = random }

    /// The targets to dial now, which count as being dialled from here on.
    /// - Parameter wanted: the targets without a link; others are forgotten.
    package mutating func due(_ wanted: [Target], now: Instant) -> [Target] {
        let wantedSet = Set(wanted)
        states = states.filter { target, state in
            if case .dialling = state { return true }
            return wantedSet.contains(target)
        }
        var room = NodeLimits.simultaneousDials - states.values.count { if case .dialling = $0 { true } else { false } }
        var due: [Target] = []
        for target in wantedSet.sorted() where room > 0 {
            let failures: Int
            switch states[target] {
            case nil: failures = 0
            case .waiting(let until, let count) where until <= now: failures = count
            default: continue
            }
            states[target] = .dialling(failures: failures)
            due.append(target)
            room -= 1
        }
        return due
    }

    /// The next moment at which `due` may give something; nil when nothing waits.
    package var nextDeadline: Instant? {
        states.values.compactMap { if case .waiting(let until, _) = $0 { until } else { nil } }.min()
    }

    /// How often a target failed in a row.
    package func failures(of target: Target) -> Int {
        switch states[target] {
        case .waiting(_, let failures), .dialling(let failures): failures
        case nil: 0
        }
    }

    package mutating func failed(_ target: Target, now: Instant) {
        let failures = failures(of: target) + 1
        let exponent = UInt64(min(failures - 1, 16))
        let longest = min(NodeLimits.firstDialDelayMilliseconds << exponent, NodeLimits.longestDialDelayMilliseconds)
        let wait = longest / 2 + random() % (longest / 2 + 1)
        states[target] = .waiting(until: now.advanced(byMilliseconds: wait), failures: failures)
    }

    /// A link came up, whoever dialled: the next loss starts with short waits again.
    package mutating func succeeded(_ target: Target) { states[target] = nil }

    /// Something new is known of a target, such as another address: it is dialled at once.
    package mutating func hasten(_ target: Target, now: Instant) {
        if case .waiting(_, let failures) = states[target] { states[target] = .waiting(until: now, failures: failures) }
    }

    /// Everything is as on the first day: the network is another. Attempts under way were given up.
    package mutating func startOver() { states = [:] }
}
