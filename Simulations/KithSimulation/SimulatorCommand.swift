import Glibc

/// The `kith-sim` command.
package enum SimulatorCommand {
    package static let help = """
        kith-sim: a mesh of nodes in one process, on virtual time, from one seed

        usage: kith-sim --seed N [--nodes N] [--minutes M | --short] [--trace] [--print-plan]
               kith-sim --seeds A..B [--nodes N] [--minutes M | --short]
               kith-sim --plan FILE [--trace]
               kith-sim --crash-points [WORK ...]

          --seed N       run the plan that is drawn from N
          --seeds A..B   run those of A to B, one after the other, and stop at none
          --plan FILE    run the plan in FILE; - reads it from standard input
          --crash-points the power goes at every call of each kind of work of a store, and of the recoveries
          --nodes N      this many nodes, 3 to 6, instead of a number from the seed
          --minutes M    operations and faults for M minutes of virtual time
          --short        the short runs of the test suite
          --trace        print every event
          --print-plan   print the plan and run nothing
          --sabotage S   put in a bug on purpose: \(Sabotage.allCases.map(\.rawValue).joined(separator: ", "))

        The last line of a run has the hash of its trace: the same seed has the same hash.
        Exit status: 0 all held, 1 something did not, 64 wrong usage.

        """

    private struct Request {
        var seeds: ClosedRange<UInt64>?
        var planFile: String?
        var options = PlanGenerator.Options()
        var isShort = false
        var prints = false
        var printsPlan = false
        var sabotage: Sabotage?
    }

    private struct UsageError: Error { let message: String }

    /// Runs the command.
    /// - Returns: its exit status.
    package static func run(_ arguments: [String]) -> Int32 {
        do {
            if arguments.contains("--help") || arguments.contains("-h") {
                print(help, terminator: "")
                return 0
            }
            if arguments.first == CrashPointCommand.option {
                return CrashPointCommand.run(arguments: Array(arguments.dropFirst()))
            }
            let request = try parse(arguments)
            if let file = request.planFile { return runPlan(file, request) }
            guard let seeds = request.seeds else { throw UsageError(message: "give --seed, --seeds or --plan") }
            var failures: Int32 = 0
            for seed in seeds {
                let plan = PlanGenerator.plan(seed: seed, request.options)
                if request.printsPlan {
                    print(plan.text, terminator: "")
                    continue
                }
                if !run(plan, request, command: command(seed, request)) { failures = 1 }
            }
            return failures
        } catch {
            printError("kith-sim: \((error as? UsageError)?.message ?? "\(error)"); see kith-sim --help")
            return 64
        }
    }

    private static func runPlan(_ file: String, _ request: Request) -> Int32 {
        guard let text = read(file) else {
            printError("kith-sim: can't read \(file): \(String(cString: strerror(errno)))")
            return 1
        }
        do throws(PlanError) {
            let plan = try Plan(text: text)
            return run(plan, request, command: "kith-sim --plan \(file)") ? 0 : 1
        } catch {
            printError("kith-sim: \(file): \(error)")
            return 1
        }
    }

    /// - Returns: whether all held.
    private static func run(_ plan: Plan, _ request: Request, command: String) -> Bool {
        let outcome = Simulation.run(
            plan, .init(trace: request.prints ? { print($0) } : nil, sabotage: request.sabotage))
        let seconds = outcome.virtualMilliseconds / 1_000
        let summary =
            "seed \(plan.seed) nodes \(plan.nodes) policy \(plan.policy) items \(plan.items.count) events \(outcome.events) "
            + "virtual \(seconds) s links \(outcome.links) writes \(outcome.acknowledgedWrites) "
            + "pulled \(outcome.revisionsPulled) trace \(hex(outcome.traceHash))"
        guard let violation = outcome.violation else {
            print("ok     \(summary)")
            return true
        }
        if !request.prints {
            print(plan.text, terminator: "")
            for line in outcome.recent { print(line) }
        }
        print("FAILED \(summary)")
        print("\(violation)")
        print("repeat: \(command)")
        return false
    }

    private static func command(_ seed: UInt64, _ request: Request) -> String {
        var command = "kith-sim --seed \(seed)"
        if let nodes = request.options.nodes { command += " --nodes \(nodes)" }
        if request.isShort {
            command += " --short"
        } else if let seconds = request.options.seconds {
            command += " --minutes \(seconds / 60)"
        }
        if let sabotage = request.sabotage { command += " --sabotage \(sabotage.rawValue)" }
        return command + " --trace"
    }

    private static func parse(_ arguments: [String]) throws(UsageError) -> Request {
        var request = Request()
        var rest = arguments[...]
        func value(of option: String) throws(UsageError) -> String {
            guard let value = rest.popFirst() else { throw UsageError(message: "\(option) needs a value") }
            return value
        }
        func number<Number: FixedWidthInteger>(
            of option: String, in range: ClosedRange<Number>
        ) throws(UsageError) -> Number {
            guard let number = Number(try value(of: option)), range.contains(number) else {
                throw UsageError(message: "\(option) must be from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        while let option = rest.popFirst() {
            switch option {
            case "--seed":
                let seed: UInt64 = try number(of: option, in: 0...UInt64.max)
                request.seeds = seed...seed
            case "--seeds": request.seeds = try seeds(try value(of: option))
            case "--plan": request.planFile = try value(of: option)
            case "--nodes": request.options.nodes = try number(of: option, in: SimulationLimits.nodes)
            case "--minutes": request.options.seconds = 60 * (try number(of: option, in: 1...1_000))
            case "--short":
                request.options.seconds = request.options.seconds ?? PlanGenerator.Options.short.seconds
                request.options.leastSegment = PlanGenerator.Options.short.leastSegment
                request.isShort = true
            case "--trace": request.prints = true
            case "--print-plan": request.printsPlan = true
            case "--sabotage":
                guard let sabotage = Sabotage(rawValue: try value(of: option)) else {
                    throw UsageError(message: "--sabotage must be one of \(Sabotage.allCases.map(\.rawValue))")
                }
                request.sabotage = sabotage
            default: throw UsageError(message: "unknown option \(option)")
            }
        }
        return request
    }

    private static func seeds(_ text: String) throws(UsageError) -> ClosedRange<UInt64> {
        let parts = text.split(separator: ".", omittingEmptySubsequences: true)
        guard parts.count == 2, let first = UInt64(parts[0]), let last = UInt64(parts[1]), first <= last else {
            throw UsageError(message: "--seeds must be A..B with A not above B")
        }
        return first...last
    }

    private static func read(_ path: String) -> String? {
        guard let file = fopen(path == "-" ? "/dev/stdin" : path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        // What is longer than any plan is no plan.
        while bytes.count < SimulationLimits.planLines * 256 {
            let count = fread(&part, 1, part.count, file)
            if count == 0 { break }
            bytes.append(contentsOf: part[..<count])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func printError(_ text: String) {
        let line = Array((text + "\n").utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }
}
