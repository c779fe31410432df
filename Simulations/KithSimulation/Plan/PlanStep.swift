/// One thing that is carried out: what an item comes to for one time, one node and one document of a burst.
package struct PlanStep: Hashable, Sendable {
    /// Milliseconds of virtual time.
    package let time: Int
    /// Of the plan.
    package let item: Int
    /// Without repetition, without a burst; of one node where it is about each node.
    package let action: Action
}

extension Plan {
    /// What is carried out, in order of time; at one time in the order of the items.
    package var steps: [PlanStep] {
        var steps: [PlanStep] = []
        steps.reserveCapacity(stepCount)
        for (index, item) in items.enumerated() {
            for repetition in 0..<repetitions(of: item) {
                let time = item.time + repetition * item.every
                for action in item.action.single(repetition: repetition) {
                    steps.append(PlanStep(time: time, item: index, action: action))
                }
            }
        }
        let order = steps.indices.sorted { one, other in
            steps[one].time != steps[other].time ? steps[one].time < steps[other].time : one < other
        }
        return order.map { steps[$0] }
    }

    /// How many steps there are, without making them.
    package var stepCount: Int {
        items.reduce(0) { sum, item in
            let (product, overflow) = repetitions(of: item).multipliedReportingOverflow(by: item.action.singleCount)
            return overflow ? Int.max / 2 : min(Int.max / 2, sum + product)
        }
    }

    private func repetitions(of item: PlanItem) -> Int {
        let last = item.until > 0 ? min(item.until, end) : end
        if item.time > last { return 0 }
        return item.every > 0 ? (last - item.time) / item.every + 1 : 1
    }
}

extension Action {
    fileprivate var singleCount: Int {
        switch self {
        case .operation(let operation): max(1, operation.nodes.members.count) * max(1, operation.count)
        case .fault(let fault): fault.kind.scope == .each ? max(1, fault.nodes.members.count) : 1
        }
    }

    /// What it comes to the n-th time, for each node and each document.
    func single(repetition: Int) -> [Action] {
        switch self {
        case .operation(let operation):
            let nodes = operation.nodes.isEmpty ? [operation.node] : operation.nodes.members
            return nodes.flatMap { node in
                (0..<max(1, operation.count)).map { number in
                    var single = operation
                    single.node = node
                    single.nodes = NodeList()
                    single.count = 0
                    let numbers = (repetition, node, number)
                    let isNumbered = operation.count > 0 && !operation.document.utf8.containsPair("$", "i")
                    single.document = Self.substituted(operation.document + (isNumbered ? "$i" : ""), numbers)
                    single.fields = Self.substituted(operation.fields, numbers)
                    return .operation(single)
                }
            }
        case .fault(let fault):
            guard fault.kind.scope == .each, !fault.nodes.isEmpty else { return [self] }
            return fault.nodes.members.map { node in
                var single = fault
                single.node = node
                single.nodes = NodeList()
                return .fault(single)
            }
        }
    }

    private static func substituted(_ text: String, _ numbers: (repetition: Int, node: Int, burst: Int)) -> String {
        guard text.utf8.contains(UInt8(ascii: "$")) else { return text }
        var result: [UInt8] = []
        var isDollar = false
        for byte in text.utf8 {
            if isDollar {
                isDollar = false
                switch byte {
                case UInt8(ascii: "n"): result.append(contentsOf: String(numbers.repetition).utf8)
                case UInt8(ascii: "k"): result.append(contentsOf: String(numbers.node).utf8)
                case UInt8(ascii: "i"): result.append(contentsOf: String(numbers.burst).utf8)
                default: result.append(contentsOf: [UInt8(ascii: "$"), byte])
                }
            } else if byte == UInt8(ascii: "$") {
                isDollar = true
            } else {
                result.append(byte)
            }
        }
        if isDollar { result.append(UInt8(ascii: "$")) }
        return String(decoding: result, as: UTF8.self)
    }
}

extension String.UTF8View {
    fileprivate func containsPair(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
        zip(self, dropFirst()).contains { $0 == UInt8(ascii: first) && $1 == UInt8(ascii: second) }
    }
}
