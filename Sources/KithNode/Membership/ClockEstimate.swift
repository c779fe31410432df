/// How far a peer's clock is from this node's, from what its pongs said.
///
/// An answer that took long says little: the peer may have read its clock at any moment of it. So the measurement with the
/// shortest round trip of the last few counts, and it is never taken for more exact than half of that.
package struct ClockEstimate: Hashable, Sendable {
    package struct Sample: Hashable, Sendable {
        package let roundTripMilliseconds: UInt64
        /// The peer's clock less this node's.
        package let offsetMilliseconds: Int64
    }

    /// Measurements that count: at one in five seconds, those of the last forty.
    private static let samples = 8
    private var samples: [Sample] = []

    package init() {}

    /// Takes in a measurement. Where it can't be true together with the one that counted, a clock was set: those before
    /// are forgotten.
    package mutating func add(roundTripMilliseconds: UInt64, offsetMilliseconds: Int64) {
        let sample = Sample(roundTripMilliseconds: roundTripMilliseconds, offsetMilliseconds: offsetMilliseconds)
        if let best, !Self.agree(best, sample) { samples = [] }
        samples.append(sample)
        if samples.count > Self.samples { samples.removeFirst() }
    }

    private var best: Sample? { samples.min { $0.roundTripMilliseconds < $1.roundTripMilliseconds } }

    /// The offset in milliseconds, positive where the peer is ahead; nil before the first measurement.
    package var offsetMilliseconds: Int64? { best?.offsetMilliseconds }

    /// By how much that may be wrong, in milliseconds: half of the round trip, and one for the clocks' own steps.
    package var errorMilliseconds: Int64? { best.map { Self.error($0) } }

    /// The least by which the clocks differ for certain; 0 where they may be the same.
    package var certainMilliseconds: UInt64 {
        guard let best else { return 0 }
        let error = UInt64(Self.error(best))
        return best.offsetMilliseconds.magnitude > error ? best.offsetMilliseconds.magnitude - error : 0
    }

    private static func error(_ sample: Sample) -> Int64 {
        Int64(clamping: min(sample.roundTripMilliseconds / 2, UInt64(Int64.max) - 1) + 1)
    }

    private static func agree(_ one: Sample, _ other: Sample) -> Bool {
        let (difference, overflow) = one.offsetMilliseconds.subtractingReportingOverflow(other.offsetMilliseconds)
        return !overflow && difference.magnitude <= UInt64(error(one)) + UInt64(error(other))
    }
}
