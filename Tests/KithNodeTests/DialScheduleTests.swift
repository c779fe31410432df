import KithDiscovery
import KithDocument
import KithNetwork
import KithNode
import KithReplication
import KithTestSupport
import Synchronization
import Testing

@Suite struct DialScheduleTests {
    private func schedule() -> DialSchedule<String> { DialSchedule { 0 } }

    @Test func aTargetIsDialledAtOnceAndThenAtGrowingIntervals() throws {
        var schedule = schedule()
        var now = Instant(milliseconds: 0)
        var waits: [UInt64] = []
        for _ in 0..<8 {
            #expect(schedule.due(["a"], now: now) == ["a"])
            #expect(schedule.due(["a"], now: now) == [])
            schedule.failed("a", now: now)
            let next = try #require(schedule.nextDeadline(after: now))
            waits.append(next.milliseconds(since: now))
            now = next
        }
        #expect(waits == waits.sorted())
        #expect(waits.first == NodeLimits.firstDialDelayMilliseconds / 2)
        #expect(waits.last == NodeLimits.longestDialDelayMilliseconds / 2)
    }

    @Test func aLinkThatLivedForAWhileIsMadeAgainAtOnce() {
        var schedule = schedule()
        let start = Instant(milliseconds: 0)
        for _ in 0..<5 { schedule.failed("a", now: start) }
        schedule.connected("a", now: start)
        let end = start.advanced(byMilliseconds: NodeLimits.steadyLinkMilliseconds)
        schedule.lost("a", now: end)
        #expect(schedule.failures(of: "a") == 0)
        #expect(schedule.due(["a"], now: end) == ["a"])
    }

    @Test func aLinkThatEndsAtOnceIsAFailureAndTheWaitsGrow() throws {
        var schedule = schedule()
        var now = Instant(milliseconds: 0)
        var waits: [UInt64] = []
        for _ in 0..<6 {
            #expect(schedule.due(["a"], now: now) == ["a"])
            schedule.connected("a", now: now)
            #expect(schedule.due([], now: now) == [])
            schedule.lost("a", now: now)
            let next = try #require(schedule.nextDeadline(after: now))
            waits.append(next.milliseconds(since: now))
            now = next
        }
        #expect(waits == waits.sorted())
        #expect(waits[5] > waits[0] * 8)
    }

    /// As after a cable that was out: whenever it returns, the dial under way may still have to fail, and the next comes soon.
    @Test func afterTenMinutesWithoutAnAnswerAPeerThatIsBackIsDialledWithinSeconds() throws {
        let outage: UInt64 = 600_000
        let node = try #require(NodeID(bytes: [UInt8](repeating: 7, count: 32)))
        let address = try Endpoint("10.0.0.7:5484", defaultPort: 5484)
        var longest: UInt64 = 0
        for back in stride(from: outage, to: outage + 10_000, by: 499) {
            var random = SeededGenerator(seed: back)
            let jitter = RandomNumbers(seed: back)
            var schedule = DialSchedule<NodeID> { jitter.next() }
            var book = CandidateBook()
            book.reached(node, at: address)
            var now = Instant(milliseconds: 0)
            while true {
                let due = schedule.due([node], now: now)
                #expect(due == [node])
                let candidates = book.wanted(for: node, now: now.milliseconds)
                #expect(candidates.map(\.address) == [address], "an address that worked is not given up")
                if now.milliseconds >= back { break }
                now = now.advanced(byMilliseconds: NodeLimits.dialTimeoutMilliseconds)
                book.failed(address, for: node, reason: "no answer", now: now.milliseconds, using: &random)
                schedule.failed(node, now: now)
                now = try #require(schedule.nextDeadline(after: now))
            }
            longest = max(longest, now.milliseconds - back)
        }
        #expect(longest <= NodeLimits.dialTimeoutMilliseconds + NodeLimits.longestDialDelayMilliseconds)
        // A machine that notices that its network is back does not even wait for that.
        var schedule = schedule()
        for _ in 0..<150 { schedule.failed("a", now: Instant(milliseconds: 1_000)) }
        schedule.startOver()
        #expect(schedule.due(["a"], now: Instant(milliseconds: 1_000)) == ["a"])
    }

    @Test func attemptsUnderWayAreLimited() {
        var schedule = schedule()
        let targets = (10..<40).map { "\($0)" }
        let first = schedule.due(targets, now: Instant(milliseconds: 0))
        #expect(first.count == NodeLimits.simultaneousDials)
        schedule.failed(first[0], now: Instant(milliseconds: 0))
        #expect(schedule.due(targets, now: Instant(milliseconds: 0)).count == 1)
    }

    @Test func newsOfATargetEndsItsWait() {
        var schedule = schedule()
        let now = Instant(milliseconds: 0)
        _ = schedule.due(["a"], now: now)
        schedule.failed("a", now: now)
        #expect(schedule.due(["a"], now: now) == [])
        schedule.hasten("a", now: now)
        #expect(schedule.due(["a"], now: now) == ["a"])
    }

    @Test func anotherNetworkBeginsAllAnew() {
        var schedule = schedule()
        let now = Instant(milliseconds: 0)
        _ = schedule.due(["a", "b"], now: now)
        schedule.failed("a", now: now)
        schedule.startOver()
        #expect(schedule.due(["a", "b"], now: now) == ["a"], "b is being dialled")
        #expect(schedule.failures(of: "a") == 0)
    }

    @Test func whoReturnsIsDialledWithinSeconds() {
        // The longest wait, the rest of a dial under way, and some time to compare: 10 s are promised.
        #expect(NodeLimits.longestDialDelayMilliseconds + NodeLimits.dialTimeoutMilliseconds < 10_000)
    }

    @Test func whatIsNotWantedAnyMoreIsForgotten() {
        var schedule = schedule()
        let now = Instant(milliseconds: 0)
        _ = schedule.due(["a"], now: now)
        schedule.failed("a", now: now)
        _ = schedule.due([], now: now.advanced(byMilliseconds: 2 * NodeLimits.failuresKeptMilliseconds))
        #expect(schedule.failures(of: "a") == 0)
        #expect(schedule.nextDeadline(after: now) == nil)
    }
}

/// Random numbers for closures.
private final class RandomNumbers: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

    func next() -> UInt64 { generator.withLock { $0.next() } }
}
