import KithSimulation
import KithTestSupport
import Testing

@Suite struct SimulatorCommandTests {
    @Test(arguments: [
        ["--fly"], ["--seed"], ["--seed", "-1"], ["--seeds", "5..4"], ["--seeds", "5"], [],
        ["--seed", "1", "--plan", "x"],
        ["--seed", "1", "--nodes", "0"], ["--sabotage", "nothing"], ["--seed", "1", "--hours", "0"],
    ]) func wrongUsageIsToldFromAFailure(arguments: [String]) async throws {
        let result = try await SimulatorProgram.run(arguments)
        #expect(result.status == 64 && result.text.contains("see kith-sim --help"), "\(result.text)")
    }

    @Test func helpIsNoFailure() async throws {
        #expect(try await SimulatorProgram.run(["--help"]).status == 0)
    }

    @Test func aPlanThatIsNotThereOrIsNoneIsNamed() async throws {
        let missing = try await SimulatorProgram.run(["--plan", "/nowhere.plan"])
        #expect(missing.status == 66 && missing.text.contains("/nowhere.plan"), "\(missing.text)")
        let directory = TemporaryDirectory()
        #expect(PlanFile.write("kith-sim plan 2\nseed=1 nodes=2\n5 fly node=0\n", to: directory.path + "/a.plan"))
        let wrong = try await SimulatorProgram.run(["--plan", directory.path + "/a.plan"])
        #expect(wrong.status == 66 && wrong.text.contains("plan line 3"), "\(wrong.text)")
        let unknown = try await SimulatorProgram.run(["--scenario", "no-such-scenario"])
        #expect(unknown.status == 66, "\(unknown.text)")
    }

    /// From a bug put in on purpose to the plan that shows it.
    @Test func aFailureIsShrunkToAPlanThatRepeatsIt() async throws {
        let directory = TemporaryDirectory()
        let sabotage = ["--sabotage", "acknowledgesNothing"]
        let result = try await SimulatorProgram.run(
            ["--seed", "1", "--short", "--shrink-seconds", "60", "--out", directory.path] + sabotage)
        #expect(result.status == 1 && result.text.contains("\nS1 "), "\(result.text)")
        let file = directory.path + "/1-S1.plan"
        #expect(directory.names == ["1-S1.plan"])
        #expect(!result.lines(with: "repeat: kith-sim --plan \(file) --sabotage acknowledgesNothing").isEmpty)
        let plan = try Plan(text: try #require(PlanFile.read(file)))
        #expect(plan.items.count <= 4, "\(plan.text)")
        let again = try await SimulatorProgram.run(["--plan", file, "--no-shrink"] + sabotage)
        #expect(again.status == 1 && again.text.contains("\nS1 "), "\(again.text)")
        #expect(try await SimulatorProgram.run(["--plan", file]).status == 0)
    }

    @Test func aRangeSaysWhatItTriedAndWhatNot() async throws {
        let result = try await SimulatorProgram.run(["--seeds", "3..4", "--short", "--complete"])
        #expect(result.status == 6, "\(result.text)")
        #expect(result.text.contains("runs            seeds 3..4: 2 held, 0 failed"), "\(result.text)")
        #expect(result.lines(with: "never tried").count == 1 && result.lines(with: "operations").count == 1)
        #expect(result.lines(with: "ok ").first?.contains("seed 3 ") == true, "\(result.text)")
    }

    @Test func crashPointsAreTriedForTheKindsOfWorkThatAreNamed() async throws {
        let result = try await SimulatorProgram.run(["--crash-points", "opening"])
        #expect(result.status == 0, "\(result.text)")
        let rows = result.lines(with: "opening ") + result.lines(with: "all ")
        // Calls, crashes, crashes in recoveries, what is wrong, and the rate.
        let numbers = rows.map { $0.split(separator: " ").compactMap { Int($0) } }
        let areRight = numbers.allSatisfy { $0.count == 5 && $0[1] > $0[0] && $0[3] == 0 }
        #expect(rows.count == 2 && areRight, "\(result.text)")
        #expect(try await SimulatorProgram.run(["--crash-points", "nothing"]).status == 64)
    }

    @Test func aTraceIsPrintedAndEndsWithItsHash() async throws {
        let traced = try await SimulatorProgram.run(["--seed", "3", "--short", "--trace"])
        let plain = try await SimulatorProgram.run(["--seed", "3", "--short"])
        #expect(traced.text.split(separator: "\n").count > 1_000)
        let hash = plain.text.split(separator: " ").drop { $0 != "trace" }.dropFirst().first ?? "none"
        #expect(traced.text.contains("trace \(hash) "), "\(plain.text)")
    }
}
