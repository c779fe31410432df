/// What the faults of a plan may legitimately destroy: which node's data, and from when. The checks exempt exactly that;
/// every other loss is a fault of ours.
package struct FaultBudget: Sendable {
    /// One fault that may take something from a node.
    package struct Loss: Hashable, Sendable {
        package let node: Int
        /// When it happens, in milliseconds.
        package let time: Int
        /// What was written after that, in milliseconds, is there to stay.
        package let until: Int
        /// Of the plan.
        package let item: Int
        /// Not `diskAtPowerCut`: that is a loss of `disk` at the time of the power cut.
        package let destroys: Destruction
    }

    /// In order of time.
    package let losses: [Loss]
    /// The nodes that are no honest members in the end: what is theirs alone need not reach anybody.
    package let outsiders: NodeList

    /// How long after a loss the mesh is given to mend it before another node may lose something, in milliseconds: a dead
    /// link is noticed and dialled anew within 20 s, and a database of a plan is pulled within 10.
    package static let mendingMilliseconds = 30_000

    package init(_ plan: Plan) {
        var losses: [Loss] = []
        var outsiders: [Int] = []
        var hasImage: Set<Int> = []
        /// Nodes whose power goes at some call of the disk to come.
        var crashing: Set<Int> = []
        /// Nodes whose disk pretends, and until when.
        var pretending: [Int: Int] = [:]
        for step in plan.steps {
            func lose(_ node: Int, _ destroys: Destruction, until: Int) {
                losses.append(Loss(node: node, time: step.time, until: until, item: step.item, destroys: destroys))
            }
            switch step.action {
            case .operation(let operation):
                if operation.kind.destroys != .nothing { lose(operation.node, .unshared, until: step.time) }
            case .fault(let fault):
                switch fault.kind.destroys {
                case .nothing: break
                case .diskAtPowerCut:
                    pretending[fault.node] = max(pretending[fault.node] ?? 0, step.time + fault.milliseconds)
                    if crashing.contains(fault.node) { lose(fault.node, .disk, until: plan.end) }
                case .unshared:
                    if fault.kind != .restore || hasImage.contains(fault.node) {
                        lose(fault.node, .unshared, until: step.time)
                    }
                // Damage lies unseen until something reads it, and what was written beside it goes with it.
                case .disk, .membership: lose(fault.node, fault.kind.destroys, until: plan.end)
                }
                switch fault.kind {
                case .backup: hasImage.insert(fault.node)
                case .leave, .revoke, .hostile: outsiders.append(fault.node)
                case .stop, .kill: crashing.remove(fault.node)
                case .power:
                    crashing.remove(fault.node)
                    guard let until = pretending[fault.node] else { break }
                    lose(fault.node, .disk, until: step.time)
                    // What is on the disk after the cut is there to stay, if it pretends no more.
                    if step.time > until { pretending[fault.node] = nil }
                case .crash:
                    crashing.insert(fault.node)
                    if pretending[fault.node] != nil { lose(fault.node, .disk, until: plan.end) }
                default: break
                }
            }
        }
        self.outsiders = NodeList(outsiders)
        self.losses = losses
    }

    /// Whether the node may lack something, at a time in milliseconds.
    package func mayLose(_ node: Int, at time: Int) -> Bool {
        losses.contains { $0.node == node && $0.time <= time }
    }

    /// Whether the node may lack, at one time, what it had or was written there at another; in milliseconds.
    package func mayLose(_ node: Int, writtenAt written: Int, at time: Int) -> Bool {
        losses.contains { $0.node == node && $0.time <= time && written <= $0.until }
    }

    /// The nodes that may lose something at some time.
    package var nodes: NodeList { NodeList(losses.map(\.node)) }

    /// What goes beyond what a mesh must survive, in words; nil where all is within: a majority never loses anything, and
    /// another node loses something only when there was time to mend.
    package func excess(nodes count: Int) -> String? {
        if nodes.members.count > (count - 1) / 2 {
            return "\(nodes.members.count) of \(count) nodes may lose data: \(nodes)"
        }
        for (one, other) in zip(losses, losses.dropFirst()) where one.node != other.node {
            if other.time - one.time < Self.mendingMilliseconds {
                return "node \(one.node) at \(one.time) and node \(other.node) at \(other.time) may lose data at once"
            }
        }
        return nil
    }
}
