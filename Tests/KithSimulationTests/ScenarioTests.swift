import Foundation
import KithSimulation
import KithTestSupport
import Testing

@Suite struct ScenarioTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    private static let directory = root + "/Simulations/Scenarios"
    static let names = PlanFile.names(in: directory)

    private static func text(_ name: String) throws -> String {
        try #require(PlanFile.read("\(directory)/\(name).plan"))
    }

    @Test(arguments: names) func aScenarioCanBeReadAndSaysWhatMustHold(name: String) throws {
        let text = try Self.text(name)
        let plan = try Plan(text: text)
        #expect(try Plan(text: plan.text) == plan)
        #expect(!PlanFile.title(ofPlan: text).isEmpty)
        #expect(text.contains("Must hold"))
        // What is no member in the end can't be healed with the others.
        let budget = FaultBudget(plan)
        let core = plan.core.isEmpty ? NodeList(Array(0..<plan.nodes)) : plan.core
        for node in budget.outsiders.members { #expect(!core.contains(node)) }
    }

    @Test func thereIsAScenarioForEachVerbEachShapeAndEachKindOfHostileMember() throws {
        var words: Set<String> = []
        for name in Self.names {
            let plan = try Plan(text: try Self.text(name))
            words.insert(plan.shape.rawValue)
            for item in plan.items {
                words.insert(item.action.verb)
                if case .fault(let fault) = item.action { words.insert(fault.text) }
            }
        }
        let all =
            Operation.Kind.allCases.map(\.rawValue) + Fault.Kind.allCases.map(\.rawValue)
            + Shape.allCases.map(\.rawValue) + HostileKind.allCases.map(\.rawValue)
        let missing = all.filter { !words.contains($0) }
        #expect(missing.isEmpty)
    }

    @Test func theManualHasEachVerbUnderItsArea() throws {
        let manual = try String(contentsOfFile: Self.root + "/docs/simulation.md", encoding: .utf8)
        var rows = [("operations", Operation.Kind.allCases.map(\.rawValue))]
        for area in Area.allCases {
            rows.append((area.rawValue, Fault.Kind.allCases.filter { $0.area == area }.map(\.rawValue)))
        }
        for (name, verbs) in rows {
            #expect(manual.contains("| \(name) | \(verbs.joined(separator: ", ")) |"), "\(name)")
        }
    }

    @Test func theManualSaysOfEachInvariantWhereItIsLookedAtAndWhatItCaught() throws {
        let manual = try String(contentsOfFile: Self.root + "/docs/simulation.md", encoding: .utf8)
        for invariant in Invariant.allCases {
            let rows = manual.split(separator: "\n").filter { $0.hasPrefix("| \(invariant.rawValue) |") }
            #expect(rows.count == 1, "\(invariant.rawValue)")
            let cells = rows.flatMap { $0.split(separator: "|") }.map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(cells.count == 4 && cells[2].contains("`") && cells[3].contains("`"), "\(invariant.rawValue)")
        }
    }

    @Test func theCommandListsAndRunsThem() async throws {
        let list = try await SimulatorProgram.run(["--list"])
        #expect(list.status == 0)
        for name in Self.names { #expect(!list.lines(with: name + " ").isEmpty, "\(name)") }
        let run = try await SimulatorProgram.run(["--scenario", "numbers-in-transit"])
        #expect(run.status == 0, "\(run.text)")
    }
}
