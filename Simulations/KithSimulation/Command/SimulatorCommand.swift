import Glibc

/// The `kith-sim` command.
package enum SimulatorCommand {
    package static let help = """
        kith-sim: a mesh of nodes in one process, on virtual time, from one seed

        usage: kith-sim --seed N [--nodes N] [--hours H | --minutes M] [--short | --long]
               kith-sim --seeds A..B [the same]
               kith-sim --plan FILE
               kith-sim --plans FOLDER [--all]
               kith-sim --scenario NAME
               kith-sim --scale N [--seed S]
               kith-sim --list
               kith-sim --crash-points [WORK ...] [--all]

          --seed N       run the plan that is drawn from N
          --seeds A..B   run those of A to B, on all processors, and say what they tried
          --plan FILE    run the plan in FILE; - reads it from standard input
          --plans FOLDER run the plans in FOLDER, on all processors; with --all those that take minutes or hours, too
          --scenario S   run the plan Simulations/Scenarios/S.plan
          --scale N      start N nodes at once and measure what changes cost; a bound that does not hold is a failure
          --list         list the scenarios
          --nodes N      this many nodes instead of a number from the seed
          --hours H      operations and faults for H hours of virtual time; --minutes M for minutes
          --short        six seconds, as in the test suite
          --long         10 to 12 minutes on 3 to 8 nodes
          --double       run everything twice, in two processes, and compare the traces
          --trace        print every event; runs in this process and shrinks nothing
          --print-plan   print the plan and run nothing
          --no-shrink    leave a failing plan as it is
          --shrink-seconds S   shrink for S seconds instead of 60
          --out DIR      where plans that failed are written; the working directory without it
          --complete     with --seeds: an operation or fault that was never carried out, or a state that was never
                         met, is a failure; so is a long run of less than 20,000 events, ten minutes or
                         three kinds of fault
          --here         run in this process instead of a child; --quiet for a report that programs read
          --sabotage S   put in a bug on purpose: \(SimulatorRequest.sabotages)

        The last line of a run has the hash of its trace: the same plan has the same hash.
        Exit status: 0 all held; 1 something did not; 2 something did not come about after healing; 3 a trap; 4 two runs
        of one plan differ; 5 no end; 6 with --complete, too little was tried; 64 wrong usage; 66 no such plan.

        """

    static let neverTried: Int32 = 6
    static let wrongUsage: Int32 = 64
    private static let noPlan: Int32 = 66

    /// Runs the command.
    /// - Returns: its exit status.
    package static func run(_ arguments: [String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            print(help, terminator: "")
            return 0
        }
        if arguments.first == "--scale" { return ScaleCommand.run(Array(arguments.dropFirst())) }
        if arguments.first == CrashPointCommand.option {
            return CrashPointCommand.run(arguments: Array(arguments.dropFirst()))
        }
        do throws(SimulatorRequest.UsageError) {
            let request = try SimulatorRequest(arguments)
            switch request.subject {
            case .list: return list()
            case .plan(let file): return runFile(file, request, "--plan \(file)")
            case .scenario(let name):
                guard let directory = PlanFile.scenarioDirectory else {
                    printError("kith-sim: no folder Simulations/Scenarios above this program or the working directory")
                    return noPlan
                }
                return runFile("\(directory)/\(name).plan", request, "--scenario \(name)")
            case .plans(let directory): return runFolder(directory, request)
            case .seeds(let seeds):
                if seeds.count > 1, !request.printsPlan { return Campaign(seeds, request).run() }
                return seeds.reduce(0) { status, seed in
                    max(status, runOne(PlanGenerator.plan(seed: seed, request.options), request, "--seed \(seed)"))
                }
            }
        } catch {
            return refuse(error.message)
        }
    }

    private static func list() -> Int32 {
        guard let directory = PlanFile.scenarioDirectory else {
            printError("kith-sim: no folder Simulations/Scenarios above this program or the working directory")
            return noPlan
        }
        for name in PlanFile.names(in: directory) {
            let title = PlanFile.read("\(directory)/\(name).plan").map(PlanFile.title) ?? ""
            print(name + String(repeating: " ", count: max(1, 34 - name.utf8.count)) + title)
        }
        return 0
    }

    private static func runFile(_ file: String, _ request: SimulatorRequest, _ subject: String) -> Int32 {
        guard let (plan, _) = load(file) else { return noPlan }
        return runOne(plan, request, subject)
    }

    /// The plan in a file; nil, and why, where there is none.
    private static func load(_ file: String) -> (plan: Plan, isLong: Bool)? {
        guard let text = PlanFile.read(file) else {
            printError("kith-sim: can't read \(file): \(String(cString: strerror(errno)))")
            return nil
        }
        do throws(PlanError) { return (try Plan(text: text), PlanFile.isLong(text)) } catch {
            printError("kith-sim: \(file): \(error)")
            return nil
        }
    }

    private static func runFolder(_ directory: String, _ request: SimulatorRequest) -> Int32 {
        var trials: [Campaign.Trial] = []
        for name in PlanFile.names(in: directory) {
            let file = "\(directory)/\(name).plan"
            guard let (plan, isLong) = load(file) else { return noPlan }
            if isLong, !request.includesLong { continue }
            trials.append(Campaign.Trial(plan: plan, name: name, subject: "--plan \(file)"))
        }
        if trials.isEmpty {
            printError("kith-sim: no plans in \(directory)")
            return noPlan
        }
        return Campaign("plans of \(directory)", count: trials.count, request) { [trials] in trials[$0] }.run()
    }

    private static func runOne(_ plan: Plan, _ request: SimulatorRequest, _ subject: String) -> Int32 {
        if request.printsPlan {
            print(plan.text, terminator: "")
            return 0
        }
        let report = request.isHere ? runHere(plan, request) : Supervisor(request).run(plan)
        if request.isQuiet {
            print(report.text, terminator: "")
            return report.failure?.kind.exitStatus ?? 0
        }
        print(Supervisor.line(plan, report))
        guard let failure = report.failure else { return 0 }
        if !request.prints { for line in report.recent { print(line) } }
        print(failure)
        // What is known is shown before the minute that shrinking takes.
        fflush(nil)
        if !request.isHere, request.shrinks, let shrunk = Supervisor(request).shrink(plan, failure) { print(shrunk) }
        print("repeat: kith-sim \(([subject] + request.repetition).joined(separator: " ")) --trace")
        return failure.kind.exitStatus
    }

    private static func runHere(_ plan: Plan, _ request: SimulatorRequest) -> RunReport {
        let start = Usage.processorMilliseconds
        let outcome = Simulation.run(
            plan, .init(trace: request.prints ? { print($0) } : nil, sabotage: request.sabotage))
        return RunReport(outcome, cpuMilliseconds: Usage.processorMilliseconds - start)
    }

    /// - Returns: the exit status of wrong usage.
    static func refuse(_ message: String) -> Int32 {
        printError("kith-sim: \(message); see kith-sim --help")
        return wrongUsage
    }

    private static func printError(_ text: String) {
        let line = Array((text + "\n").utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }
}
