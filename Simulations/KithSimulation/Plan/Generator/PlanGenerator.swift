import KithTestSupport

/// Draws a plan from a seed. What the mesh looks like, what clients do, and what goes wrong in each area is drawn by a
/// generator of its own, forked by name, so that a draw added to one does not move the others.
///
/// Runs differ in kind, not only in number: each has its own weights, many of them zero (`Swarm`). What may be destroyed
/// is drawn first (`VictimGenerator`), so that every plan keeps within its `FaultBudget`.
package enum PlanGenerator {
    package enum Length: Sendable {
        /// Six virtual seconds, and no stream that is split into single bytes for long: a run takes a second or less.
        case short
        /// 10 to 25 virtual seconds.
        case medium
        /// 10 to 12 virtual minutes on 3 to 8 nodes, with faults of at least three kinds and work for 20,000 events.
        case long
    }

    package struct Options: Sendable {
        package var length: Length
        /// Nil for a number of the seed.
        package var nodes: Int?
        /// Virtual seconds of operations and faults; nil for what the length has.
        package var seconds: Int?
        /// Nil for one of the seed.
        package var policy: String?

        package init(_ length: Length = .medium, nodes: Int? = nil, seconds: Int? = nil, policy: String? = nil) {
            self.length = length
            self.nodes = nodes
            self.seconds = seconds
            self.policy = policy
        }

        package static var short: Options { Options(.short) }
        package static var long: Options { Options(.long) }
    }

    package static func plan(seed: UInt64, _ options: Options = Options()) -> Plan {
        let root = SeededGenerator(seed: seed)
        var shape = root.forked("shape")
        var frame = PlanFrame(options, policies: root.forked("policies"), &shape)
        var victims = VictimGenerator(random: root.forked("victims"))
        let toll = victims.toll(frame)
        frame.outsider = toll.outsider
        var workload = WorkloadGenerator(frame, random: root.forked("workload"))
        var network = NetworkGenerator(frame: frame, random: root.forked("network"))
        var discovery = DiscoveryGenerator(frame: frame, random: root.forked("discovery"))
        var processes = ProcessGenerator(frame: frame, random: root.forked("processes"))
        var disk = DiskGenerator(frame: frame, random: root.forked("disk"))
        var identity = IdentityGenerator(frame: frame, random: root.forked("identity"))
        var membership = MembershipGenerator(frame: frame, random: root.forked("membership"))
        var clock = ClockGenerator(frame: frame, random: root.forked("clock"))
        var items = network.paces() + workload.items(toll.slots) + disk.items(toll.slots)
        items += identity.items(toll.slots) + membership.items() + discovery.items() + processes.items()
        items += clock.items() + network.items()
        var scenes = SceneGenerator(frame, random: root.forked("scenes"))
        items += scenes.items()
        if frame.length == .long { items += processes.atLeastThreeKinds(besides: items) }
        let order = items.indices.sorted { one, other in
            items[one].time != items[other].time ? items[one].time < items[other].time : one < other
        }
        return Plan(
            seed: seed, nodes: frame.nodes, databases: frame.databases, policy: frame.policy, end: frame.end,
            shape: frame.shape, core: victims.core(frame), items: order.map { items[$0] })
    }
}

/// What all generators of one plan go by.
struct PlanFrame {
    let length: PlanGenerator.Length
    let nodes: Int
    let databases: Int
    let policy: String
    /// The paths of the policy that are sets.
    let sets: [String]
    let end: Int
    let shape: Shape
    /// The node that is no member in the end, how, and from when in milliseconds.
    var outsider: Outsider?

    struct Outsider {
        let node: Int
        let kind: Fault.Kind
        let time: Int
    }

