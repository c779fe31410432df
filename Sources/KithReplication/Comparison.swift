internal import KithDocument

/// Whether two databases are equal, as one side of a session finds out: their digests at one pair of positions, at which
/// nothing is outstanding either way.
///
/// Digests that differ settle for a moment, since the last message may still be on its way; then the documents that
/// either side leaves out are subtracted; and what differs still is reconciled.
struct Comparison {
    struct Pair: Hashable {
        let mine: DatabaseState
        let theirs: DatabaseState

        static func == (left: Self, right: Self) -> Bool {
            left.mine.position == right.mine.position && left.mine.digest == right.mine.digest
                && left.theirs.position == right.theirs.position && left.theirs.digest == right.theirs.digest
        }
    }

    enum State {
        /// There is no pair to compare.
        case open
        case equal(Pair)
        /// The digests differ; looked at again at the time.
        case settling(Pair, until: Instant)
        /// The documents left out are asked for, here and there.
        case comparing(Pair)
        /// They differ by more than what is left out; reconciled again at the time.
        case different(Pair, until: Instant)
    }

    var state = State.open
    /// How many documents either side left out when the two were last compared.
    private(set) var leftOut: (here: Int, byPeer: Int)?
    /// The last pair that differed, and until when it is not reconciled again.
    private var different: Pair?
    private var notBefore = Instant(milliseconds: 0)
    private var fruitless = 0

    /// Nil while nothing can be said.
    var isEqual: Bool? {
        switch state {
        case .equal: true
        case .different: false
        case .open, .settling, .comparing: nil
        }
    }

    /// Takes note of the present pair; nil when something is outstanding.
    mutating func update(_ pair: Pair?, now: Instant) {
        guard let pair else {
            state = .open
            return
        }
        if pair.mine.digest == pair.theirs.digest {
            fruitless = 0
            leftOut = (0, 0)
            state = .equal(pair)
            return
        }
        switch state {
        case .equal(let known), .settling(let known, _), .comparing(let known), .different(let known, _):
            if known == pair { return }
        case .open: break
        }
        if pair == different, now < notBefore {
            state = .different(pair, until: notBefore)
            return
        }
        settleAgain(pair, now: now)
    }

    mutating func settleAgain(_ pair: Pair, now: Instant) {
        state = .settling(pair, until: now.advanced(byMilliseconds: ReplicationLimits.settleMilliseconds))
    }

    /// The digests without what is left out.
    /// - Parameter leftOut: how many documents that is on either side; nil when not known.
    /// - Returns: whether to reconcile now.
    mutating func conclude(
        _ pair: Pair, isEqual: Bool, leftOut: (here: Int, byPeer: Int)?, now: Instant
    ) -> Bool {
        self.leftOut = leftOut
        if isEqual {
            fruitless = 0
            state = .equal(pair)
            return false
        }
        different = pair
        let mayReconcile = notBefore <= now
        if mayReconcile {
            let wait = ReplicationLimits.reconcileMilliseconds << UInt64(min(fruitless, 10))
            notBefore = now.advanced(byMilliseconds: min(wait, ReplicationLimits.maximumReconcileMilliseconds))
            fruitless += 1
        }
        state = .different(pair, until: notBefore)
        return mayReconcile
    }

    var deadline: Instant? {
        switch state {
        case .settling(_, let until), .different(_, let until): until
        case .open, .equal, .comparing: nil
        }
    }
}
