// The text of a plan: a line for what is set, then a line for each item.
//
//     kith-sim plan 1
//     seed=42 nodes=4 databases=1 policy=latest end=20000
//     350 put node=1 db=0 doc=d3 fields=/a=1 /n/b="x"
//     900 isolate node=2 ms=4000
//
// `policy` is a name, or the JSON of a policy without spaces. Empty lines and lines that begin with # say nothing. `fields` is the last of its line and goes to its end.

/// A plan that can't be read.
package struct PlanError: Error, Sendable, CustomStringConvertible {
    package let line: Int
    package let message: String
    package var description: String { "plan line \(line): \(message)" }
}

extension Plan {
    package static let heading = "kith-sim plan 1"

    package var text: String {
        var lines = [
            Plan.heading, "seed=\(seed) nodes=\(nodes) databases=\(databases) policy=\(policy) end=\(end)",
        ]
        lines.append(contentsOf: items.map(\.text))
        return lines.joined(separator: "\n") + "\n"
    }

    /// - Throws: `PlanError` with the line that is wrong.
    package init(text: String) throws(PlanError) {
        var head: PlanFields?
        var items: [PlanItem] = []
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
                items.append(try PlanItem(text: line, line: index + 1))
            }
        }
        guard let head else {
            throw PlanError(line: lines.count, message: "nothing is set: no line with seed and nodes")
        }
        guard let seed = UInt64(try head.string("seed")) else { throw PlanError(line: 2, message: "seed is no number") }
        self.init(
            seed: seed, nodes: try head.number("nodes", in: SimulationLimits.nodes),
            databases: try head.number("databases", in: 1...SimulationLimits.databases),
            policy: try head.string("policy"), end: try head.number("end", in: 0...Int(Int32.max)), items: items)
        for (index, item) in items.enumerated() { try item.check(against: self, line: index + 3) }
    }
}

extension PlanItem {
    package var text: String {
        switch action {
        case .operation(let operation):
            var text = "\(time) \(operation.kind.rawValue) node=\(operation.node) db=\(operation.database) "
            text += "doc=\(operation.document)"
            if !operation.path.isEmpty { text += " path=\(operation.path)" }
            if !operation.fields.isEmpty { text += " fields=\(operation.fields)" }
            return text
        case .fault(let fault):
            var text = "\(time) \(fault.kind.rawValue) node=\(fault.node)"
            let rest = [
                ("other", fault.other), ("mask", fault.mask), ("ms", fault.milliseconds), ("low", fault.low),
                ("high", fault.high), ("size", fault.size),
            ]
            for (name, value) in rest where value != 0 { text += " \(name)=\(value)" }
            return text
        }
    }

    fileprivate init(text: Substring, line: Int) throws(PlanError) {
        let parts = text.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, let time = Int(parts[0]), time >= 0 else {
            throw PlanError(line: line, message: "expected a time in milliseconds and a verb")
        }
        let fields = try PlanFields(parts.count > 2 ? parts[2] : "", line: line)
        let node = try fields.number("node", in: 0...(SimulationLimits.nodes.upperBound - 1))
        if let kind = Operation.Kind(rawValue: String(parts[1])) {
            let operation = Operation(
                kind, node: node, database: try fields.number("db", in: 0...(SimulationLimits.databases - 1)),
                document: try fields.string("doc"), path: fields["path"] ?? "", fields: fields["fields"] ?? "")
            self.init(time: time, action: .operation(operation))
        } else if let kind = Fault.Kind(rawValue: String(parts[1])) {
            let times = 0...Int(Int32.max)
            let fault = Fault(
                kind, node: node,
                other: try fields.number("other", in: 0...(SimulationLimits.nodes.upperBound - 1), or: 0),
                mask: try fields.number("mask", in: 0...63, or: 0),
                milliseconds: try fields.number("ms", in: -Int(Int32.max)...Int(Int32.max), or: 0),
                low: try fields.number("low", in: times, or: 0), high: try fields.number("high", in: times, or: 0),
                size: try fields.number("size", in: times, or: 0))
            self.init(time: time, action: .fault(fault))
        } else {
            throw PlanError(line: line, message: "\"\(parts[1])\" is neither an operation nor a fault")
        }
    }

    fileprivate func check(against plan: Plan, line: Int) throws(PlanError) {
        func requireNode(_ node: Int) throws(PlanError) {
            guard node < plan.nodes else { throw PlanError(line: line, message: "there is no node \(node)") }
        }
        switch action {
        case .operation(let operation):
            try requireNode(operation.node)
            guard operation.database < plan.databases else {
                throw PlanError(line: line, message: "there is no database \(operation.database)")
            }
        case .fault(let fault):
            try requireNode(fault.node)
            try requireNode(fault.other)
        }
    }
}

/// `name=value` parts of a line.
private struct PlanFields {
    private var fields: [(name: Substring, value: String)] = []
    private let line: Int

    init(_ text: Substring, line: Int) throws(PlanError) {
        self.line = line
        var rest = text
        while !rest.isEmpty {
            guard let equals = rest.firstIndex(of: "=") else {
                throw PlanError(line: line, message: "\"\(rest)\" is no name=value")
            }
            let name = rest[..<equals]
            let value = rest[rest.index(after: equals)...]
            let end = name == "fields" ? value.endIndex : value.firstIndex(of: " ") ?? value.endIndex
            fields.append((name, String(value[..<end])))
            rest = value[end...].drop { $0 == " " }
        }
    }

    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    func string(_ name: String) throws(PlanError) -> String {
        guard let value = self[name] else { throw PlanError(line: line, message: "\(name)= is missing") }
        return value
    }

    func number(_ name: String, in range: ClosedRange<Int>, or fallback: Int? = nil) throws(PlanError) -> Int {
        if let fallback, self[name] == nil { return fallback }
        guard let number = Int(try string(name)), range.contains(number) else {
            throw PlanError(line: line, message: "\(name)= must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
