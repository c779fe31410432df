// The text of a plan: a line for what is set, then a line for each item.
//
//     kith-sim plan 2
//     seed=42 nodes=4 databases=1 policy=latest end=20000 shape=ring core=0-2
//     350 put node=1 doc=d3 fields=/a=1 /n/b="x"
//     400 put nodes=0-3 doc=made-by-$k- count=50 every=1000 until=5000 fields=/a=$n
//     900 isolate node=2 ms=4000
//
// Of what is set, `seed` and `nodes` must be there. `policy` is a name, or the JSON of a policy without spaces; `end` is a
// second after the last item where it is not said. Empty lines and lines that begin with # say nothing. `fields` is the
// last of its line and goes to its end. Numbers that are left out are 0.

import KithDocument

extension Plan {
    package static let heading = "kith-sim plan 2"

    package var text: String {
        var head = "seed=\(seed) nodes=\(nodes) databases=\(databases) policy=\(policy) end=\(end)"
        if shape != .full { head += " shape=\(shape.rawValue)" }
        if !core.isEmpty { head += " core=\(core)" }
        return ([Plan.heading, head] + items.map(\.text)).joined(separator: "\n") + "\n"
    }

    /// - Throws: `PlanError` with the line that is wrong.
    package init(text: String) throws(PlanError) {
        var head: PlanFields?
        var items: [(item: PlanItem, line: Int)] = []
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count <= SimulationLimits.planLines else {
            throw PlanError(line: lines.count, message: "more than \(SimulationLimits.planLines) lines")
        }
        var sawHeading = false
        for (index, line) in lines.enumerated() where !line.isEmpty && line.first != "#" {
            guard line.utf8.count <= SimulationLimits.planLineBytes else {
                throw PlanError(line: index + 1, message: "longer than \(SimulationLimits.planLineBytes) bytes")
            }
            if !sawHeading {
                guard line == Plan.heading else {
                    throw PlanError(line: index + 1, message: "expected \"\(Plan.heading)\"")
                }
                sawHeading = true
            } else if head == nil {
                head = try PlanFields(line, line: index + 1)
            } else {
                items.append((try PlanItem(text: line, line: index + 1), index + 1))
            }
        }
        guard let head else {
            throw PlanError(line: lines.count, message: "nothing is set: no line with seed and nodes")
        }
        try self.init(head: head, items: items.map(\.item))
        for (item, line) in items { try item.check(against: self, line: line) }
        guard stepCount <= SimulationLimits.steps else {
            throw PlanError(line: lines.count, message: "more than \(SimulationLimits.steps) steps")
        }
    }

