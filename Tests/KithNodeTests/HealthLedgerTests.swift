import Testing

@testable import KithNode

/// Since when checks hold, and what is told of their beginning and end.
@Suite struct HealthLedgerTests {
    private func finding(_ code: HealthCode, _ level: ControlStatus.Level = .warning, _ summary: String = "s")
        -> HealthFinding
    {
        HealthFinding(code: code, level: level, summary: summary, action: "a")
    }

    @Test func aCheckKeepsTheTimeAtWhichItBegan() {
        var ledger = HealthLedger()
        let first = ledger.take([finding(.conflicts)], now: 1_000)
        #expect(first.checks.map(\.since) == [1_000])
        #expect(first.changes == [.appeared(finding(.conflicts))])
        // Other words are no other check.
        let later = ledger.take([finding(.conflicts, .warning, "two")], now: 5_000)
        #expect(later.checks.map(\.since) == [1_000] && later.changes.isEmpty)
        let gone = ledger.take([], now: 9_000)
        #expect(gone.checks.isEmpty && gone.changes == [.gone(.conflicts, afterMilliseconds: 8_000)])
        #expect(ledger.take([finding(.conflicts)], now: 20_000).checks.map(\.since) == [20_000])
    }

    @Test func aCheckThatGetsWorseIsToldAgainAndKeepsItsTime() {
        var ledger = HealthLedger()
        _ = ledger.take([finding(.storageFull)], now: 1_000)
        let worse = ledger.take([finding(.storageFull, .critical)], now: 2_000)
        #expect(worse.changes == [.appeared(finding(.storageFull, .critical))])
        #expect(worse.checks.map(\.since) == [1_000])
    }

    @Test func criticalChecksComeFirst() {
        var ledger = HealthLedger()
        let taken = ledger.take([finding(.paused), finding(.storageFull, .critical), finding(.conflicts)], now: 0)
        #expect(taken.checks.map(\.code) == ["STORAGE_FULL", "PAUSED", "CONFLICTS"])
    }

    @Test func aClockThatIsSetBackMakesNoNegativeTime() {
        var ledger = HealthLedger()
        _ = ledger.take([finding(.paused)], now: 9_000)
        #expect(ledger.take([], now: 1_000).changes == [.gone(.paused, afterMilliseconds: 0)])
    }

    @Test(
        arguments: [
            (0, 0, 0, [], "no peers known"), (0, 1, 0, [], "0 of 1 peer"), (2, 3, 0, [], "2 of 3 peers, in sync"),
            (2, 3, 1, [], "2 of 3 peers, catching up with 1"),
            (3, 3, 0, ["STORAGE_FULL"], "3 of 3 peers, in sync, STORAGE_FULL"),
            (0, 2, 0, ["STORAGE_FULL", "PAUSED"], "0 of 2 peers, STORAGE_FULL and 1 more"),
        ] as [(Int, Int, Int, [String], String)])
    func theServiceManagerIsToldInFewWords(connected: Int, known: Int, behind: Int, problems: [String], text: String) {
        #expect(
            ServiceStatusText.text(connected: connected, known: known, behind: behind, problems: problems) == text)
    }
}
