import KithSimulation
import KithTestSupport
import Testing

@Suite struct ShrinkerTests {
    private func shrunk(
        _ plan: Plan, name: String = "S1", budget: Shrinker.Budget = .init(), _ fails: @escaping (Plan) -> Bool
    ) -> Shrinker {
        let failure = Failure(.invariant, name: name, "it does not hold")
        var shrinker = Shrinker(plan, failure, budget: budget) { fails($0) ? failure : nil }
        shrinker.shrink()
        return shrinker
    }

    @Test(arguments: 1...5) func whatFailsWithTwoItemsIsShrunkToThose(seed: UInt64) {
        // A fault on a node, and later a put on the same.
        func fails(_ plan: Plan) -> Bool {
            let faults = plan.steps.compactMap { step -> (Int, Int)? in
                if case .fault(let fault) = step.action, fault.kind != .pace, fault.node >= 0 {
                    (step.time, fault.node)
                } else {
                    nil
                }
            }
            return plan.steps.contains { step in
                guard case .operation(let operation) = step.action, operation.kind == .put else { return false }
                return faults.contains { $0.0 < step.time && $0.1 == operation.node }
            }
        }
        guard
            let plan = (seed * 100..<seed * 100 + 50).lazy.map({ PlanGenerator.plan(seed: $0) }).first(where: fails)
        else {
            Issue.record("no plan of these seeds fails")
            return
        }
        let result = shrunk(plan, fails).plan
        #expect(fails(result) && result.items.count == 2, "\(result.text)")
        #expect(result.nodes <= 2 && result.databases == 1 && result.seed == 0 && result.end <= 2, "\(result.text)")
        #expect(result.policy == "latest" && result.shape == .full, "\(result.text)")
        guard case .operation(let put)? = result.items.last?.action else { return }
        #expect(put.fields.utf8.count < 12, "\(result.text)")
    }

    @Test func parametersGoToTheLeastThatStillFails() throws {
        let plan = try Plan(
            text: """
                kith-sim plan 2
                seed=9 nodes=4 databases=3 policy=manual shape=ring core=1-3
                1000 put node=2 db=2 doc=a count=70 size=5000 every=200 until=9000 fields=/a=12 /b="x"
                5000 stop nodes=0,2-3 ms=8000
                """)
        func fails(_ plan: Plan) -> Bool {
            var puts = 0
            var stops = false
            for item in plan.items {
                switch item.action {
                case .operation(let operation): puts += operation.count
                case .fault(let fault): stops = stops || fault.milliseconds >= 123
                }
            }
            return puts >= 31 && stops
        }
        let result = shrunk(plan, fails).plan
        #expect(
            result.text == """
                kith-sim plan 2
                seed=0 nodes=1 databases=1 policy=latest end=0
                0 put node=0 doc=a count=31 fields=/b=0
                0 stop nodes=0 ms=123

                """)
    }

    @Test func theNameOfTheFailureStaysTheSame() {
        let plan = PlanGenerator.plan(seed: 3)
        // Fewer items fail in another way.
        var shrinker = Shrinker(plan, Failure(.invariant, name: "S1", "one")) { candidate in
            candidate.items.count < 10 ? Failure(.trap, "other") : Failure(.invariant, name: "S1", "one")
        }
        shrinker.shrink()
        #expect(shrinker.plan.items.count == 10)
        #expect(shrinker.failure.name == "S1")
    }

    @Test func whatComesAfterTheFailureIsCutOffFirst() {
        let plan = PlanGenerator.plan(seed: 3)
        let failure = Failure(.invariant, name: "S1", time: 2_000, "early")
        var candidates: [Plan] = []
        var shrinker = Shrinker(plan, failure, budget: .init(runs: 1)) { candidate in
            candidates.append(candidate)
            return failure
        }
        shrinker.shrink()
        #expect(candidates.count == 1)
        #expect(shrinker.plan.end == 2_001 && shrinker.plan.items.allSatisfy { $0.time <= 2_001 })
    }

    @Test func theBudgetEndsIt() {
        let result = shrunk(PlanGenerator.plan(seed: 3, .long), budget: .init(runs: 20)) { $0.items.count > 3 }
        #expect(result.runs == 20)
    }

    @Test func whatAlwaysFailsIsShrunkToNothing() {
        let result = shrunk(PlanGenerator.plan(seed: 5, .long)) { _ in true }
        #expect(result.plan.text == "kith-sim plan 2\nseed=0 nodes=1 databases=1 policy=latest end=0\n")
    }
}