    init(_ options: PlanGenerator.Options, policies: SeededGenerator, _ random: inout SeededGenerator) {
        var policies = policies
        length = options.length
        // What a write costs grows with the square of the nodes.
        let drawnNodes = length == .long ? random.pick([3, 3, 4, 4, 5, 5, 6, 6, 7, 8]) : random.within(3...6)
        let drawnSeconds =
            switch length {
            case .short: 6
            case .medium: random.within(10...25)
            case .long: random.within(600...720)
            }
        nodes = options.nodes ?? drawnNodes
        databases = random.chance(1, in: 4) ? 2 : 1
        let drawnPolicy = random.chance(1, in: 5) ? "manual" : "latest"
        let byPath = policies.chance(2, in: 5) ? Self.policyByPath(&policies) : drawnPolicy
        policy = options.policy ?? (drawnPolicy == "latest" ? byPath : drawnPolicy)
        sets = PolicyModel(policy).rules.filter { $0.rule == "union" }.map(\.path)
        end = (options.seconds ?? drawnSeconds) * 1_000
        shape = random.chance(1, in: length == .long ? 3 : 6) ? random.pick(Shape.allCases) : .full
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

    /// A time at which something can go wrong.
    func time(_ random: inout SeededGenerator) -> Int {
        let first = min(200, end)
        return first + random.below(max(1, end - first))
    }

    /// How many faults of one area: a few in a run of seconds, one in each half a minute or so of a long one.
    func faults(_ random: inout SeededGenerator) -> Int {
        switch length {
        case .short, .medium: random.below(2 + end / 6_000)
        case .long: min(1_000, end / 1_000 / random.within(10...60))
        }
    }

    func fault(
        _ time: Int, _ kind: Fault.Kind, _ node: Int = Fault.all, other: Int = Fault.all, nodes: NodeList = NodeList(),
        ms: Int = 0, low: Int = 0, high: Int = 0, size: Int = 0, count: Int = 0, text: String = ""
    ) -> PlanItem {
        PlanItem(
            time: min(time, end),
            action: .fault(
                Fault(
                    kind, node: node, other: other, nodes: nodes, milliseconds: ms, low: low, high: high, size: size,
                    count: count, text: text)))
    }
}

/// The weights of one run: some kinds are off, the others are drawn more and less often.
struct Swarm<Kind> {
    private let kinds: [(kind: Kind, weight: Int)]

    init(_ kinds: [Kind], _ random: inout SeededGenerator) {
        var weighed: [(kind: Kind, weight: Int)] = []
        for kind in kinds {
            let weight = random.within(1...10)
            if random.chance(2, in: 3) { weighed.append((kind, weight)) }
        }
        self.kinds = weighed
    }

    /// Nil where all are off.
    func draw(_ random: inout SeededGenerator) -> Kind? {
        let sum = kinds.reduce(0) { $0 + $1.weight }
        if sum == 0 { return nil }
        var target = random.below(sum)
        for (kind, weight) in kinds {
            if target < weight { return kind }
            target -= weight
        }
        return nil
    }
}

extension SeededGenerator {
    /// How long something lasts in milliseconds: below and above the times of the product, or anything.
    mutating func duration(_ frame: PlanFrame) -> Int {
        let edges = [10, 100, 300, 2_000, 4_900, 6_600]
        // Beyond the 15 seconds after which a silent link is dropped, and the minute after which an unanswered ping ends it.
        let long = frame.length == .long ? [14_000, 16_000, 30_000, 61_000, 100_000] : [10_000, 16_000]
        switch below(5) {
        case 0: return within(200...6_000)
        case 1: return pick(long)
        default: return pick(edges)
        }
    }

    /// Two different nodes.
    mutating func pair(_ frame: PlanFrame) -> (Int, Int) {
        let node = below(frame.nodes)
        if frame.nodes == 1 { return (node, node) }
        let other = below(frame.nodes - 1)
        return (node, other < node ? other : other + 1)
    }

    /// At least one node, and not all.
    mutating func side(_ frame: PlanFrame) -> NodeList {
        let order = shuffle(Array(0..<frame.nodes))
        return NodeList(Array(order.prefix(max(1, within(1...max(1, frame.nodes - 1))))))
    }
}
