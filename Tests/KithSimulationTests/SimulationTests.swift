import KithSimulation
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
        (Sabotage.acknowledgesNothing, Invariant.acknowledgedDurability),
        (.forgetsToSynchronise, .acknowledgedDurability), (.alwaysInSync, .statusHonesty),
    ]) func aBugPutInOnPurposeIsCaught(sabotage: Sabotage, invariant: Invariant) {
        let caught = (1...UInt64(60)).lazy.compactMap { seed in
            Simulation.run(Self.shortPlan(seed: seed), .init(sabotage: sabotage)).violation?.invariant
        }
        #expect(caught.first == invariant)
    }

    @Test func aWinnerByOrderOfArrivalIsCaught() throws {
        let plan = try Plan(
            text: """
                kith-sim plan 2
                seed=1 nodes=3 databases=1 policy=manual end=4000
                # Written on two nodes that do not see each other, read when they have met.
                300 isolate node=1 ms=700
                500 put node=0 db=0 doc=a fields=/x=1
                501 put node=1 db=0 doc=a fields=/x=2
                3500 read node=0 db=0 doc=a
                3500 read node=1 db=0 doc=a
                """)
        #expect(Simulation.run(plan).violation == nil)
        #expect(Simulation.run(plan, .init(sabotage: .winnerByArrival)).violation?.invariant == .winnerDeterminism)
    }

    /// Fewer seconds and quicker links than `kith-sim` draws by itself, so that fifty fit a minute.
    private static func shortPlan(seed: UInt64) -> Plan { PlanGenerator.plan(seed: seed, .short) }
}
