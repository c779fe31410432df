import KithSimulation
import Testing

@Suite struct PlanTests {
    @Test(arguments: 1...20) func aPlanIsReadBackFromItsText(seed: UInt64) throws {
        let plan = PlanGenerator.plan(seed: seed)
        #expect(try Plan(text: plan.text) == plan)
    }

    @Test func aSeedDrawsTheSamePlanEveryTime() {
        #expect(PlanGenerator.plan(seed: 7).text == PlanGenerator.plan(seed: 7).text)
        #expect(PlanGenerator.plan(seed: 7).text != PlanGenerator.plan(seed: 8).text)
    }

    @Test func theSeedsUseEveryOperationAndEveryFault() {
        var operations: Set<Operation.Kind> = []
        var faults: Set<Fault.Kind> = []
        for seed in 1...UInt64(50) {
            for item in PlanGenerator.plan(seed: seed).items {
                switch item.action {
                case .operation(let operation): operations.insert(operation.kind)
                case .fault(let fault): faults.insert(fault.kind)
                }
            }
        }
        #expect(operations == Set(Operation.Kind.allCases))
        #expect(faults == Set(Fault.Kind.allCases))
    }

    @Test func theSeedsUseEveryPolicy() {
        let policies = (1...UInt64(50)).map { PlanGenerator.plan(seed: $0).policy }
        for word in ["latest", "manual"] { #expect(policies.contains(word)) }
        for word in ["max", "min", "union", "\"together\":[["] {
            #expect(policies.contains { $0.contains(word) }, "\(word)")
        }
    }

    @Test(arguments: [
        ("", "plan line 1"), ("kith-sim plan 2\n", "plan line 1"),
        ("kith-sim plan 1\nseed=1 nodes=9 databases=1 policy=latest end=10\n", "nodes= must be from 3 to 6"),
        ("kith-sim plan 1\nseed=1 nodes=3 databases=1 policy=latest end=10\n5 fly node=0\n", "plan line 3"),
        ("kith-sim plan 1\nseed=1 nodes=3 databases=1 policy=latest end=10\n5 stop node=4\n", "there is no node 4"),
        (
            "kith-sim plan 1\nseed=1 nodes=3 databases=1 policy=latest end=10\n5 put node=0 db=1 doc=a\n",
            "no database 1"
        ),
    ]) func aWrongPlanIsRefusedWithItsLine(text: String, message: String) {
        let error = #expect(throws: PlanError.self) { try Plan(text: text) }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "no error")")
    }
}
