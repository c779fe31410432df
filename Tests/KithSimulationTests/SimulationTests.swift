import KithSimulation
import KithTestSupport
import Testing

/// Whole runs. A run that fails prints the command that repeats it.
@Suite struct SimulationTests {
    /// Each seed in two processes, whose dictionaries and sets have other orders: what leaks such an order shows as
    /// another trace.
    @Test func everythingHoldsInSeededRunsAndTwiceTheSame() async throws {
        let result = try await SimulatorProgram.run(["--seeds", "1..10", "--short", "--double", "--no-shrink"])
        #expect(result.status == 0, "\(result.text)")
        #expect(result.lines(with: "ok ").count == 10, "\(result.text)")
    }

    /// Bugs put in on purpose: each must be caught, under its own name.
    @Test(arguments: [
        (Sabotage.acknowledgesNothing, [Invariant.acknowledgedDurability]),
        // What is there after a power cut is less than it was, or torn.
        (.forgetsToSynchronise, [.acknowledgedDurability, .atomicApply]), (.alwaysInSync, [.statusHonesty]),
    ]) func aBugPutInOnPurposeIsCaught(sabotage: Sabotage, invariants: [Invariant]) throws {
        let caught = (1...UInt64(60)).lazy.compactMap { seed in
            Simulation.run(PlanGenerator.plan(seed: seed, .short), .init(sabotage: sabotage)).violation?.invariant
        }
        #expect(invariants.contains(try #require(caught.first)))
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
}
