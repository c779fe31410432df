import KithSimulation
import Testing

@Suite struct PlanTests {
    private static let lengths: [PlanGenerator.Options] = [.short, .init(), .long]

    @Test(arguments: 1...20) func aPlanIsReadBackFromItsText(seed: UInt64) throws {
        for options in Self.lengths {
            let plan = PlanGenerator.plan(seed: seed, options)
            #expect(try Plan(text: plan.text) == plan)
        }
    }

    @Test func aSeedDrawsTheSamePlanEveryTime() {
        #expect(PlanGenerator.plan(seed: 7).text == PlanGenerator.plan(seed: 7).text)
        #expect(PlanGenerator.plan(seed: 7).text != PlanGenerator.plan(seed: 8).text)
    }

    @Test func theSeedsUseEveryOperationAndEveryFault() {
        for options in Self.lengths {
            var verbs: Set<String> = []
            for seed in 1...UInt64(options.length == .long ? 60 : 1_000) {
                verbs.formUnion(PlanGenerator.plan(seed: seed, options).items.map(\.action.verb))
            }
            let operations = Operation.Kind.allCases.map(\.rawValue)
            let faults = Fault.Kind.allCases.map(\.rawValue)
            let missing = (operations + faults).filter { !verbs.contains($0) }
            #expect(missing.isEmpty, "\(options.length)")
        }
    }

