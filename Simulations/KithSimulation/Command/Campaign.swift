import Dispatch
import Glibc
import Synchronization

/// Runs the plans of many seeds in child processes, one for each processor at a time, and tells in the end what was tried.
final class Campaign: Sendable {
    private struct State {
        var next: UInt64?
        /// What is to be printed, by seed: in their order, whichever ends first.
        var printed: [UInt64: String] = [:]
        var shown: UInt64
        var table = CampaignTable()
        var failures: [(plan: Plan, failure: Failure)] = []
    }

    private let seeds: ClosedRange<UInt64>
    private let request: SimulatorRequest
    private let supervisor: Supervisor
    private let state: Mutex<State>

    init(_ seeds: ClosedRange<UInt64>, _ request: SimulatorRequest) {
        self.seeds = seeds
        self.request = request
        supervisor = Supervisor(request)
        state = Mutex(State(next: seeds.lowerBound, shown: seeds.lowerBound))
    }

    /// - Returns: the exit status of the command.
    func run() -> Int32 {
        let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        DispatchQueue.concurrentPerform(iterations: processors) { _ in
            while let seed = nextSeed() { run(seed) }
        }
        let (table, failures) = state.withLock { ($0.table, $0.failures.sorted { $0.plan.seed < $1.plan.seed }) }
        print(table.text(seeds))
        var status = failures.reduce(Int32(0)) { max($0, $1.failure.kind.exitStatus) }
        let isSmall = request.options.length == .long && table.smallRuns > 0
        if status == 0, request.isComplete, isSmall || !table.neverTried.isEmpty || !table.neverMet.isEmpty {
            status = SimulatorCommand.neverTried
        }
        // One plan of each name is enough to begin with.
        var names: Set<String> = []
        for (plan, failure) in failures where request.shrinks && names.insert(failure.name).inserted {
            print("\n\(failure)")
            fflush(nil)
            if let shrunk = supervisor.shrink(plan, failure) { print(shrunk) }
        }
        return status
    }

    private func nextSeed() -> UInt64? {
        state.withLock { state in
            let seed = state.next
            state.next = seed.flatMap { $0 < seeds.upperBound ? $0 + 1 : nil }
            return seed
        }
    }

    private func run(_ seed: UInt64) {
        let plan = PlanGenerator.plan(seed: seed, request.options)
        let report = supervisor.run(plan)
        var line = Supervisor.line(plan, report)
        if let failure = report.failure {
            line += "\n\(failure)\nrepeat: kith-sim "
            line += (["--seed \(seed)"] + request.repetition).joined(separator: " ") + " --trace"
        }
        let text = line
        state.withLock { state in
            state.table.add(plan, report)
            if let failure = report.failure { state.failures.append((plan, failure)) }
            state.printed[seed] = text
            while let line = state.printed.removeValue(forKey: state.shown) {
                print(line)
                fflush(nil)
                if state.shown == seeds.upperBound { break }
                state.shown += 1
            }
        }
    }
}
