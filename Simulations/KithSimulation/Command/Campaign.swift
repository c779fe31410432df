import Dispatch
import Glibc
import Synchronization

/// Runs many plans in child processes, one for each processor at a time, and tells in the end what was tried.
final class Campaign: Sendable {
    /// A plan, and the options that run it alone.
    struct Trial: Sendable {
        let plan: Plan
        let name: String
        let subject: String
    }

    private struct State {
        var next = 0
        /// What is to be printed, by number: in their order, whichever ends first.
        var printed: [Int: String] = [:]
        var shown = 0
        var table = CampaignTable()
        var failures: [(number: Int, plan: Plan, failure: Failure)] = []
    }

    private let title: String
    private let count: Int
    private let trial: @Sendable (Int) -> Trial
    /// The same with more time, for a run that did too little; none where the time was asked for.
    private let longerTrial: (@Sendable (Int) -> Trial)?
    private let request: SimulatorRequest
    private let supervisor: Supervisor
    private let state = Mutex(State())

    /// - Parameters:
    ///   - title: what these plans are, for the table.
    ///   - trial: makes each of `count` when it is its turn.
    ///   - longerTrial: makes it anew with more time, where a long run that held did less than it must.
    init(
        _ title: String, count: Int, _ request: SimulatorRequest, longerTrial: (@Sendable (Int) -> Trial)? = nil,
        trial: @escaping @Sendable (Int) -> Trial
    ) {
        self.title = title
        self.count = count
        self.trial = trial
        self.longerTrial = longerTrial
        self.request = request
        supervisor = Supervisor(request)
    }

    /// The plans of seeds.
    convenience init(_ seeds: ClosedRange<UInt64>, _ request: SimulatorRequest) {
        let options = request.options
        // Three nodes that are down most of the time have little to do.
        var longerTrial: (@Sendable (Int) -> Trial)?
        if options.length == .long, options.seconds == nil {
            var longer = options
            longer.seconds = 3_600
            longerTrial = { [longer] number in Campaign.trial(seeds, number, longer, " --hours 1") }
        }
        self.init(
            "seeds \(seeds.lowerBound)..\(seeds.upperBound)", count: seeds.count, request, longerTrial: longerTrial
        ) { number in Campaign.trial(seeds, number, options) }
    }

    private static func trial(
        _ seeds: ClosedRange<UInt64>, _ number: Int, _ options: PlanGenerator.Options, _ more: String = ""
    ) -> Trial {
        let seed = seeds.lowerBound + UInt64(number)
        return Trial(
            plan: PlanGenerator.plan(seed: seed, options), name: "seed \(seed)", subject: "--seed \(seed)" + more)
    }

    /// - Returns: the exit status of the command.
    func run() -> Int32 {
        let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        DispatchQueue.concurrentPerform(iterations: processors) { _ in
            while let number = nextNumber() { run(number) }
        }
        let (table, failures) = state.withLock { ($0.table, $0.failures.sorted { $0.number < $1.number }) }
        print(table.text(title))
        var status = failures.reduce(Int32(0)) { max($0, $1.failure.kind.exitStatus) }
        let isSmall = request.options.length == .long && table.smallRuns > 0
        if status == 0, request.isComplete, isSmall || !table.neverTried.isEmpty || !table.neverMet.isEmpty {
            status = SimulatorCommand.neverTried
        }
        // One plan of each name is enough to begin with.
        var names: Set<String> = []
        for (_, plan, failure) in failures where request.shrinks && names.insert(failure.name).inserted {
            print("\n\(failure)")
            fflush(nil)
            if let shrunk = supervisor.shrink(plan, failure) { print(shrunk) }
        }
        return status
    }

    private func nextNumber() -> Int? {
        state.withLock { state in
            guard state.next < count else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    private func run(_ number: Int) {
        var trial = trial(number)
        var report = supervisor.run(trial.plan)
        if let longerTrial, report.failure == nil, Volume(report).isSmall {
            trial = longerTrial(number)
            report = supervisor.run(trial.plan)
        }
        var line = Supervisor.line(trial.plan, report, trial.name)
        if let failure = report.failure {
            line += "\n\(failure)\nrepeat: kith-sim "
            line += ([trial.subject] + request.repetition).joined(separator: " ") + " --trace"
        }
        let text = line
        state.withLock { state in
            state.table.add(trial.plan, report)
            if let failure = report.failure { state.failures.append((number, trial.plan, failure)) }
            state.printed[number] = text
            while let line = state.printed.removeValue(forKey: state.shown) {
                print(line)
                fflush(nil)
                state.shown += 1
            }
        }
    }
}
