import KithSimulation
import Testing

@Suite struct PlanAuditTests {
    private func met(_ lines: String...) throws -> Set<String> {
        var audit = PlanAudit()
        let all = Set(audit.empty)
        audit.add(
            try Plan(text: "kith-sim plan 2\nseed=1 nodes=3 end=100000\n" + lines.joined(separator: "\n") + "\n"))
        return all.subtracting(audit.empty)
    }

    @Test func aCellIsAnOperationAnAreaOfFaultsAndTheStateOfTheNode() throws {
        #expect(PlanAudit().empty.count == PlanAudit.cellCount)
        #expect(try met("100 put node=0 doc=a").isEmpty)
        #expect(try met("100 isolate node=0 ms=900", "500 put node=0 doc=a") == ["put/network/cut"])
        #expect(try met("100 isolate node=1 ms=900", "500 put node=0 doc=a") == ["put/network/well"])
        #expect(try met("100 isolate node=0 ms=9000", "9500 put node=0 doc=a").isEmpty)
    }

    @Test func aNodeThatIsDownIsWellAgainWhileItsEndIsStillFelt() throws {
        #expect(try met("100 kill node=0 ms=300", "300 read node=0 doc=a") == ["read/node/down"])
        #expect(try met("100 kill node=0 ms=300", "600 read node=0 doc=a") == ["read/node/well"])
    }

    @Test func theWorstStateCounts() throws {
        let cells = try met(
            "100 slow node=0 ms=900", "200 isolate node=0 ms=900", "500 set node=0 doc=a path=/a fields=1")
        #expect(cells == ["set/disk/ailing", "set/network/ailing"])
        #expect(try met("50000 join node=2", "500 put node=2 doc=a") == ["put/membership/absent"])
    }
}
