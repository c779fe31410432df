/// Runs plans in child processes as a request says, and shrinks those that fail.
struct Supervisor: Sendable {
    private let child: ChildRun
    private let isDouble: Bool
    private let directory: String
    private let shrinkSeconds: Int
    private let options: [String]

    init(_ request: SimulatorRequest) {
        options = request.runOptions
        child = ChildRun(program: ChildRun.ownProgram, options: options)
        isDouble = request.isDouble
        directory = request.directory
        shrinkSeconds = request.shrinkSeconds
    }

    func run(_ plan: Plan) -> RunReport { isDouble ? child.runTwice(plan) : child.run(plan) }

    /// What a run did, in a line.
    /// - Parameter name: of the plan, where it has another than its seed.
    static func line(_ plan: Plan, _ report: RunReport, _ name: String? = nil) -> String {
        let policy = plan.policy.hasPrefix("{") ? "by-path" : plan.policy
        let result = report.failure == nil ? "ok    " : "FAILED"
        return "\(result) \(name ?? "seed \(plan.seed)") nodes \(plan.nodes) policy \(policy) "
            + "items \(plan.items.count) \(report.summary)"
    }

    /// Shrinks a plan and writes it to a file.
    /// - Returns: lines that say where it is and how to run it.
    func shrink(_ plan: Plan, _ failure: Failure) -> String? {
        var child = child
        // What fails by never ending must not use up the budget in one run.
        child.seconds = failure.kind == .budget ? shrinkSeconds / 4 + 1 : shrinkSeconds
        let run = child
        let isTwice = failure.kind == .nondeterminism
        var shrinker = Shrinker(plan, failure, budget: .init(seconds: shrinkSeconds)) { candidate in
            isTwice ? run.runTwice(candidate).failure : run.run(candidate).failure
        }
        shrinker.shrink()
        let name = failure.name.map { $0.isLetter || $0.isNumber ? $0 : "-" }
        let file = "\(directory)/\(plan.seed)-\(String(name)).plan"
        let size = "\(shrinker.plan.items.count) of \(plan.items.count) items"
        let comment = "# \(shrinker.failure)\n# Shrunk to \(size), from the plan of seed \(plan.seed).\n"
        guard PlanFile.write(comment + shrinker.plan.text, to: file) else { return "can't write \(file)" }
        let command = (["kith-sim", "--plan", file] + options + ["--trace"]).joined(separator: " ")
        return "shrunk to \(size) in \(shrinker.seconds) s and \(shrinker.runs) runs: \(file)\nrepeat: \(command)"
    }
}
