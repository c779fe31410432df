import KithSimulation
import Testing

@Suite struct FaultBudgetTests {
    private func budget(_ lines: String...) throws -> FaultBudget {
        FaultBudget(
            try Plan(text: "kith-sim plan 2\nseed=1 nodes=5 end=500000\n" + lines.joined(separator: "\n") + "\n"))
    }

    @Test func nothingIsLostWithoutAFaultThatDestroys() throws {
        let budget = try budget("100 power nodes=0-4 ms=9", "200 full node=1 ms=9", "300 failsync node=2 count=1")
        #expect(budget.losses.isEmpty)
        #expect(budget.excess(nodes: 5) == nil)
    }

    @Test func aRestoredImageTakesWhatCameBeforeItAndNothingLater() throws {
        let budget = try budget("100 backup node=1", "5000 restore node=1 ms=10")
        #expect(!budget.mayLose(1, at: 4_999))
        #expect(budget.mayLose(1, at: 5_000))
        #expect(!budget.mayLose(0, at: 5_000))
        #expect(budget.mayLose(1, writtenAt: 4_000, at: 6_000))
        #expect(!budget.mayLose(1, writtenAt: 5_001, at: 6_000))
    }

    @Test func withoutAnImageARestoreTakesNothing() throws {
        #expect(try budget("5000 restore node=1 ms=10", "6000 backup node=1").losses.isEmpty)
    }

    @Test func aDiskThatPretendsLosesSomethingOnlyWhenThePowerGoes() throws {
        #expect(try budget("100 pretend node=1 ms=1000", "500 kill node=1 ms=10").losses.isEmpty)
        let within = try budget("100 pretend node=1 ms=1000", "500 power node=1 ms=10", "700 power node=1 ms=10")
        #expect(within.losses.map(\.time) == [500, 700])
        let after = try budget("100 pretend node=1 ms=1000", "2000 power node=1 ms=10", "3000 power node=1 ms=10")
        #expect(after.losses.map(\.time) == [2_000])
        #expect(try budget("100 power node=1 ms=10", "200 pretend node=1 ms=1000").losses.isEmpty)
        // The power may go at any call of the disk after this.
        #expect(try budget("100 crash node=1 count=9 ms=10", "200 pretend node=1 ms=1000").losses.map(\.time) == [200])
    }

    @Test func damageOnADiskLiesUnseenUntilSomethingReadsIt() throws {
        let budget = try budget("100 rot node=1 count=3")
        #expect(budget.mayLose(1, writtenAt: 400_000, at: 450_000))
    }

    @Test func whoIsNoMemberIsAnOutsider() throws {
        let budget = try budget("100 revoke node=1", "200 hostile node=2 text=malformed", "300 leave node=3")
        #expect(budget.outsiders == NodeList([1, 2, 3]))
        #expect(budget.nodes == NodeList([1, 2, 3]))
    }

    @Test func aMajorityOrTwoAtOnceAreTooMuch() throws {
        #expect(try budget("0 wipe node=1", "100000 wipe node=2", "200000 wipe node=3").excess(nodes: 5) != nil)
        #expect(try budget("0 wipe node=1", "100 wipe node=2").excess(nodes: 5) != nil)
        #expect(try budget("0 wipe node=1", "100000 wipe node=2").excess(nodes: 5) == nil)
        #expect(try budget("0 wipe node=1", "100 drop node=1").excess(nodes: 5) == nil)
    }
}
