import KithSimulation
import KithTestSupport
import Testing

/// Whole runs. A run that fails prints its plan's seed and the command that repeats it.
@Suite struct SimulationTests {
    @Test(arguments: 1...50) func everythingHoldsInASeededRun(seed: UInt64) {
        let outcome = Simulation.run(Self.shortPlan(seed: seed))
        let violation = outcome.violation.map { "\($0); repeat: kith-sim --seed \(seed) --short" }
        #expect(outcome.violation == nil, "\(violation ?? "")")
        #expect(outcome.links > 0 && outcome.events > 1_000, "the run did next to nothing")
    }

    /// Bugs put in on purpose: each must be caught, under its own name.
    @Test(arguments: [
        (Sabotage.dropsDelivery, Invariant.checkpointHonesty), (.winnerByArrival, .winnerDeterminism),
        (.acknowledgesNothing, .acknowledgedDurability), (.alwaysInSync, .statusHonesty),
    ]) func aBugPutInOnPurposeIsCaught(sabotage: Sabotage, invariant: Invariant) {
        var caught: [Invariant] = []
        for seed in 1...UInt64(6) where !caught.contains(invariant) {
            let plan = PlanGenerator.plan(seed: seed, .init(nodes: 3, seconds: 6, policy: "manual"))
            if let violation = Simulation.run(plan, .init(sabotage: sabotage)).violation {
                caught.append(violation.invariant)
            }
        }
        #expect(caught.last == invariant, "caught: \(caught)")
    }

    /// Fewer seconds and quicker links than `kith-sim` draws by itself, so that fifty fit a minute.
    private static func shortPlan(seed: UInt64) -> Plan { PlanGenerator.plan(seed: seed, .short) }
}
