// What can be taken from a plan.

extension Plan {
    /// The plan up to a time, in milliseconds.
    func ending(at time: Int) -> Plan {
        var plan = self
        plan.end = time
        plan.items = items.filter { $0.time <= time }
        for index in plan.items.indices { plan.items[index].until = min(plan.items[index].until, time) }
        return plan
    }

    /// The plan without one node, with those above it renumbered; nil where the core would have nobody left.
    func removingNode(_ node: Int) -> Plan? {
        var plan = self
        plan.nodes -= 1
        plan.core = core.removing(node)
        if plan.core.isEmpty, !core.isEmpty { return nil }
        plan.items = items.compactMap { $0.removing(node) }
        return plan
    }

    func removingDatabase(_ database: Int) -> Plan {
        var plan = self
        plan.databases -= 1
        plan.items = items.compactMap { item in
            guard case .operation(var operation) = item.action else { return item }
            if operation.database == database { return nil }
            if operation.database > database { operation.database -= 1 }
            var item = item
            item.action = .operation(operation)
            return item
        }
        return plan
    }

    func setting(_ number: WritableKeyPath<PlanItem, Int>, of index: Int, to value: Int) -> Plan {
        var plan = self
        plan.items[index][keyPath: number] = value
        // What is not repeated has no last time.
        if plan.items[index].every == 0 { plan.items[index].until = 0 }
        return plan
    }

    /// The plan with all items from one on earlier, and its end too.
    func movingUp(from index: Int, by milliseconds: Int) -> Plan {
        var plan = self
        for later in index..<items.count {
            plan.items[later].time -= milliseconds
            if items[later].until > 0 { plan.items[later].until -= milliseconds }
        }
        plan.end = max(end - milliseconds, plan.items.last?.time ?? 0)
        return plan
    }
}

extension PlanItem {
    /// All numbers that may go towards zero.
    static var numbers: [WritableKeyPath<PlanItem, Int>] {
        [\.every, \.until, \.count, \.size, \.milliseconds, \.low, \.high]
    }

    /// Nil where nobody is left for it to happen to.
    func removing(_ node: Int) -> PlanItem? {
        func moved(_ number: Int) -> Int { number > node ? number - 1 : number }
        var item = self
        item.nodes = nodes.removing(node)
        if item.nodes.isEmpty, !nodes.isEmpty { return nil }
        switch action {
        case .operation(var operation):
            if nodes.isEmpty, operation.node == node { return nil }
            operation.node = nodes.isEmpty ? moved(operation.node) : 0
            operation.nodes = item.nodes
            item.action = .operation(operation)
        case .fault(var fault):
            if fault.node == node || fault.other == node { return nil }
            fault.node = moved(fault.node)
            fault.other = moved(fault.other)
            fault.nodes = item.nodes
            item.action = .fault(fault)
        }
        return item
    }

    var nodes: NodeList {
        get {
            switch action {
            case .operation(let operation): operation.nodes
            case .fault(let fault): fault.nodes
            }
        }
        set { change({ $0.nodes = newValue }, { $0.nodes = newValue }) }
    }

    fileprivate var count: Int {
        get { number(\.count, \.count) }
        set { change({ $0.count = newValue }, { $0.count = newValue }) }
    }

    fileprivate var size: Int {
        get { number(\.size, \.size) }
        set { change({ $0.size = newValue }, { $0.size = newValue }) }
    }

    fileprivate var milliseconds: Int {
        get { number(nil, \.milliseconds) }
        set { change({ _ in }, { $0.milliseconds = newValue }) }
    }

    fileprivate var low: Int {
        get { number(nil, \.low) }
        set { change({ _ in }, { $0.low = newValue }) }
    }

    fileprivate var high: Int {
        get { number(nil, \.high) }
        set { change({ _ in }, { $0.high = newValue }) }
    }

    private func number(_ ofOperation: KeyPath<Operation, Int>?, _ ofFault: KeyPath<Fault, Int>) -> Int {
        switch action {
        case .operation(let operation): ofOperation.map { operation[keyPath: $0] } ?? 0
        case .fault(let fault): fault[keyPath: ofFault]
        }
    }

    private mutating func change(_ operation: (inout Operation) -> Void, _ fault: (inout Fault) -> Void) {
        switch action {
        case .operation(var changed):
            operation(&changed)
            action = .operation(changed)
        case .fault(var changed):
            fault(&changed)
            action = .fault(changed)
        }
    }
}

extension Operation {
    /// Fields that are one step plainer: a pair fewer, or a value that is 0.
    var simplerFields: [String] {
        guard kind == .put || kind == .initial else { return fields == "0" ? [] : ["0"] }
        let pairs = fields.split(separator: " ")
        var simpler: [String] = []
        for index in pairs.indices where pairs.count > 1 {
            var rest = pairs
            rest.remove(at: index)
            simpler.append(rest.joined(separator: " "))
        }
        for index in pairs.indices {
            guard let equals = pairs[index].firstIndex(of: "="), !pairs[index].hasSuffix("=0") else { continue }
            var plainer = pairs.map(String.init)
            plainer[index] = pairs[index][...equals] + "0"
            simpler.append(plainer.joined(separator: " "))
        }
        return simpler
    }
}
