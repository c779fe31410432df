/// All that is decided before a run: who takes part, and what happens when. It is text (`Plan+Text.swift`), so a run can
/// be repeated, read and cut down by hand without the generator that drew it.
package struct Plan: Hashable, Sendable {
    /// Draws what the plan leaves open: delays within their bounds, where streams split, ties, the nodes' own randomness.
    package var seed: UInt64
    package var nodes: Int
    /// How many databases are spoken of.
    package var databases: Int
    /// The merge policy of all databases: its name, or its JSON without spaces.
    package var policy: String
    /// When operations and faults end and healing begins, in milliseconds.
    package var end: Int
    package var shape: Shape
    /// The nodes that are healed in the end, and must then be equal; empty for all that belong to the group by then.
    package var core: NodeList
    /// In order of time.
    package var items: [PlanItem]

    package init(
        seed: UInt64, nodes: Int, databases: Int = 1, policy: String = "latest", end: Int, shape: Shape = .full,
        core: NodeList = NodeList(), items: [PlanItem]
    ) {
        self.seed = seed
        self.nodes = nodes
        self.databases = databases
        self.policy = policy
        self.end = end
        self.shape = shape
        self.core = core
        self.items = items
    }

    /// The spare machines that a node is cloned to: they can be named as nodes are.
    package var clones: NodeList {
        NodeList(
            items.compactMap { item in
                if case .fault(let fault) = item.action, fault.kind == .clone { fault.other } else { nil }
            })
    }
}

/// Which nodes can have a link at all, from the beginning to the end.
package enum Shape: String, Hashable, Sendable, CaseIterable {
    case full
    /// Each with the one before it and the one after it.
    case ring
    /// All with node 0, and node 0 dials.
    case star
    /// Each with the one before it and the one after it; the first and the last have one neighbour.
    case chain
    /// All with node 0, and node 0 is dialled.
    case reverseStar = "reverse-star"

    /// Whether the two can have a link.
    package func joins(_ one: Int, _ other: Int, nodes: Int) -> Bool {
        let distance = abs(one - other)
        return switch self {
        case .full: one != other
        case .ring: distance == 1 || distance == nodes - 1 && distance > 0
        case .chain: distance == 1
        case .star, .reverseStar: distance > 0 && min(one, other) == 0
        }
    }

    /// Whether `from` gets through when it dials `to`.
    package func dials(from: Int, to: Int, nodes: Int) -> Bool {
        switch self {
        case .star: from == 0 && to != 0
        case .reverseStar: to == 0 && from != 0
        case .full, .ring, .chain: joins(from, to, nodes: nodes)
        }
    }
}

/// One thing that happens at one time, or again and again.
package struct PlanItem: Hashable, Sendable {
    /// Milliseconds of virtual time.
    package var time: Int
    package var action: Action
    /// Once more after so many milliseconds, and so on; 0 for once.
    package var every: Int
    /// The last time at which it can happen; 0 for the end of the plan.
    package var until: Int

    package init(time: Int, action: Action, every: Int = 0, until: Int = 0) {
        self.time = time
        self.action = action
        self.every = every
        self.until = until
    }
}

package enum Action: Hashable, Sendable {
    case operation(Operation)
    case fault(Fault)

    /// The word for it in a plan.
    package var verb: String {
        switch self {
        case .operation(let operation): operation.kind.rawValue
        case .fault(let fault): fault.kind.rawValue
        }
    }
}
