/// What goes wrong. What its parameters mean is said with each kind.
package struct Fault: Hashable, Sendable {
    /// Stands for a node where none is named: every node.
    package static let all = -1

    package var kind: Kind
    package var node: Int
    package var other: Int
    package var nodes: NodeList
    package var milliseconds: Int
    package var low: Int
    package var high: Int
    package var size: Int
    package var count: Int
    package var text: String

    package init(
        _ kind: Kind, node: Int = Fault.all, other: Int = Fault.all, nodes: NodeList = NodeList(),
        milliseconds: Int = 0, low: Int = 0, high: Int = 0, size: Int = 0, count: Int = 0, text: String = ""
    ) {
        self.kind = kind
        self.node = node
        self.other = other
        self.nodes = nodes
        self.milliseconds = milliseconds
        self.low = low
        self.high = high
        self.size = size
        self.count = count
        self.text = text
    }

    /// The directed links that a fault of links is about: all from `node` to `other`, each of them one node or every one.
    package func links(nodes: Int) -> [(from: Int, to: Int)] {
        let sources = node == Fault.all ? Array(0..<nodes) : [node]
        let targets = other == Fault.all ? Array(0..<nodes) : [other]
        return sources.flatMap { from in targets.filter { $0 != from }.map { (from, $0) } }
    }
}

/// What may be missing on a node after a fault without a fault of ours.
package enum Destruction: String, Sendable, CaseIterable {
    case nothing
    /// What the node had and had not given away.
    case unshared
    /// What is on its disk: all, or any part.
    case disk
    /// The same, if the power goes later.
    case diskAtPowerCut
    /// Nothing on its disk, but from now on nobody has to take anything from it.
    case membership
}

/// Where a fault strikes.
package enum Area: String, Sendable, CaseIterable {
    case network, discovery, node, disk, identity, membership, clock, peer
}

/// Whom a line with a fault names.
package enum Scope: Sendable {
    /// `node`, or `nodes` for each of them.
    case each
    /// `node` and `other`, in this order.
    case pair
    /// `node` and `other`, each of which may be left out: then every one.
    case links
    /// `nodes`, all of them where left out.
    case side
    /// `node`, and `nodes` for one side.
    case hub
    /// Nobody.
    case mesh
}

/// What a line of a plan can have beside whom it names.
package enum Parameter: String, Sendable, CaseIterable {
    case document = "doc"
    case path, fields, ms, low, high, size, count, text
}
