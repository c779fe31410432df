import KithTestSupport

/// When a node may lose something, and in which area: one node at a time, a minority in all.
struct VictimSlot {
    enum Kind: CaseIterable {
        case disk, identity, drop
    }

    let node: Int
    let kind: Kind
    /// Within `length` milliseconds of `start` all of it must happen.
    let start: Int
    let length: Int
}

/// Draws who pays, before any area draws how.
struct VictimGenerator {
    private var random: SeededGenerator
    private var fragile: [Int] = []

    init(random: SeededGenerator) { self.random = random }

    mutating func toll(_ frame: PlanFrame) -> (slots: [VictimSlot], outsider: PlanFrame.Outsider?) {
        // Node 0 made the group and is the one who can let others in.
        let others = frame.nodes > 1 ? random.shuffle(Array(1..<frame.nodes)) : []
        fragile = Array(others.prefix((frame.nodes - 1) / 2))
        let outsider = outsider(frame)
        let victims = fragile.filter { $0 != outsider?.node }
        guard !victims.isEmpty, !random.chance(1, in: 4) else { return ([], outsider) }
        var slots: [VictimSlot] = []
        switch frame.length {
        case .short, .medium:
            // Too short for two of them with time to mend between.
            guard outsider == nil, random.chance(1, in: 3) else { break }
            let start = frame.end / 5
            slots.append(
                VictimSlot(
                    node: random.pick(victims), kind: random.pick(VictimSlot.Kind.allCases), start: start,
                    length: frame.end / 2))
        case .long:
            var start = random.within(5_000...60_000)
            while start < frame.end - 60_000 {
                let length = random.within(10_000...60_000)
                // The one who leaves must be alone in that too.
                let isFree = outsider.map { abs($0.time - start) > 100_000 + length } ?? true
                if isFree {
                    slots.append(
                        VictimSlot(
                            node: random.pick(victims),
                            kind: random.pick([.disk, .disk, .disk, .identity, .identity, .drop]),
                            start: start, length: length))
                }
                start += length + FaultBudget.mendingMilliseconds + random.within(1_000...60_000)
            }
        }
        return (slots, outsider)
    }

    private mutating func outsider(_ frame: PlanFrame) -> PlanFrame.Outsider? {
        guard let node = fragile.last, random.chance(2, in: 5) else { return nil }
        let kind = random.pick([Fault.Kind.leave, .revoke, .hostile])
        // A hostile one begins early and has its time.
        let time = kind == .hostile ? random.below(frame.end / 2 + 1) : frame.end / 3 + random.below(frame.end / 2 + 1)
        return PlanFrame.Outsider(node: node, kind: kind, time: time)
    }

    /// Who is healed in the end: mostly all members, sometimes some of them.
    mutating func core(_ frame: PlanFrame) -> NodeList {
        let members = (0..<frame.nodes).filter { $0 != frame.outsider?.node }
        // Nodes that are cut off for good divide a mesh that is not full.
        if frame.shape == .full, members.count > 2, random.chance(1, in: 4) {
            return NodeList(Array(random.shuffle(members).prefix(random.within(2...members.count - 1))))
        }
        return members.count == frame.nodes ? NodeList() : NodeList(members)
    }
}
