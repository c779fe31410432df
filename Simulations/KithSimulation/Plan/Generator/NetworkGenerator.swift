import KithTestSupport

/// Draws what goes wrong between nodes that can find each other.
struct NetworkGenerator: AreaGenerator {
    let frame: PlanFrame
    var random: SeededGenerator

    /// The pace of every directed link: most are like a local network, some are slow or uneven, and some split what they
    /// carry into small parts.
    mutating func paces() -> [PlanItem] {
        var items: [PlanItem] = []
        for from in 0..<min(frame.nodes, 8) {
            for to in 0..<min(frame.nodes, 8) where from != to { items.append(pace(from, to, at: 0)) }
        }
        return items
    }

    private mutating func pace(_ from: Int, _ to: Int, at time: Int) -> PlanItem {
        let low = random.pick([100, 200, 500, 1_000, 5_000, 20_000])
        let spread = random.pick([0, 1, 3, 10])
        // Small parts are many events: they are for runs of seconds, and for some moments of a long one (`SceneGenerator`).
        let sizes =
            switch frame.length {
            case .short: [1_460, 1_460, 16_384, 300, 64, 64]
            case .medium: [1_460, 1_460, 16_384, 300, 64, 7]
            case .long: time == 0 ? [1_460, 1_460, 16_384] : [1_460, 1_460, 16_384, 300]
            }
        let size = random.pick(sizes)
        return frame.fault(time, .pace, from, other: to, low: low, high: low + low * spread, size: size)
    }

    mutating func items() -> [PlanItem] {
        if frame.nodes == 1 { return [] }
        let swarm = Swarm(Fault.Kind.allCases.filter { $0.area == .network }, &random)
        // The area that is always on.
        return faults(of: swarm, number: frame.faults(&random) + 1)
    }

    mutating func fault(_ kind: Fault.Kind, at time: Int) -> PlanItem {
        let (node, other) = random.pair(frame)
        let ms = kind.parameters.contains(.ms) ? random.duration(frame) : 0
        switch kind {
        case .pace: return pace(node, other, at: time)
        case .rate:
            return frame.fault(
                time, .rate, node, other: other, size: random.pick([0, 1_000, 16_000, 125_000, 1_250_000]))
        case .halves: return frame.fault(time, kind, nodes: random.side(frame), ms: ms)
        case .bridge: return frame.fault(time, kind, node, nodes: random.side(frame), ms: ms)
        case .swizzle:
            let nodes = random.chance(1, in: 2) ? NodeList() : random.side(frame)
            return frame.fault(time, kind, nodes: nodes, ms: ms)
        case .flap:
            return frame.fault(time, kind, node, other: other, ms: ms, size: random.pick([50, 300, 1_000, 5_000]))
        case .majorities: return frame.fault(time, kind, ms: ms)
        case .isolate, .star, .hang, .readdress: return frame.fault(time, kind, node, ms: ms)
        default: return frame.fault(time, kind, node, other: other, ms: ms)
        }
    }
}
