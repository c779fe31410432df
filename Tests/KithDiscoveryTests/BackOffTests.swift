import KithTestSupport
import Testing

@testable import KithDiscovery

@Suite struct BackOffTests {
    @Test func pausesDoubleToTheCapAndAreDrawnFromTheUpperHalf() {
        for seed in 0..<200 {
            var random = SeededGenerator(seed: UInt64(seed))
            var backOff = BackOff(initialMilliseconds: 500, maximumMilliseconds: 30_000)
            for whole: UInt64 in [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000] {
                let pause = backOff.next(using: &random)
                #expect(pause >= whole / 2 && pause <= whole, "seed \(seed)")
            }
        }
    }

    @Test func pausesDiffer() {
        var random = SeededGenerator(seed: 1)
        let pauses = (0..<50).map { _ in
            var backOff = BackOff(initialMilliseconds: 500, maximumMilliseconds: 30_000)
            return backOff.next(using: &random)
        }
        #expect(Set(pauses).count > 20)
    }

    @Test func aResetBeginsAgain() {
        var random = SeededGenerator(seed: 2)
        var backOff = BackOff(initialMilliseconds: 500, maximumMilliseconds: 30_000)
        for _ in 0..<10 { _ = backOff.next(using: &random) }
        backOff.reset()
        let pause = backOff.next(using: &random)
        #expect(pause <= 500)
    }

    @Test func manyFailuresAndExtremeBoundsDoNotTrap() {
        var random = SeededGenerator(seed: 3)
        var backOff = BackOff(initialMilliseconds: 0, maximumMilliseconds: UInt64.max / 2)
        for _ in 0..<1_000 { _ = backOff.next(using: &random) }
        #expect(backOff.failures == 1_000)
    }
}
