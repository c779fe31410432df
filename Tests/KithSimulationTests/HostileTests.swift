import KithSimulation
import KithTestSupport
import Testing

/// Members that break the rules from within, and nodes of other versions: the honest ones must not be worse off.
@Suite struct HostileTests {
    /// Three honest nodes that write, and one that turns hostile after a few seconds.
    private static func plan(_ kind: HostileKind, policy: String = "latest") throws -> Plan {
        try Plan(
            text: """
                kith-sim plan 2
                seed=31 nodes=4 policy=\(policy) end=30000 core=0-2
                500 put nodes=0-3 doc=n$k- count=3 fields=/a=$i
                1000 set nodes=0-3 doc=d path=/by$k fields=1
                4000 hostile node=3 text=\(kind.rawValue)
                6000 put nodes=0-2 doc=m$k-$n- count=2 every=3000 until=25000 fields=/a=$n
                7000 set nodes=0-2 doc=d path=/last every=4000 until=25000 fields=1$n$k
                15000 kill node=1 ms=1000
                """)
    }

    private static func expectAllHolds(_ plan: Plan, _ comment: String) throws {
        let outcome = Simulation.run(plan)
        #expect(outcome.violation == nil, "\(comment): \(outcome.recent.suffix(3).joined(separator: "\n"))")
    }

    /// One of each group by default: the rest is tried by `make sim`, and all scenarios with `KITH_LONG_TESTS=1`.
    private static let kinds: [HostileKind] =
        Lab.isLong ? HostileKind.allCases : [.farAhead, .wrongHash, .slowLoris, .malformed]

    @Test(arguments: kinds) func aHostileMemberHarmsNobody(kind: HostileKind) throws {
        try Self.expectAllHolds(try Self.plan(kind), kind.rawValue)
    }

    /// Who merges nothing keeps all leaves of a conflict, within the bound.
    @Test(.enabled(if: Lab.isLong, "half a minute: KITH_LONG_TESTS=1"))
    func aFloodOfConflictsIsBoundedWhereNobodyMerges() throws {
        try Self.expectAllHolds(try Self.plan(.conflictFlood, policy: "manual"), "manual")
    }

    @Test(arguments: ["older", "newer", "apart"]) func aNodeOfAnotherVersionIsEqualInTheEnd(text: String) throws {
        let plan = try Plan(
            text: """
                kith-sim plan 2
                seed=32 nodes=3 end=20000
                0 version node=1 text=\(text)
                500 put nodes=0-2 doc=n$k- count=3 fields=/a=$i
                5000 set nodes=0-2 doc=d path=/by$k fields=1
                8000 kill node=1 ms=500
                12000 set nodes=0-2 doc=d path=/last fields=$k
                """)
        try Self.expectAllHolds(plan, text)
    }

    @Test(
        .enabled(if: Lab.isLong, "a few minutes: KITH_LONG_TESTS=1"),
        arguments: ScenarioTests.names.filter {
            $0.hasPrefix("hostile-") || $0.hasPrefix("version") || $0.hasPrefix("twins")
        })
    func theScenarioHolds(name: String) async throws {
        let run = try await SimulatorProgram.run(["--scenario", name, "--no-shrink"])
        #expect(run.status == 0, "\(run.text.suffix(4_000))")
    }
}
