/// Counts what plans try: each operation, in each state of its node, while faults of each area are about.
package struct PlanAudit: Sendable {
    /// How a node is when a client asks it something, as the plan has it.
    package enum NodeState: String, Sendable, CaseIterable {
        case well, cut, ailing, held, paused, down, absent
    }

    private var cells = Tally()

    package init() {}

    package mutating func add(_ other: PlanAudit) { cells.add(other.cells) }

    package mutating func add(_ plan: Plan) {
        let spells = Self.spells(of: plan)
        var first = 0
        var current: [Spell] = []
        for step in plan.steps {
            guard case .operation(let operation) = step.action else { continue }
            while first < spells.count, spells[first].start <= step.time {
                current.append(spells[first])
                first += 1
            }
            current.removeAll { $0.end < step.time }
            let state =
                current.filter { $0.nodes == nil || $0.nodes?.contains(operation.node) == true }.map(\.state)
                .max { Self.rank($0) < Self.rank($1) } ?? .well
            for area in Area.allCases where current.contains(where: { $0.area == area }) {
                cells.add(Self.name(operation.kind, area, state))
            }
        }
    }

    /// The cells that were never met, as words.
    package var empty: [String] {
        Operation.Kind.allCases.flatMap { operation in
            Area.allCases.flatMap { area in
                NodeState.allCases.map { Self.name(operation, area, $0) }.filter { cells[$0] == 0 }
            }
        }
    }

    package static let cellCount = Operation.Kind.allCases.count * Area.allCases.count * NodeState.allCases.count

    private static func name(_ operation: Operation.Kind, _ area: Area, _ state: NodeState) -> String {
        "\(operation.rawValue)/\(area.rawValue)/\(state.rawValue)"
    }

    private static func rank(_ state: NodeState) -> Int { NodeState.allCases.firstIndex(of: state) ?? 0 }

    /// From when to when a fault is about, and what it makes of which nodes.
    private struct Spell {
        let start: Int
        let end: Int
        let area: Area
        let state: NodeState
        /// Nil for all.
        let nodes: NodeList?
    }

    /// How long a fault of a moment is felt, in milliseconds: a link that broke is dialled again within this.
    private static let aftermath = 5_000

    private static func spells(of plan: Plan) -> [Spell] {
        var spells: [Spell] = []
        for step in plan.steps {
            guard case .fault(let fault) = step.action else { continue }
            let (state, nodes) = effect(of: fault)
            let lasts =
                switch fault.kind {
                case .pace: 0
                case .rate, .skew, .drift, .hostile, .version, .role, .leave, .revoke, .move: plan.end
                default: max(aftermath, fault.milliseconds)
                }
            if lasts == 0 { continue }
            let isShort = state == .down || state == .paused
            if isShort, fault.milliseconds < lasts {
                let end = step.time + fault.milliseconds
                spells.append(Spell(start: step.time, end: end, area: fault.kind.area, state: state, nodes: nodes))
            }
            spells.append(
                Spell(
                    start: step.time, end: step.time + lasts, area: fault.kind.area,
                    state: isShort && fault.milliseconds < lasts ? .well : state, nodes: nodes))
            if fault.kind == .join {
                spells.append(Spell(start: 0, end: step.time, area: .membership, state: .absent, nodes: nodes))
            }
        }
        return spells.sorted { $0.start < $1.start }
    }

    private static func effect(of fault: Fault) -> (NodeState, NodeList?) {
        let ends = NodeList([fault.node, fault.other].filter { $0 != Fault.all })
        return switch fault.kind {
        case .stop, .kill, .power, .crash, .restore, .wipe, .cutlog, .loselog: (.down, ends)
        case .pause, .suspend: (.paused, ends)
        case .move: (.held, ends)
        case .leave, .revoke: (.absent, ends)
        case .majorities, .star: (.cut, nil)
        case .halves, .bridge, .swizzle: (.cut, fault.nodes.isEmpty ? nil : fault.nodes)
        case .isolate, .oneway, .flap, .reset, .halfopen, .clog, .hang: (.cut, ends)
        default: fault.kind.area == .disk ? (.ailing, ends) : (.well, ends)
        }
    }
}
