/// Makes the plan of a failing run as small as it gets while the run still fails under the same name.
///
/// In turns until nothing helps or the budget is used up: what comes after the failure is cut off; items are left out by
/// halves, quarters and so on; nodes and databases are left out; parameters go to zero; documents get fewer and plainer
/// fields; gaps between times close; the seed of what the plan leaves open goes to 0.
package struct Shrinker {
    package struct Budget: Sendable {
        package var seconds: Int
        package var runs: Int

        package init(seconds: Int = 60, runs: Int = 5_000) {
            self.seconds = seconds
            self.runs = runs
        }
    }

    /// The smallest plan so far, and how it fails.
    package private(set) var plan: Plan
    package private(set) var failure: Failure
    package private(set) var runs = 0
    private let budget: Budget
    private let fails: (Plan) -> Failure?
    private let start = ContinuousClock.now
    private var tried: Set<Plan> = []

    /// - Parameters:
    ///   - failure: how `plan` fails.
    ///   - fails: runs a plan and says how it failed; nil where all held.
    package init(_ plan: Plan, _ failure: Failure, budget: Budget = Budget(), fails: @escaping (Plan) -> Failure?) {
        self.plan = plan
        self.failure = failure
        self.budget = budget
        self.fails = fails
    }

    package mutating func shrink() {
        var before: Plan
        repeat {
            before = plan
            cutAfterFailure()
            leaveOutItems()
            leaveOutNodes()
            leaveOutItems()
            simplifyParameters()
            simplifyDocuments()
            closeGaps()
            simplifyHead()
        } while plan != before && !isSpent
    }

    package var seconds: Int { Int(start.duration(to: .now).components.seconds) }

    private var isSpent: Bool { runs >= budget.runs || seconds >= budget.seconds }

    /// Takes a plan that is smaller, if it fails under the same name.
    @discardableResult
    private mutating func accept(_ candidate: Plan) -> Bool {
        guard !isSpent, candidate != plan, tried.insert(candidate).inserted else { return false }
        // Only what can be read back is a plan.
        guard let read = try? Plan(text: candidate.text), read == candidate else { return false }
        runs += 1
        guard let failure = fails(candidate), failure.name == self.failure.name else { return false }
        self.failure = failure
        plan = candidate
        return true
    }

    // The parts.

    private mutating func cutAfterFailure() {
        if let time = failure.time, time < plan.end { accept(plan.ending(at: time + 1)) }
        let last = plan.items.reduce(0) { max($0, $1.time, $1.until) }
        while plan.end > last, accept(plan.ending(at: last + (plan.end - last) / 2)) {}
    }

    private mutating func leaveOutItems() {
        var length = max(1, plan.items.count / 2)
        while length > 0, !isSpent {
            var start = 0
            while start < plan.items.count {
                var candidate = plan
                candidate.items.removeSubrange(start..<min(start + length, candidate.items.count))
                if !accept(candidate) { start += length }
            }
            length /= 2
        }
    }

    private mutating func leaveOutNodes() {
        for node in (0..<plan.nodes).reversed() where plan.nodes > 1 {
            if let candidate = plan.removingNode(node) { accept(candidate) }
        }
        for database in (0..<plan.databases).reversed() where plan.databases > 1 {
            accept(plan.removingDatabase(database))
        }
    }

    private mutating func simplifyParameters() {
        for index in plan.items.indices {
            for parameter in PlanItem.numbers {
                let value = plan.items[index][keyPath: parameter]
                if value == 0 { continue }
                if accept(plan.setting(parameter, of: index, to: 0)) { continue }
                // Then halfway to the least that still fails.
                var (least, most) = (0, value)
                while abs(most - least) > 1, !isSpent {
                    let middle = least + (most - least) / 2
                    if accept(plan.setting(parameter, of: index, to: middle)) { most = middle } else { least = middle }
                }
            }
            for node in plan.items[index].nodes.members where plan.items[index].nodes.members.count > 1 {
                var candidate = plan
                candidate.items[index].nodes = NodeList(plan.items[index].nodes.members.filter { $0 != node })
                accept(candidate)
            }
        }
    }

    private mutating func simplifyDocuments() {
        for index in plan.items.indices {
            guard case .operation(let operation) = plan.items[index].action, !operation.fields.isEmpty else { continue }
            var isSmaller = true
            while isSmaller, !isSpent, case .operation(let operation) = plan.items[index].action {
                isSmaller = operation.simplerFields.contains { fields in
                    var simpler = operation
                    simpler.fields = fields
                    var candidate = plan
                    candidate.items[index].action = .operation(simpler)
                    return accept(candidate)
                }
            }
        }
    }

    private mutating func closeGaps() {
        for index in plan.items.indices {
            let gap = plan.items[index].time - (index > 0 ? plan.items[index - 1].time : 0)
            if gap <= 1 { continue }
            for rest in [0, 1, gap / 2] where rest < gap {
                if accept(plan.movingUp(from: index, by: gap - rest)) { break }
            }
        }
        let last = plan.items.last?.time ?? 0
        for end in [last, last + 1, last + 1_000] where end < plan.end {
            if accept(plan.ending(at: end)) { break }
        }
    }

    private mutating func simplifyHead() {
        for seed in UInt64(0)..<4 where plan.seed > seed {
            var candidate = plan
            candidate.seed = seed
            if accept(candidate) { break }
        }
        var candidate = plan
        candidate.policy = "latest"
        accept(candidate)
        candidate = plan
        candidate.shape = .full
        accept(candidate)
        candidate = plan
        candidate.core = NodeList()
        accept(candidate)
    }
}
