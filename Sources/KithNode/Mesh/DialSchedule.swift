import KithReplication

#if KITH_MUTANTS
import KithSystem
#endif

/// When to dial whom: one attempt at a time for each target, waits that double with each failure, and a limit on the
/// attempts under way in all.
///
/// A target is a node, or an address of the static list whose node is not known yet. A connection that ends again soon
/// counts as a failure, so that a peer who turns this node away is not dialled in a circle.
package struct DialSchedule<Target: Hashable & Comparable & Sendable>: Sendable {
    private enum State: Sendable {
        case waiting(until: Instant, failures: Int)
        case dialling(failures: Int)
        case connected(since: Instant, failures: Int)

        var failures: Int {
            switch self {
            case .waiting(_, let failures), .dialling(let failures), .connected(_, let failures): failures
            }
        }
    }

    private var states: [Target: State] = [:]
    private let random: @Sendable () -> UInt64

    /// - Parameter random: draws the jitter.
    package init(random: @escaping @Sendable () -> UInt64) { self.random = random }

    /// The targets to dial now, which count as being dialled from here on.
    /// - Parameter wanted: the targets without a link, those first that matter most; of others failures are forgotten after
    ///   a while.
    package mutating func due(_ wanted: [Target], now: Instant) -> [Target] {
        let all = Set(wanted)
        states = states.filter { target, state in
            guard case .waiting(let until, _) = state, !all.contains(target) else { return true }
            return now.milliseconds(since: until) < NodeLimits.failuresKeptMilliseconds
        }
        var room = NodeLimits.simultaneousDials - states.values.count { if case .dialling = $0 { true } else { false } }
        var due: [Target] = []
        for target in wanted where room > 0 {
            #if KITH_MUTANTS
            if Mutant.isActive(.givesUpDialling), failures(of: target) >= 4 { continue }
            #endif
            switch states[target] {
            case .dialling: continue
            case .waiting(let until, _) where until > now: continue
            default: break
            }
            states[target] = .dialling(failures: failures(of: target))
            due.append(target)
            room -= 1
        }
        return due
    }

    /// The next moment at which a wait ends; nil when nothing waits. What is due already waits for the end of another
    /// dial, or is not wanted.
    package func nextDeadline(after now: Instant) -> Instant? {
        states.values.compactMap { if case .waiting(let until, _) = $0, until > now { until } else { nil } }.min()
    }

    /// How often a target failed in a row.
    package func failures(of target: Target) -> Int { states[target]?.failures ?? 0 }

    package mutating func failed(_ target: Target, now: Instant) {
        let failures = failures(of: target) + 1
        let exponent = UInt64(min(failures - 1, 16))
        #if KITH_MUTANTS
        let longest =
            Mutant.isActive(.backsOffWithoutBound)
            ? NodeLimits.firstDialDelayMilliseconds << exponent
            : min(NodeLimits.firstDialDelayMilliseconds << exponent, NodeLimits.longestDialDelayMilliseconds)
        #else
        let longest = min(NodeLimits.firstDialDelayMilliseconds << exponent, NodeLimits.longestDialDelayMilliseconds)
        #endif
        let wait = longest / 2 + random() % (longest / 2 + 1)
        states[target] = .waiting(until: now.advanced(byMilliseconds: wait), failures: failures)
    }

    /// A link is up, whoever dialled.
    package mutating func connected(_ target: Target, now: Instant) {
        states[target] = .connected(since: now, failures: failures(of: target))
    }

    /// The link ended. One that lived for a while is made again at once.
    package mutating func lost(_ target: Target, now: Instant) {
        guard case .connected(let since, _) = states[target] else { return }
        if now.milliseconds(since: since) >= NodeLimits.steadyLinkMilliseconds {
            states[target] = nil
        } else {
            failed(target, now: now)
        }
    }

    /// Nothing more is to be done about a target: an address whose node is known by now.
    package mutating func forget(_ target: Target) { states[target] = nil }

    /// A target is not dialled before that time, unless something new is known of it.
    package mutating func putOff(_ target: Target, until time: Instant) {
        states[target] = .waiting(until: time, failures: failures(of: target) + 1)
    }

    /// Something new is known of a target, such as another address: it is dialled at once.
    package mutating func hasten(_ target: Target, now: Instant) {
        if case .waiting(_, let failures) = states[target] { states[target] = .waiting(until: now, failures: failures) }
    }

    /// The network is another: what failed before says nothing any more, and whoever waits is dialled at once.
    package mutating func startOver() {
        states = states.filter { if case .waiting = $0.value { false } else { true } }
    }
}
