/// All that is decided before a run: who takes part, and what happens when. It is text (`Plan+Text.swift`), so a run can
/// be repeated, read and cut down by hand without the generator that drew it.
package struct Plan: Hashable, Sendable {
    /// Draws what the plan leaves open: delays within their bounds, where streams split, ties, the nodes' own randomness.
    package var seed: UInt64
    package var nodes: Int
    package var databases: Int
    /// The merge policy of all databases: its name, or its JSON without spaces.
    package var policy: String
    /// When operations and faults end and healing begins, in milliseconds.
    package var end: Int
    /// In order of time.
    package var items: [PlanItem]

    package init(seed: UInt64, nodes: Int, databases: Int, policy: String, end: Int, items: [PlanItem]) {
        self.seed = seed
        self.nodes = nodes
        self.databases = databases
        self.policy = policy
        self.end = end
        self.items = items
    }
}

/// One thing that happens at one time.
package struct PlanItem: Hashable, Sendable {
    /// Milliseconds of virtual time.
    package var time: Int
    package var action: Action

    package init(time: Int, action: Action) {
        self.time = time
        self.action = action
    }
}

package enum Action: Hashable, Sendable {
    case operation(Operation)
    case fault(Fault)
}

/// What a client asks of its node.
package struct Operation: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// Writes a whole body: `fields`.
        case put
        /// Changes the one field at `path` to `fields`, whatever else the document holds.
        case set
        /// Removes the field at `path`.
        case unset
        /// Writes the body that is there.
        case touch
        case delete
        /// Loads initial data: `fields`.
        case initial
        case purge
        /// Ends all live leaves but one.
        case resolve
        case read
    }

    package var kind: Kind
    package var node: Int
    package var database: Int
    package var document: String
    /// A JSON Pointer of one or two keys.
    package var path: String
    /// `PATH=VALUE` pairs with one space between them, or one value: JSON without spaces.
    package var fields: String

    package init(
        _ kind: Kind, node: Int, database: Int, document: String, path: String = "", fields: String = ""
    ) {
        self.kind = kind
        self.node = node
        self.database = database
        self.document = document
        self.path = path
        self.fields = fields
    }
}

/// What goes wrong.
package struct Fault: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// From now on bytes from `node` to `other` take `low` to `high` microseconds and go in parts of at most `size`.
        case pace
        /// Cuts `node` off from all others for `milliseconds`.
        case isolate
        /// Cuts the nodes of `mask` from the rest.
        case halves
        /// The same, but `node` reaches both sides.
        case bridge
        /// Nothing arrives at `other` from `node`.
        case oneway
        /// Cuts `node` and `other` apart and joins them again every `size` milliseconds.
        case flap
        /// Ends the connections of `node` and `other` as a router that forgot them does.
        case reset
        /// The stream from `node` to `other` ends somewhere in what is under way.
        case truncate
        /// `node` stops: links close, stores close; it is back after `milliseconds`.
        case stop
        /// The process of `node` dies, its kernel closes the connections.
        case kill
        /// `node` loses power: its peers hear nothing.
        case power
        /// `node` does nothing for `milliseconds`, and then all that it missed.
        case pause
        /// `node` and `other` dial each other at once.
        case dial
        /// The wall clock of `node` is `milliseconds` off from now on.
        case skew
    }

    package var kind: Kind
    package var node: Int
    package var other: Int
    package var mask: Int
    package var milliseconds: Int
    package var low: Int
    package var high: Int
    package var size: Int

    package init(
        _ kind: Kind, node: Int = 0, other: Int = 0, mask: Int = 0, milliseconds: Int = 0, low: Int = 0, high: Int = 0,
        size: Int = 0
    ) {
        self.kind = kind
        self.node = node
        self.other = other
        self.mask = mask
        self.milliseconds = milliseconds
        self.low = low
        self.high = high
        self.size = size
    }
}
