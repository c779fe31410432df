/// Which machines can't reach which, from when to when, each direction for itself.
struct Partitions {
    private struct Cut {
        let until: UInt64
        /// How long it is closed and then open, in microseconds; 0 for one that stays closed.
        let period: UInt64
        let since: UInt64

        func holds(at time: UInt64) -> Bool {
            time >= since && time < until && (period == 0 || (time - since) / period % 2 == 0)
        }

        /// When it next opens or closes after a time; nil for never.
        func nextChange(after time: UInt64) -> UInt64? {
            if time < since { return since }
            if time >= until { return nil }
            return period == 0 ? until : min(until, since + ((time - since) / period + 1) * period)
        }
    }

    private struct Direction: Hashable {
        let from: Int
        let to: Int
    }

    private var cuts: [Direction: [Cut]] = [:]

    /// Cuts one direction.
    mutating func cut(from: Int, to: Int, since: UInt64, until: UInt64, period: UInt64 = 0) {
        cuts[Direction(from: from, to: to), default: []].append(Cut(until: until, period: period, since: since))
    }

    /// Cuts each direction between machines on different sides.
    mutating func separate(
        machines: Range<Int>, since: UInt64, until: UInt64, where isApart: (Int, Int) -> Bool
    ) {
        for from in machines {
            for to in machines where from != to && isApart(from, to) {
                cut(from: from, to: to, since: since, until: until)
            }
        }
    }

    var isEmpty: Bool { cuts.isEmpty }

    func isCut(from: Int, to: Int, at time: UInt64) -> Bool {
        guard !cuts.isEmpty, let all = cuts[Direction(from: from, to: to)] else { return false }
        return all.contains { $0.holds(at: time) }
    }

    /// The next time after `time` at which one direction may open; nil where it is not cut.
    func nextOpening(from: Int, to: Int, after time: UInt64) -> UInt64? {
        guard let all = cuts[Direction(from: from, to: to)] else { return nil }
        return all.filter { $0.holds(at: time) }.compactMap { $0.nextChange(after: time) }.min()
    }

    mutating func heal() { cuts = [:] }
}
