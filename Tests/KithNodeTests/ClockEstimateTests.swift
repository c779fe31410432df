import KithSystem
import KithTestSupport
import Testing

@testable import KithNode

/// How far a peer's clock is taken to be off.
@Suite struct ClockEstimateTests {
    @Test func theShortestRoundTripCounts() {
        var clock = ClockEstimate()
        #expect(clock.offsetMilliseconds == nil && clock.certainMilliseconds == 0)
        clock.add(roundTripMilliseconds: 400, offsetMilliseconds: 150)
        clock.add(roundTripMilliseconds: 10, offsetMilliseconds: 20)
        clock.add(roundTripMilliseconds: 900, offsetMilliseconds: -300)
        #expect(clock.offsetMilliseconds == 20 && clock.errorMilliseconds == 6 && clock.certainMilliseconds == 14)
    }

    @Test func anAnswerThatTookLongProvesNothing() {
        var clock = ClockEstimate()
        clock.add(roundTripMilliseconds: 14_000, offsetMilliseconds: 6_900)
        #expect(clock.certainMilliseconds == 0)
        clock.add(roundTripMilliseconds: 4, offsetMilliseconds: 1)
        #expect(clock.certainMilliseconds == 0 && clock.offsetMilliseconds == 1)
    }

    @Test func aClockThatIsSetCountsAtOnce() {
        var clock = ClockEstimate()
        for _ in 0..<8 { clock.add(roundTripMilliseconds: 2, offsetMilliseconds: 86_400_000) }
        clock.add(roundTripMilliseconds: 30, offsetMilliseconds: 5)
        #expect(clock.offsetMilliseconds == 5 && clock.errorMilliseconds == 16)
    }

    @Test func whateverTheTrueOffsetIsItLiesWithinTheError() {
        let seed = UInt64.random(in: 0..<UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let truth = Int64.random(in: -1_000_000_000...1_000_000_000, using: &random)
            var clock = ClockEstimate()
            for _ in 0..<12 {
                // The way there and the way back take what they take; the peer reads its clock in between.
                let there = Int64.random(in: 0...3_000, using: &random)
                let back = Int64.random(in: 0...3_000, using: &random)
                clock.add(
                    roundTripMilliseconds: UInt64(there + back),
                    offsetMilliseconds: truth - back + (there + back) / 2)
            }
            let offset = clock.offsetMilliseconds ?? 0
            let error = clock.errorMilliseconds ?? 0
            #expect((offset - truth).magnitude <= error.magnitude)
            #expect(clock.certainMilliseconds <= truth.magnitude)
        }
    }

    @Test func aPeerMaySayAnyTimeThereIs() {
        for offset in [Int64.min, .max, 0, -1] {
            var clock = ClockEstimate()
            clock.add(roundTripMilliseconds: .max, offsetMilliseconds: offset)
            clock.add(roundTripMilliseconds: 0, offsetMilliseconds: .min)
            clock.add(roundTripMilliseconds: 3, offsetMilliseconds: .max)
            #expect(clock.offsetMilliseconds == .max)
            #expect(!Node.span(offset).isEmpty)
        }
    }

    @Test func aSpanIsSaidInOneUnit() {
        let spans: [(Int64, String)] = [
            (-61_000, "61 s"), (1_200_000, "20 min"), (10_800_000, "3 h"), (5 * 86_400_000, "5 days"),
            (-315_360_000_000, "9 years"),
        ]
        for (milliseconds, text) in spans { #expect(Node.span(milliseconds) == text) }
    }

    @Test func aClockThatIsSetDoesNotShortenWhatIsToLast() {
        let clock = SteadyClock(.system)
        let before = clock.read()
        #expect(abs(before - SystemClock().wallMilliseconds) < 60_000)
        #expect(clock.read() >= before)
    }
}