    private init(head: PlanFields, items: [PlanItem]) throws(PlanError) {
        try head.requireOnly(["seed", "nodes", "databases", "policy", "end", "shape", "core"])
        guard let seed = UInt64(try head.string("seed")) else {
            throw PlanError(line: head.line, message: "seed= is no number")
        }
        guard let shape = Shape(rawValue: head["shape"] ?? Shape.full.rawValue) else {
            throw PlanError(
                line: head.line,
                message: "shape= must be one of \(Shape.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        let last = items.reduce(0) { max($0, $1.time, $1.until) }
        self.init(
            seed: seed, nodes: try head.number("nodes", in: SimulationLimits.nodes),
            databases: try head.number("databases", in: 1...SimulationLimits.databases, or: 1),
            policy: head["policy"] ?? "latest",
            end: try head.number("end", in: 0...SimulationLimits.longestTime, or: last + 1_000), shape: shape,
            core: try head.nodes("core"), items: items)
        try PlanItem.require(core, in: self, line: head.line)
    }
}

extension PlanItem {
    package var text: String {
        var parts = ["\(time)", action.verb]
        func add(_ name: String, _ number: Int, unless absent: Int = 0) {
            if number != absent { parts.append("\(name)=\(number)") }
        }
        func add(_ name: String, _ text: String) { if !text.isEmpty { parts.append("\(name)=\(text)") } }
        add("every", every)
        add("until", until)
        switch action {
        case .operation(let operation):
            if operation.nodes.isEmpty { parts.append("node=\(operation.node)") }
            add("nodes", operation.nodes.description)
            add("db", operation.database)
            add("doc", operation.document)
            add("path", operation.path)
            add("count", operation.count)
            add("size", operation.size)
            add("text", operation.text)
            add("fields", operation.fields)
        case .fault(let fault):
            add("node", fault.node, unless: Fault.all)
            add("other", fault.other, unless: Fault.all)
            add("nodes", fault.nodes.description)
            add("ms", fault.milliseconds)
            add("low", fault.low)
            add("high", fault.high)
            add("size", fault.size)
            add("count", fault.count)
            add("text", fault.text)
        }
        return parts.joined(separator: " ")
    }

    fileprivate init(text: Substring, line: Int) throws(PlanError) {
        let parts = text.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, let time = Int(parts[0]), (0...SimulationLimits.longestTime).contains(time) else {
            throw PlanError(line: line, message: "expected a time in milliseconds and a verb")
        }
        let fields = try PlanFields(parts.count > 2 ? parts[2] : "", line: line)
        let action: Action
        if let kind = Operation.Kind(rawValue: String(parts[1])) {
            action = .operation(try Operation(kind, fields))
        } else if let kind = Fault.Kind(rawValue: String(parts[1])) {
            action = .fault(try Fault(kind, fields))
        } else {
            throw PlanError(line: line, message: "\"\(parts[1])\" is neither an operation nor a fault")
        }
        self.init(
            time: time, action: action, every: try fields.number("every", in: 1...SimulationLimits.longestTime, or: 0),
            until: try fields.number("until", in: 1...SimulationLimits.longestTime, or: 0))
    }

    fileprivate func check(against plan: Plan, line: Int) throws(PlanError) {
        guard time <= plan.end else { throw PlanError(line: line, message: "after the end of the plan") }
        guard until == 0 || every > 0 else { throw PlanError(line: line, message: "until= without every=") }
        guard until == 0 || until >= time else { throw PlanError(line: line, message: "until= is before its time") }
        switch action {
        case .operation(let operation):
            try Self.require(operation.nodes, in: plan, line: line)
            if operation.nodes.isEmpty { try Self.require(NodeList([operation.node]), in: plan, line: line) }
            guard operation.database < plan.databases else {
                throw PlanError(line: line, message: "there is no database \(operation.database)")
            }
            if let problem = operation.problemOfFields { throw PlanError(line: line, message: problem) }
        case .fault(let fault):
            let named = [fault.node, fault.kind == .clone ? Fault.all : fault.other].filter { $0 != Fault.all }
            try Self.require(NodeList(named), in: plan, line: line)
            try Self.require(fault.nodes, in: plan, line: line)
            if fault.kind == .clone, !(plan.nodes..<plan.nodes + SimulationLimits.spares).contains(fault.other) {
                throw PlanError(line: line, message: "machine \(fault.other) is not a spare one")
            }
            guard fault.node != fault.other || fault.node == Fault.all else {
                throw PlanError(line: line, message: "node= and other= are one")
            }
            guard fault.kind.parameters.contains(.high) == false || fault.low <= fault.high else {
                throw PlanError(line: line, message: "low= is above high=")
            }
        }
    }

    fileprivate static func require(_ nodes: NodeList, in plan: Plan, line: Int) throws(PlanError) {
        guard let last = nodes.members.last, last >= plan.nodes else { return }
        let unknown = nodes.members.first { $0 >= plan.nodes && !plan.clones.contains($0) }
        if let unknown { throw PlanError(line: line, message: "there is no node \(unknown)") }
    }
}

extension Operation {
    /// What can't be written of `fields`, in words.
    fileprivate var problemOfFields: String? {
        // As it is the first time, on the node with the least number.
        guard case .operation(let first)? = Action.operation(self).single(repetition: 0).first else { return nil }
        let values: [Substring]
        switch kind {
        case .set: values = [first.fields[...]]
        case .put, .initial:
            let pairs = first.fields.split(separator: " ", omittingEmptySubsequences: false)
            let wrong = first.fields.isEmpty ? nil : pairs.first { !$0.hasPrefix("/") || !$0.contains("=") }
            if let wrong { return "\"\(wrong)\" in fields= is no /PATH=VALUE" }
            values = first.fields.isEmpty ? [] : pairs.map { $0[$0.index(after: $0.firstIndex(of: "=")!)...] }
        default: values = []
        }
        for value in values where (try? CanonicalJSON.object(from: Array("{\"a\":\(value)}".utf8))) == nil {
            return "\"\(value)\" in fields= is no JSON"
        }
        return nil
    }
}

private let repetition = ["every", "until"]

extension Operation {
    fileprivate init(_ kind: Kind, _ fields: PlanFields) throws(PlanError) {
        let takes = kind.parameters
        try fields.requireOnly(["node", "nodes", "db"] + repetition + takes.map(\.rawValue))
        let nodes = try fields.nodes("nodes")
        guard nodes.isEmpty || fields["node"] == nil else {
            throw PlanError(line: fields.line, message: "node= and nodes= together")
        }
        self.init(
            kind, node: nodes.isEmpty ? try fields.number("node", in: SimulationLimits.machineNumbers) : 0,
            nodes: nodes,
            database: try fields.number("db", in: 0...(SimulationLimits.databases - 1), or: 0),
            document: takes.contains(.document) ? try fields.string("doc") : "",
            path: takes.contains(.path) ? try fields.string("path") : "", fields: fields["fields"] ?? "",
            count: try fields.number("count", in: 0...SimulationLimits.steps, or: 0),
            size: try fields.number("size", in: 0...SimulationLimits.documentBytes, or: 0),
            text: takes.contains(.text) ? try fields.string("text") : "")
    }
}

extension Fault {
    fileprivate init(_ kind: Kind, _ fields: PlanFields) throws(PlanError) {
        let names =
            switch kind.scope {
            case .each, .hub: ["node", "nodes"]
            case .pair, .links: ["node", "other"]
            case .side: ["nodes"]
            case .mesh: [String]()
            }
        try fields.requireOnly(names + repetition + kind.parameters.map(\.rawValue))
        let nodes = try fields.nodes("nodes")
        let isNamed = fields["node"] != nil
        switch kind.scope {
        case .each:
            guard nodes.isEmpty || !isNamed else {
                throw PlanError(line: fields.line, message: "node= and nodes= together")
            }
            if nodes.isEmpty { _ = try fields.string("node") }
        case .pair: for name in names { _ = try fields.string(name) }
        case .hub: for name in names { _ = try fields.string(name) }
        case .side: if kind != .swizzle { _ = try fields.string("nodes") }
        case .links, .mesh: break
        }
        var text = ""
        if kind.parameters.contains(.text) {
            text = try kind.failingCalls.isEmpty ? fields.string("text") : fields["text"] ?? ""
        }
        if let words = kind.words, !words.contains(text), kind.failingCalls.isEmpty || !text.isEmpty {
            throw PlanError(line: fields.line, message: "text= must be one of \(words.joined(separator: ", "))")
        }
        let isSigned = kind == .skew || kind == .drift
        let numbers = (isSigned ? -SimulationLimits.largestNumber : 0)...SimulationLimits.largestNumber
        self.init(
            kind, node: try fields.number("node", in: SimulationLimits.machineNumbers, or: Fault.all),
            other: try fields.number("other", in: SimulationLimits.machineNumbers, or: Fault.all), nodes: nodes,
            milliseconds: try fields.number("ms", in: numbers, or: 0),
            low: try fields.number("low", in: numbers, or: 0),
            high: try fields.number("high", in: numbers, or: 0), size: try fields.number("size", in: numbers, or: 0),
            count: try fields.number("count", in: numbers, or: 0), text: text)
    }
}
