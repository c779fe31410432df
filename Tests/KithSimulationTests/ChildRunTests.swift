import Glibc
import KithSimulation
import KithTestSupport
import Testing

/// Programs that stand for a run, and end in each way that a run can.
@Suite struct ChildRunTests {
    private let directory = TemporaryDirectory()
    private let plan = PlanGenerator.plan(seed: 1, .short)

    private func run(_ script: String, seconds: Int = 60, twice: Bool = false) async -> RunReport {
        let path = directory.path + "/program"
        #expect(PlanFile.write("#!/bin/sh\n" + script + "\n", to: path))
        chmod(path, 0o700)
        var child = ChildRun(program: path)
        child.seconds = seconds
        let made = child
        let plan = plan
        return await onThread { twice ? made.runTwice(plan) : made.run(plan) }
    }

    @Test func aReportIsReadBack() throws {
        var report = RunReport(
            failure: Failure(.liveness, name: "L1", time: 77, "L1 convergence: not equal\nafter all"))
        report.traceHash = .max
        report.events = 12
        report.carriedOut.add("backup-check", 3)
        report.recent = ["  12.000 1 fault        0 kill node=1"]
        #expect(RunReport(text: "noise\n" + report.text) == report)
        #expect(RunReport(text: "noise\n") == nil)
    }

    @Test func aTrapIsAFailureWithItsPlace() async {
        let trapped = await run("echo 'KithStore/Store.swift:12: Fatal error: no' >&2; kill -ILL $$")
        #expect(trapped.failure?.kind == .trap)
        #expect(trapped.failure?.name == "trap-KithStore/Store.swift:12")
        let silent = await run("kill -SEGV $$")
        #expect(silent.failure?.name == "trap")
    }

    @Test func aRunWithoutAnEndIsEnded() async {
        #expect(await run("exec sleep 600", seconds: 1).failure?.kind == .budget)
    }

    @Test func twoTracesAreAFailureOfTheirOwn() async {
        let counter = directory.path + "/count"
        let script = "echo x >> \(counter); echo run $(wc -l < \(counter)) 1 1 1 1 1 1"
        #expect(await run(script).failure == nil)
        let twice = await run(script, twice: true)
        #expect(twice.failure?.kind == .nondeterminism)
    }

    @Test func aProgramThatIsNotThereOrSaysNothingIsAFailure() async {
        #expect(ChildRun(program: "/nowhere").run(plan).failure?.message.contains("/nowhere") == true)
        #expect(await run("echo hello; exit 9").failure?.message.contains("hello") == true)
    }
}