    @Test func theSeedsUseEveryPolicyAndShape() {
        let plans = (1...UInt64(100)).map { PlanGenerator.plan(seed: $0) }
        let policies = plans.map(\.policy)
        for word in ["latest", "manual"] { #expect(policies.contains(word)) }
        for word in ["max", "min", "union", "\"together\":[["] {
            #expect(policies.contains { $0.contains(word) }, "\(word)")
        }
        for shape in Shape.allCases { #expect(plans.contains { $0.shape == shape }, "\(shape)") }
    }

    @Test func aLongPlanHasThreeKindsOfFaultTenMinutesAndManyOperations() {
        for seed in 1...UInt64(60) {
            let plan = PlanGenerator.plan(seed: seed, .long)
            var kinds: Set<Fault.Kind> = []
            var operations = 0
            for case .fault(let fault) in plan.steps.map(\.action) where fault.kind != .pace {
                kinds.insert(fault.kind)
            }
            for case .operation in plan.steps.map(\.action) { operations += 1 }
            #expect(kinds.count >= 3 && plan.end >= 600_000 && (3...8).contains(plan.nodes), "seed \(seed)")
            let links = (0..<plan.nodes).reduce(0) { sum, one in
                sum + (0..<one).count { plan.shape.joins(one, $0, nodes: plan.nodes) }
            }
            // The fewer links there are the more is written, so that a run has events enough.
            #expect(operations * (links + plan.nodes) >= 3_000, "seed \(seed)")
        }
    }

    @Test func noPlanDestroysMoreThanItsBudget() {
        for options in Self.lengths {
            for seed in 1...UInt64(options.length == .long ? 60 : 500) {
                let plan = PlanGenerator.plan(seed: seed, options)
                let budget = FaultBudget(plan)
                #expect(budget.excess(nodes: plan.nodes) == nil, "seed \(seed) \(options.length)")
                let core = plan.core.isEmpty ? NodeList(Array(0..<plan.nodes)) : plan.core
                for node in budget.outsiders.members { #expect(!core.contains(node), "seed \(seed)") }
            }
        }
    }

    @Test func everyVerbWithEveryParameterIsReadBack() throws {
        var lines = ["kith-sim plan 2", "seed=1 nodes=8 databases=2 policy=latest end=9000 shape=ring core=0-2,5"]
        for kind in Operation.Kind.allCases {
            let parameters = kind.parameters.map { parameter in
                let isBody = parameter == .fields && kind != .set
                return "\(parameter.rawValue)=\(isBody ? "/a=1 /b=\"$k\"" : Self.value(of: parameter))"
            }
            let order = parameters.filter { !$0.hasPrefix("fields") } + parameters.filter { $0.hasPrefix("fields") }
            lines.append((["1 \(kind.rawValue) nodes=1,3-5 db=1"] + order).joined(separator: " "))
        }
        for kind in Fault.Kind.allCases {
            let whom =
                switch kind.scope {
                case .each: "nodes=1-2"
                case .pair: kind == .clone ? "node=1 other=8" : "node=1 other=2"
                case .links: "other=3"
                case .side: "nodes=0-3,7"
                case .hub: "node=1 nodes=2-3"
                case .mesh: ""
                }
            let parameters = kind.parameters.map { parameter in
                let word = parameter == .text ? kind.words?.first : nil
                return "\(parameter.rawValue)=\(word ?? Self.value(of: parameter))"
            }
            let parts = ["2", kind.rawValue, "every=1000 until=5000", whom] + parameters
            lines.append(parts.filter { !$0.isEmpty }.joined(separator: " "))
        }
        let text = lines.joined(separator: "\n") + "\n"
        #expect(try Plan(text: text).text == text)
    }

    private static func value(of parameter: Parameter) -> String {
        switch parameter {
        case .document: "d$n"
        case .path: "/a"
        case .fields: "17"
        case .text: "manual"
        case .low: "3"
        default: "7"
        }
    }

    @Test func anItemIsCarriedOutForEachTimeEachNodeAndEachDocument() throws {
        let plan = try Plan(
            text: """
                # What is not said has a usual value.
                kith-sim plan 2
                seed=1 nodes=3
                100 put nodes=0,2 doc=a count=2 every=1000 until=1500 fields=/x="$n-$k-$i"
                1100 stop nodes=1-2 ms=10
                1100 put node=1 doc=$i-b count=1 fields=/x="$"
                """)
        #expect(plan.end == 2_500 && plan.databases == 1 && plan.policy == "latest" && plan.shape == .full)
        let lines = plan.steps.map { PlanItem(time: $0.time, action: $0.action).text }
        #expect(
            lines == [
                "100 put node=0 doc=a0 fields=/x=\"0-0-0\"", "100 put node=0 doc=a1 fields=/x=\"0-0-1\"",
                "100 put node=2 doc=a0 fields=/x=\"0-2-0\"", "100 put node=2 doc=a1 fields=/x=\"0-2-1\"",
                "1100 put node=0 doc=a0 fields=/x=\"1-0-0\"", "1100 put node=0 doc=a1 fields=/x=\"1-0-1\"",
                "1100 put node=2 doc=a0 fields=/x=\"1-2-0\"", "1100 put node=2 doc=a1 fields=/x=\"1-2-1\"",
                "1100 stop node=1 ms=10", "1100 stop node=2 ms=10", "1100 put node=1 doc=0-b fields=/x=\"$\"",
            ])
        #expect(plan.stepCount == lines.count)
    }

    @Test func aBodyIsPaddedToItsSize() {
        let operation = Operation(.put, node: 0, document: "a", fields: "/x=1", size: 1_000)
        #expect((980...1_000).contains(operation.paddedFields.utf8.count))
        #expect(operation.paddedFields.hasPrefix("/x=1 /pad=\"canary"))
    }

    @Test(arguments: [
        ("", "plan line 1"), ("kith-sim plan 1\n", "plan line 1"), ("kith-sim plan 2\n", "nothing is set"),
        ("kith-sim plan 2\nnodes=3\n", "seed= is missing"),
        ("kith-sim plan 2\nseed=1 nodes=1001\n", "nodes= must be from 1 to 1000"),
        ("kith-sim plan 2\nseed=1 nodes=3 shape=cube\n", "shape= must be one of full, ring"),
        ("kith-sim plan 2\nseed=1 nodes=3 core=0-3\n", "there is no node 3"),
        ("kith-sim plan 2\nseed=1 nodes=3 core=2-1\n", "core= must be a list of nodes"),
        ("kith-sim plan 2\nseed=1 nodes=3 colour=red\n", "colour= says nothing here"),
        ("kith-sim plan 2\nseed=1 nodes=3 nodes=4\n", "nodes= is there twice"),
    ]) func aWrongHeadIsRefusedWithItsLine(text: String, message: String) {
        let error = #expect(throws: PlanError.self) { try Plan(text: text) }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "no error")")
    }

    @Test(arguments: [
        ("5 fly node=0", "neither an operation nor a fault"), ("soon stop node=0", "expected a time"),
        ("-1 stop node=0", "expected a time"), ("5 stop node=4", "there is no node 4"),
        ("5 stop ms=4", "node= is missing"), ("5 stop node=1 nodes=0", "node= and nodes= together"),
        ("5 stop node=1 size=4", "size= says nothing here"), ("5 stop node=1 ms", "is no name=value"),
        ("5 stop node=1 ms=long", "ms= must be from 0"), ("5 stop node=1 ms=-4", "ms= must be from 0"),
        ("5 stop nodes=1,,2", "nodes= must be a list of nodes"), ("5 flap node=1 ms=4", "other= is missing"),
        ("5 flap node=1 other=1", "node= and other= are one"), ("5 halves ms=4", "nodes= is missing"),
        ("5 pace low=4 high=3", "low= is above high="), ("5 role node=1 text=king", "text= must be one of reader"),
        ("5 role node=1 text=admin", "text= must be one of reader"),
        ("5 hostile node=1", "text= is missing"), ("5 clone node=1 other=2", "machine 2 is not a spare one"),
        ("2001 stop node=1", "after the end"), ("5 stop node=1 until=9", "until= without every="),
        ("5 stop node=1 every=2 until=4", "until= is before its time"), ("5 put node=0", "doc= is missing"),
        ("5 put node=0 db=1 doc=a", "there is no database 1"), ("5 put node=0 doc=a path=/x", "path= says nothing"),
        ("5 set node=0 doc=a", "path= is missing"), ("5 compact node=0 doc=a", "doc= says nothing"),
        ("5 put node=0 doc=a fields=/a=1 every=5", "\"every=5\" in fields= is no /PATH=VALUE"),
        ("5 put node=0 doc=a fields=/a=01", "\"01\" in fields= is no JSON"),
        ("5 set node=0 doc=a path=/a fields=word", "\"word\" in fields= is no JSON"),
        ("5 put node=0 doc=a count=1000 every=1", "more than 1000000 steps"),
    ]) func aWrongItemIsRefusedWithItsLine(item: String, message: String) {
        let text = "kith-sim plan 2\nseed=1 nodes=3 end=2000\n\n\(item)\n"
        let error = #expect(throws: PlanError.self) { try Plan(text: text) }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "no error")")
        if !message.contains("steps") { #expect(error?.line == 4) }
    }

    @Test func aCloneIsNamedAsANodeIs() throws {
        let head = "kith-sim plan 2\nseed=1 nodes=3\n"
        #expect(throws: PlanError.self) { try Plan(text: head + "5 put node=3 doc=a\n") }
        let plan = try Plan(text: head + "1 clone node=2 other=3\n5 put node=3 doc=a\n")
        #expect(plan.clones == NodeList([3]))
    }
}
