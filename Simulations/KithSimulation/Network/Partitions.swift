/// Which nodes can't reach which, from when to when.
struct Partitions {
    private struct Cut {
        let from: Int
        let to: Int
        let until: UInt64
        /// How long it is closed and then open, in microseconds; 0 for one that stays closed.
        let period: UInt64
        let since: UInt64
    }

    private var cuts: [Cut] = []

    /// Cuts one direction.
    mutating func cut(from: Int, to: Int, since: UInt64, until: UInt64, period: UInt64 = 0) {
        cuts.append(Cut(from: from, to: to, until: until, period: period, since: since))
    }

    /// Cuts each direction between nodes on different sides.
    mutating func separate(nodes: Int, since: UInt64, until: UInt64, where isApart: (Int, Int) -> Bool) {
        for from in 0..<nodes {
            for to in 0..<nodes where from != to && isApart(from, to) {
                cut(from: from, to: to, since: since, until: until)
            }
        }
    }

    func isCut(from: Int, to: Int, at time: UInt64) -> Bool {
        cuts.contains { cut in
            cut.from == from && cut.to == to && time < cut.until
                && (cut.period == 0 || (time - cut.since) / cut.period % 2 == 0)
        }
    }

    /// The next time after `time` at which something opens; nil when nothing is cut.
    func nextOpening(after time: UInt64) -> UInt64? {
        cuts.lazy.filter { time < $0.until }.map { cut in
            cut.period == 0 ? cut.until : min(cut.until, cut.since + ((time - cut.since) / cut.period + 1) * cut.period)
        }.min()
    }

    mutating func heal() { cuts = [] }

    mutating func forgetEnded(at time: UInt64) { cuts.removeAll { $0.until <= time } }
}
