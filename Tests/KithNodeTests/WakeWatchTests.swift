import KithNode
import Testing

/// Sleep and standstill, from the readings of two clocks.
@Suite struct WakeWatchTests {
    private func gap(monotonic: UInt64, boot: UInt64) -> WakeWatch.Gap? {
        var watch = WakeWatch(longestPauseMilliseconds: 5_000)
        let first = watch.look(monotonic: 100_000, boot: 900_000)
        #expect(first == nil)
        return watch.look(monotonic: 100_000 + monotonic, boot: 900_000 + boot)
    }

    @Test func ordinaryLooksSayNothing() {
        #expect(gap(monotonic: 5_000, boot: 5_000) == nil)
        #expect(gap(monotonic: 9_000, boot: 9_010) == nil, "a busy machine is late")
    }

    @Test func aMachineThatSleptIsSeenByTheClockThatCountsIt() {
        #expect(gap(monotonic: 1_000, boot: 61_000) == .slept(60_000))
    }

    @Test func aProcessThatStoodStillIsSeenByALookThatComesLate() {
        #expect(gap(monotonic: 180_000, boot: 180_000) == .stopped(180_000))
    }

    @Test func eachGapIsToldOnceAndClocksThatDoNotMoveHarmNothing() {
        var watch = WakeWatch(longestPauseMilliseconds: 5_000)
        var told: [WakeWatch.Gap?] = []
        for (monotonic, boot) in [(1_000, 1_000), (2_000, 100_000), (3_000, 101_000), (3_000, 101_000), (3_000, 50)] {
            told.append(watch.look(monotonic: UInt64(monotonic), boot: UInt64(boot)))
        }
        #expect(told == [nil, .slept(98_000), nil, nil, nil])
    }
}
