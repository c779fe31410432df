import Testing

@testable import KithNode

@Suite struct MuteListTests {
    private func check(_ code: HealthCode, _ level: ControlStatus.Level) -> ControlStatus.Check {
        ControlStatus.Check(code: code.rawValue, level: level, summary: "s", action: "a", since: 0)
    }

    private func muted(_ until: Int64 = 1_000, _ level: ControlStatus.Level = .warning) -> MuteList {
        var list = MuteList()
        list.set(MuteList.Mute(code: .conflicts, until: until, level: level))
        return list
    }

    @Test func aMutedCheckCountsForNothing() {
        var list = muted()
        var status = ControlStatus(generatedAt: 0)
        status.checks = list.apply(to: [check(.conflicts, .warning), check(.paused, .warning)], now: 500)
        #expect(status.checks.map(\.mutedUntil) == [1_000, nil] && status.level == .warning)
        status.checks = list.apply(to: [check(.conflicts, .warning)], now: 500)
        #expect(status.level == .ok)
    }

    @Test func aMuteEndsWithItsTime() {
        var list = muted()
        #expect(list.apply(to: [check(.conflicts, .warning)], now: 1_000).map(\.mutedUntil) == [nil])
        #expect(list.mutes.isEmpty)
    }

    @Test func aMuteEndsWhenTheCheckGetsWorse() {
        var list = muted()
        #expect(list.apply(to: [check(.conflicts, .critical)], now: 1).map(\.mutedUntil) == [nil])
        // For good: that it gets better again brings no mute back.
        #expect(list.apply(to: [check(.conflicts, .warning)], now: 2).map(\.mutedUntil) == [nil])
        var critical = muted(1_000, .critical)
        #expect(critical.apply(to: [check(.conflicts, .warning)], now: 1).map(\.mutedUntil) == [1_000])
    }

    @Test func aMuteOutlivesThatTheCheckComesAndGoes() {
        var list = muted()
        #expect(list.apply(to: [], now: 1).isEmpty)
        #expect(list.apply(to: [check(.conflicts, .warning)], now: 2).map(\.mutedUntil) == [1_000])
        list.clear(.paused)
        #expect(list.mutes.count == 1)
        list.clear(nil)
        #expect(list.mutes.isEmpty)
    }

    @Test func mutesAreReadAsTheyWereWritten() {
        var list = muted()
        list.set(MuteList.Mute(code: .storageFull, until: 5, level: .critical))
        list.set(MuteList.Mute(code: .conflicts, until: 7, level: .warning))
        #expect(list.lines == ["STORAGE_FULL 5 critical", "CONFLICTS 7 warning"])
        #expect(MuteList(lines: list.lines + ["", "X 1 warning", "PAUSED x warning", "PAUSED 1 bad"]) == list)
    }
}
