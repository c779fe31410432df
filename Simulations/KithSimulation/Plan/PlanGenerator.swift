import KithTestSupport

/// Draws a plan from a seed: how the mesh looks, what clients do and what goes wrong, each from a generator of its own,
/// so that a draw added to one does not move the others.
///
/// Runs differ in kind, not only in number: each has its own weights, some of them zero.
package struct PlanGenerator {
    package struct Options: Sendable {
        /// Nil for a number of the seed.
        package var nodes: Int?
        /// Virtual seconds of operations and faults; nil for 10 to 25.
        package var seconds: Int?
        /// Nil for one of the seed.
        package var policy: String?
        /// Whether streams are split into parts of no less than this.
        package var leastSegment = 1

        package init(nodes: Int? = nil, seconds: Int? = nil, policy: String? = nil) {
            self.nodes = nodes
            self.seconds = seconds
            self.policy = policy
        }

        /// A run that takes a second or less: few seconds, and no stream that is split into single bytes for long.
        package static var short: Options {
            var options = Options(seconds: 6)
            options.leastSegment = 64
            return options
        }
    }

    private let seed: UInt64
    private let nodes: Int
    private let databases: Int
    private let policy: String
    /// The paths of the policy that are sets.
    private let sets: [String]
    private let end: Int
    private let leastSegment: Int
    private var workload: SeededGenerator
    private var faults: SeededGenerator
    private var items: [PlanItem] = []

    package static func plan(seed: UInt64, _ options: Options = Options()) -> Plan {
        var generator = PlanGenerator(seed: seed, options)
        generator.paces()
        generator.operations()
        generator.mishaps()
        let items = generator.items.enumerated().sorted { one, other in
            one.element.time != other.element.time
                ? one.element.time < other.element.time : one.offset < other.offset
        }
        return Plan(
            seed: seed, nodes: generator.nodes, databases: generator.databases, policy: generator.policy,
            end: generator.end, items: items.map(\.element))
    }

    private init(seed: UInt64, _ options: Options) {
        let root = SeededGenerator(seed: seed)
        var shape = root.forked("shape")
        let drawn = shape.within(SimulationLimits.nodes)
        let length = shape.within(10...25) * 1_000
        self.seed = seed
        nodes = options.nodes ?? drawn
        databases = shape.chance(1, in: 4) ? 2 : 1
        let drawnPolicy = shape.chance(1, in: 5) ? "manual" : "latest"
        var policies = root.forked("policies")
        let byPath = policies.chance(2, in: 5) ? Self.policyByPath(&policies) : drawnPolicy
        policy = options.policy ?? (drawnPolicy == "latest" ? byPath : drawnPolicy)
        sets = PolicyModel(policy).rules.filter { $0.rule == "union" }.map(\.path)
        end = options.seconds.map { $0 * 1_000 } ?? length
        leastSegment = options.leastSegment
        workload = root.forked("workload")
        faults = root.forked("faults")
    }

    /// Policies for some of the paths that clients write; no two overlap.
    private static func policyByPath(_ random: inout SeededGenerator) -> String {
        var paths = random.shuffle(["/a", "/b", "/c", "/d", "/n/a", "/n/b", "/m"])[...]
        var rules: [String] = []
        for rule in ["max", "min", "union", "union"] where random.chance(3, in: 4) {
            if let path = paths.popFirst() { rules.append("\"\(path)\":\"\(rule)\"") }
        }
        let group = paths.prefix(random.within(0...3)).map { "\"\($0)\"" }.joined(separator: ",")
        let together = group.isEmpty ? "" : "[\(group)]"
        return "{\"default\":\"latest\",\"paths\":{\(rules.joined(separator: ","))},\"together\":[\(together)]}"
    }

    private mutating func add(_ time: Int, _ operation: Operation) {
        items.append(PlanItem(time: min(time, end), action: .operation(operation)))
    }

    private mutating func add(_ time: Int, _ fault: Fault) {
        items.append(PlanItem(time: min(time, end), action: .fault(fault)))
    }

    // What clients do.

    /// What is done how often in this run.
    private enum Work: Int, CaseIterable {
        case put, set, unset, touch, delete, initial, purge, resolve, read, conflict, burst
    }

    private mutating func operations() {
        let weights = workWeights()
        let documents = documentNames()
        // Some five operations in each virtual second, in bunches.
        let count = end / 1_000 * workload.within(3...8)
        var time = 50
        for _ in 0..<count {
            time = workload.chance(1, in: 3) ? time + workload.below(5) : 50 + workload.below(end)
            var target = weights.reduce(0, +)
            target = workload.below(target)
            var index = 0
            while target >= weights[index] {
                target -= weights[index]
                index += 1
            }
            // Half of the work goes to few documents, where it meets other work.
            let hot = workload.chance(1, in: 2) ? min(3, documents.count) : documents.count
            let document = documents[workload.below(hot)]
            work(Work.allCases[index], on: document, at: time)
        }
    }

    private mutating func workWeights() -> [Int] {
        Work.allCases.map { work in
            let draw = workload.within(1...10)
            let isOff = workload.chance(1, in: 5)
            return switch work {
            case .set: 10 + draw
            case .put: 4 + draw
            case .conflict: isOff ? 1 : 4 + draw
            case .resolve: policy == "manual" ? 6 + draw : 0
            case .purge: workload.chance(1, in: 5) ? 2 : 0
            case .initial: isOff ? 0 : 2
            case .touch: isOff ? 0 : 1
            case .burst: isOff ? 0 : 1
            default: isOff ? 0 : draw
            }
        }
    }

    /// Documents whose name begins with `w` have registers and deeper fields that compete for one place.
    private mutating func documentNames() -> [String] {
        var names = (0..<workload.within(4...16)).map { "d\($0)" }
        if workload.chance(1, in: 2) { names.append(contentsOf: ["w0", "w1"]) }
        // Two ids that look alike and differ in bytes.
        if workload.chance(1, in: 4) { names.append(contentsOf: ["\u{e9}", "e\u{301}"]) }
        return workload.shuffle(names)
    }

    private mutating func path(in document: String) -> String {
        var paths = ["/a", "/b", "/c", "/d", "/n/a", "/n/b", "/m/x", "/\u{e9}", "/e\u{301}"]
        if document.hasPrefix("w") { paths.append(contentsOf: ["/n", "/n", "/m"]) }
        return workload.pick(paths)
    }

    /// A value for a path: mostly an array where the policy has a set.
    private mutating func value(for path: String) -> String {
        if sets.contains(where: { $0.utf8.elementsEqual(path.utf8) }), workload.chance(4, in: 5) {
            let elements = (0..<workload.below(4)).map { _ in String(workload.below(30)) }
            return "[\(elements.joined(separator: ","))]"
        }
        if workload.chance(1, in: 4) { return workload.pick(Values.edges).written }
        return workload.chance(1, in: 20)
            ? "\"\(String(repeating: "x", count: workload.within(100...2_000)))\""
            : String(workload.below(1_000_000))
    }

    /// A whole body; no two of its paths compete.
    private mutating func body(of document: String) -> String {
        var paths: [String] = []
        for _ in 0..<workload.within(1...5) {
            let path = path(in: document)
            let competes = paths.contains { other in
                path.utf8.elementsEqual(other.utf8) || path.utf8.starts(with: (other + "/").utf8)
                    || other.utf8.starts(with: (path + "/").utf8)
            }
            if !competes { paths.append(path) }
        }
        var pairs: [String] = []
        for path in paths { pairs.append("\(path)=\(value(for: path))") }
        return pairs.joined(separator: " ")
    }

    private mutating func work(_ work: Work, on document: String, at time: Int) {
        let node = workload.below(nodes)
        let database = workload.below(databases)
        func operation(_ kind: Operation.Kind, _ path: String = "", _ fields: String = "") -> Operation {
            Operation(kind, node: node, database: database, document: document, path: path, fields: fields)
        }
        switch work {
        case .put: add(time, operation(.put, "", body(of: document)))
        case .set:
            let path = path(in: document)
            add(time, operation(.set, path, value(for: path)))
        case .unset: add(time, operation(.unset, path(in: document)))
        case .touch: add(time, operation(.touch))
        case .delete:
            add(time, operation(.delete))
            if workload.chance(1, in: 3) { add(time + workload.below(3_000), operation(.put, "", body(of: document))) }
        case .initial:
            // The same content on several nodes, and sometimes another.
            let fields = body(of: document)
            for other in workload.shuffle(Array(0..<nodes)).prefix(2) {
                let same = workload.chance(3, in: 4)
                add(
                    time + workload.below(500),
                    Operation(
                        .initial, node: other, database: database, document: document,
                        fields: same ? fields : body(of: document)))
            }
        case .purge: add(time, operation(.purge))
        case .resolve: add(time, operation(.resolve))
        case .read: add(time, operation(.read))
        case .conflict:
            let isSameField = workload.chance(1, in: 2)
            let common = path(in: document)
            for other in workload.shuffle(Array(0..<nodes)).prefix(workload.within(2...nodes)) {
                let kind: Operation.Kind = workload.chance(1, in: 6) ? .delete : .set
                let path = isSameField ? common : path(in: document)
                add(
                    time + workload.below(3),
                    Operation(
                        kind, node: other, database: database, document: document, path: kind == .set ? path : "",
                        fields: kind == .set ? value(for: path) : ""))
            }
        case .burst:
            for step in 0..<workload.within(5...30) {
                let path = path(in: document)
                add(time + step * workload.below(3), operation(.set, path, value(for: path)))
            }
        }
    }

    // What goes wrong.

    /// The pace of every directed link: most are like a local network, some are slow or uneven, and some split what they
    /// carry into single bytes.
    private mutating func paces() {
        for from in 0..<nodes {
            for to in 0..<nodes where from != to { pace(from, to, at: 0) }
        }
    }

    private mutating func pace(_ from: Int, _ to: Int, at time: Int) {
        let low = faults.pick([100, 200, 500, 1_000, 5_000, 20_000])
        let spread = faults.pick([0, 1, 3, 10])
        let size = max(leastSegment, faults.pick([1_460, 1_460, 16_384, 300, 64, 7]))
        add(time, Fault(.pace, node: from, other: to, low: low, high: low + low * spread, size: size))
    }

    private mutating func mishaps() {
        let kinds = Fault.Kind.allCases.filter { _ in faults.chance(3, in: 4) }
        guard !kinds.isEmpty else { return }
        let count = end / 1_000 * faults.within(2...8) / 10 + 1
        for _ in 0..<count { mishap(faults.pick(kinds), at: 200 + faults.below(max(1, end - 200))) }
    }

    private mutating func mishap(_ kind: Fault.Kind, at time: Int) {
        let chosen = faults.shuffle(Array(0..<nodes))
        let (node, other) = (chosen[0], chosen[1])
        // Long ones outlive the 15 seconds after which a silent link is dropped.
        let long = faults.chance(1, in: 5) ? faults.within(10_000...20_000) : faults.within(200...6_000)
        switch kind {
        case .pace: pace(node, other, at: time)
        case .isolate: add(time, Fault(.isolate, node: node, milliseconds: long))
        case .halves: add(time, Fault(.halves, mask: 1 + faults.below((1 << nodes) - 2), milliseconds: long))
        case .bridge:
            add(time, Fault(.bridge, node: node, mask: 1 + faults.below((1 << nodes) - 2), milliseconds: long))
        case .oneway: add(time, Fault(.oneway, node: node, other: other, milliseconds: long))
        case .flap:
            add(time, Fault(.flap, node: node, other: other, milliseconds: long, size: faults.within(50...1_000)))
        case .reset, .truncate, .dial: add(time, Fault(kind, node: node, other: other))
        case .stop, .kill, .power:
            add(time, Fault(kind, node: node, milliseconds: faults.pick([10, 300, 2_000, long])))
        case .pause: add(time, Fault(.pause, node: node, milliseconds: faults.pick([100, 2_000, long])))
        case .skew:
            let skew = faults.pick([1, 1_000, 60_000, 3_600_000, 86_400_000 * 20])
            add(time, Fault(.skew, node: node, milliseconds: faults.chance(1, in: 2) ? skew : -skew))
        }
    }
}
